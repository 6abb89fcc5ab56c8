#include "analysis/report/report.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/diff_report.hpp"
#include "analysis/report/prediction.hpp"
#include "base/document/text_layout.hpp"
#include "base/error.hpp"
#include "base/record/run.hpp"
#include "tests/analysis/example_run.hpp"
#include "tests/analysis/hostile_texts.hpp"
#include "tests/base/lines.hpp"
#include "tests/base/record/random_run.hpp"
#include "tests/topology/diff/mutations.hpp"

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
    EXPECT_EQ(
        describe(error),
        "collbench: --format: 'pdf' is not a format of a report; choose text, md, csv, json, html, prom, "
        "junit, nccl-tests, nccl-tests-json or ticket");
  }
}

TEST(Report, AFormatThatCannotHoldADocumentNamesThoseThatCan) {
  try {
    static_cast<void>(report(DiffReport{}, "csv"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(describe(error),
              "collbench: --format: 'csv' is not a format of a topology diff; choose text, md, json, html, "
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
  EXPECT_EQ(format_list(format_names(&ReportFormat::diff)), "text, md, json, html, hostfile or slurm");
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

TEST(Report, NoFreeTextOfARunReachesAnyFormatRaw) {
  RandomRun random(3);
  for (auto run : {example_run(), random.run(), random.run()}) {
    if (run.cluster && run.cluster->shapes.find("collbench_topology") == std::string::npos)
      run.cluster.reset();  // a random one is no machine that a page could draw
    const auto json = nlohmann::json::parse(to_json_text(run));
    const auto locations = free_texts(json, is_readable_run);
    EXPECT_GT(locations.size(), 10U);
    for (const std::string& hostile : kHostileTexts) {
      nlohmann::json changed = json;
      for (const auto& each : locations) changed[each] = hostile;
      // Not by the reader of JSON, which refuses what is no UTF-8: names of a run are of any bytes.
      const auto read = run_from_json_text(
          changed.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), "run.json");
      for (const std::string& format : format_names(&ReportFormat::run))
        expect_harmless(report(read, format), format, hostile);
      expect_harmless(report_text_header(read) + report_text_results(read), "text", hostile);
    }
  }
}

TEST(Report, NoNameOfAMachineReachesAnyFormatRaw) {
  for (const std::string& hostile : kHostileTexts) {
    topology::Host host = topology::healthy_machine(*topology::find_reference_machine("hgx-h100"));
    host.nics[2].ports[0].gigabits_per_second.value = 200;
    for (topology::Gpu& gpu : host.gpus) gpu.model.value = hostile;
    for (topology::Nic& nic : host.nics) nic.name.value = hostile;
    const DiffReport diff{
        {compare_hosts({topology::healthy_machine(*topology::find_reference_machine("hgx-h100")), {hostile}},
                       {host, {hostile}}, false)}};
    for (const std::string& format : format_names(&ReportFormat::diff))
      expect_harmless(report(diff, format), format, hostile);
    GpuCluster cluster;
    cluster.gpu = hostile;
    const Prediction prediction{hostile, cluster, {}};
    for (const std::string& format : format_names(&ReportFormat::prediction))
      expect_harmless(report(prediction, format), format, hostile);
  }
}

}  // namespace
}  // namespace collbench::analysis::report_test
