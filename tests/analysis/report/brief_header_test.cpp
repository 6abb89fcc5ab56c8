#include <gmock/gmock.h>

#include "analysis/report/report.hpp"
#include "analysis/report/sections.hpp"
#include "base/document/text_layout.hpp"
#include "tests/analysis/example_run.hpp"
#include "tests/base/lines.hpp"

namespace collbench::analysis::brief_header_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::string_view kRest =
    "meas/exp below 1 is slower than expected; more: -v, collbench help columns";

TEST(BriefHeader, IsAtMostSixLinesWhateverThereIsToSay) {
  collbench::Run run = example_run();
  for (const char* word : {"one", "two", "three", "four", "five", "six", "seven"})
    run.environment_notes.push_back(std::string(100, 'w') + " " + word);
  for (const int columns : {80, 120, 200}) {
    const std::vector<std::string> lines =
        lines_of(report_text_header(run, {.columns = columns, .brief = true}));
    EXPECT_LE(lines.size(), static_cast<std::size_t>(kBriefHeaderLines)) << columns;
    EXPECT_THAT(lines.front(), StartsWith("# collbench"));
    for (const std::string& line : lines) EXPECT_LE(display_width(line), columns);
  }
}

TEST(BriefHeader, WarningsHaveRoomBeforeSettingsAndTheOthersStandBelow) {
  collbench::Run run = example_run();
  run.environment_notes = {"the first", std::string(400, 'w'), "the last"};
  const BriefHeader header = brief_header(run, "", 120);
  std::string above;
  for (const ReportLine& line : header.lines) above += line.text + "\n";
  EXPECT_THAT(above, HasSubstr("warning: the first\nwarning: the last\n1 note below the tables; "));
  EXPECT_THAT(above, Not(HasSubstr("environment:")));
  ASSERT_THAT(header.below, SizeIs(1));
  EXPECT_THAT(header.below.front().text, StartsWith("warning: www"));
  EXPECT_THAT(report_text_results(run, {.brief = true}), HasSubstr("\n# warning:"));
  EXPECT_THAT(report_text_results(run), Not(HasSubstr("www")));
}

TEST(BriefHeader, SaysWhyAColumnIsEmpty) {
  collbench::Run run = example_run();
  run.backend = BackendId::nccl;
  run.nccl_observer_status.use = "NCCL 2.18 has no profiler";
  std::string above;
  for (const ReportLine& line : brief_header(run, "", 120).lines) above += line.text + "\n";
  EXPECT_THAT(above, HasSubstr("algorithm: not reported: NCCL 2.18 has no profiler\n"));
  EXPECT_THAT(above, Not(HasSubstr("NCCL: ")));
}

TEST(BriefHeader, WithoutWarningsSettingsFillTheRoom) {
  collbench::Run run = example_run();
  run.environment_notes.clear();
  const BriefHeader header = brief_header(run, "hidden: count", 200);
  EXPECT_THAT(header.below, SizeIs(0));
  EXPECT_EQ(header.lines.back().text, kRest);
  EXPECT_THAT(header.lines, SizeIs(kBriefHeaderLines));
}

TEST(BriefHeader, AQuietRunHasWarningsAndTablesOnly) {
  collbench::Run run = example_run();
  run.environment_notes = {"the first"};
  EXPECT_EQ(report_text_header(run, {.quiet = true}), "# warning: the first\n");
  run.rows[1].measurement.wrong_elements = 12;
  const std::string text = report_text_results(run, {.quiet = true});
  EXPECT_THAT(text, HasSubstr("# WRONG DATA: "));
  EXPECT_THAT(text, Not(HasSubstr("wall time")));
  EXPECT_THAT(loud({{"a", Tone::quiet}, {"b", Tone::plain}}), SizeIs(0));
}

}  // namespace
}  // namespace collbench::analysis::brief_header_test
