#include "analysis/report/report.hpp"

#include <gmock/gmock.h>

#include "analysis/report/diff_report.hpp"
#include "analysis/report/prediction.hpp"
#include "analysis/report/text_layout.hpp"
#include "base/error.hpp"
#include "base/record/run.hpp"
#include "tests/analysis/example_run.hpp"
#include "tests/analysis/lines.hpp"
#include "tests/base/record/random_run.hpp"

namespace collbench::analysis::report_test {
namespace {

TEST(Report, KnowsItsFormatsByName) {
  const auto run = example_run();
  EXPECT_EQ(report(run, "text"), report_text(run));
  EXPECT_EQ(report(run, "md"), report_markdown(run));
  EXPECT_EQ(report(run, "csv"), report_csv(run));
  EXPECT_EQ(report(run, "json"), to_json_text(run));
}

TEST(Report, AnotherFormatIsAUsageError) {
  try {
    static_cast<void>(report(example_run(), "pdf"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    EXPECT_EQ(describe(error),
              "collbench: --format: 'pdf' is not a format of a report; choose text, md, csv or json");
  }
}

TEST(Report, AFormatThatCannotHoldADocumentNamesThoseThatCan) {
  try {
    static_cast<void>(report(DiffReport{}, "csv"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(describe(error),
              "collbench: --format: 'csv' is not a format of a topology diff; choose text, md, json, "
              "hostfile or slurm");
  }
  EXPECT_THROW(static_cast<void>(report(Prediction{}, "pdf")), Error);
}

TEST(Report, TextIsTheDefaultOfEveryDocument) {
  EXPECT_EQ(format_names(&ReportFormat::run).front(), "text");
  EXPECT_EQ(format_names(&ReportFormat::prediction).front(), "text");
  EXPECT_EQ(format_names(&ReportFormat::diff).front(), "text");
}

TEST(Report, AListOfFormatsReadsAsASentence) {
  EXPECT_EQ(format_list({}), "");
  EXPECT_EQ(format_list({"text"}), "text");
  EXPECT_EQ(format_list({"text", "md"}), "text or md");
  EXPECT_EQ(format_list(format_names(&ReportFormat::diff)), "text, md, json, hostfile or slurm");
}

TEST(Report, WritesAnyRunThatCanBeRead) {
  RandomRun random(5);
  for (int i = 0; i < 100; ++i) {
    auto run = random.run();
    if (i % 10 == 0) run.ranks.clear();
    for (const char* format : {"text", "md", "csv"}) {
      EXPECT_THAT(report(run, format), testing::Not(testing::ContainsRegex("[ ,|-](nan|inf)[ ,|]")))
          << format;
    }
    for (const std::string& line : lines_of(report(run, "text"))) EXPECT_LE(display_width(line), 140) << line;
  }
}

TEST(Report, IsTheSameFromASavedRecord) {
  const auto saved = run_from_json_text(to_json_text(example_run()), "run.json");
  for (const char* format : {"text", "md", "csv", "json"}) {
    EXPECT_EQ(report(saved, format), report(example_run(), format)) << format;
  }
}

}  // namespace
}  // namespace collbench::analysis::report_test
