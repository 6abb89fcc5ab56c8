#include "analysis/report/report.hpp"

#include <gmock/gmock.h>

#include "base/document/text_layout.hpp"
#include "tests/analysis/example_run.hpp"
#include "tests/base/lines.hpp"

namespace collbench::analysis::text_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

/// Everything at its longest: sizes of 4 GiB, times from 1e-7 s to 1 s, 2,048 ranks, long names.
Run extreme_run() {
  Run run = example_run();
  run.ranks.clear();
  for (int rank = 0; rank < 2048; ++rank) {
    run.ranks.push_back(
        {rank, "a-host-with-a-very-long-name-" + std::to_string(rank / 8), rank / 8, rank % 8});
  }
  run.rows.clear();
  for (const double microseconds : {0.1, 1e6, 1e9}) {
    for (const Operation& operation : operations()) {
      Row row = example_row(operation.id, 4ULL << 30U, microseconds);
      row.measurement.key.count = 4ULL << 30U;
      row.measurement.key.type = DataType::bfloat16;
      if (operation.reduces) row.measurement.key.reduction = Reduction::prod;
      row.measurement.note = "reduced by collbench";
      row.measurement.key.algorithm = "segmented_ring";
      row.measurement.algorithm_ran = "an_algorithm_with_a_very_long_name_indeed";
      row.measurement.wrong_elements = (4ULL << 30U) * 2048;
      row.measurement.wrong = {
          {2047, "a-host-with-a-very-long-name-255", 1, 2, std::string(60, '9'), "-0.5"}};
      row.expectation = {microseconds * 1e-9, microseconds * 1e-3, microseconds * 2e-6, "ring"};
      run.rows.push_back(row);
    }
  }
  run.environment = {{"NCCL_TOPO_FILE", std::string(300, 'x')}};
  run.environment_notes = {std::string(300, 'y')};
  return run;
}

/// The part of the results that begins with `start`; parts are parted by empty lines.
std::string part_of(const Run& run, const std::string& start, const TextOptions& options = {}) {
  const std::string text = report_text_results(run, options) + "\n";
  const std::size_t begin = text.find("\n# " + start);
  if (begin == std::string::npos) return "";
  return text.substr(begin + 1, text.find("\n\n", begin) - begin);
}

TEST(ReportText, TheTableIsTheOnePeopleKnow) {
  const auto run = example_run();
  EXPECT_THAT(
      lines_of(part_of(run, "AllReduce")),
      ElementsAre(
          "# AllReduce: size is one rank's buffer; busbw = algbw × 1.5",
          "#                                       measured                            expected busbw",
          "#   size    count  type redop place     time ±95%   algbw   busbw #wrong    ring    tree     exp "
          "meas algorithm",
          "#    (B)  (elem.)                       (µs)  (%)  (GB/s)  (GB/s)         (GB/s)  (GB/s)  (GB/s) "
          "/exp",
          "       8        2 float   sum   out    20.00  4.0 0.00040 0.00060      0 0.00040 0.00030 0.00048 "
          "1.25 auto",
          "67108864 16777216 float   sum    in 100000.0  4.0   0.671    1.01      0    1.44    1.12    1.44 "
          "0.70 auto",
          "       8        2 float   sum   out    21.00  4.0 0.00038 0.00057      0 0.00040 0.00030 0.00048 "
          "1.19 recursive_doublin…",
          "# AllReduce --algo neighbor: not available: this library has it for AllGather only"));
}

TEST(ReportText, TheNarrowTableLeavesColumnsOutAndSaysSoOnce) {
  const auto run = example_run();
  const std::string text = report_text(run, {.columns = 117});
  const std::string hidden = "# terminal narrower than 118 columns, hidden: count, algbw, ring, tree\n";
  EXPECT_THAT(text, HasSubstr(hidden));
  EXPECT_EQ(text.find(hidden), text.rfind(hidden));
  EXPECT_THAT(report_text(run, {.columns = 118}), Not(HasSubstr("hidden")));
  EXPECT_THAT(lines_of(part_of(run, "SendRecv", {.columns = 80})),
              ElementsAre("# SendRecv: size is what one rank sends; busbw = algbw × 1",
                          "#                              measured                    expected busbw",
                          "#   size  type redop place     time ±95%   busbw #wrong     exp meas algorithm",
                          "#    (B)                       (µs)  (%)  (GB/s)         (GB/s) /exp",
                          "    4096 float     –     –    15.50  4.0   0.264      0   0.273 0.97 auto"));
}

TEST(ReportText, IsItsTwoParts) {
  const auto run = example_run();
  EXPECT_EQ(report_text(run), report_text_header(run) + report_text_results(run));
}

TEST(ReportText, HeaderAndFooterAreCommentLines) {
  const auto run = example_run();
  for (const std::string& line : lines_of(report_text_header(run))) EXPECT_THAT(line, MatchesRegex("# .*"));
  EXPECT_THAT(
      lines_of(part_of(run, "data:")),
      ElementsAre("# data: every element checked in 4 of 4 rows, none wrong",
                  "# requested ring, but the library ran recursive_doubling in 1 row",
                  "# AllReduce float sum: no other algorithm measured was significantly faster than auto",
                  "# precision not reached in 1 of 4 rows (out of time: 1); the widest interval is ±4.0 % "
                  "(AllReduce 8 B float sum, out of",
                  "#   place, ring); use a longer --time or fewer rows",
                  "# wall time 1 min 20 s, 8 passes, calibration 350 ms, checking data 3.2 s (4.0 %)",
                  "# no verdict on host memory; meas/exp is informational"));
}

TEST(ReportText, AnOperationThatIsNotAvailableIsALine) {
  auto run = example_run();
  run.rows = {run.rows[3]};
  EXPECT_THAT(
      lines_of(part_of(run, "AllReduce")),
      ElementsAre("# AllReduce --algo neighbor: not available: this library has it for AllGather only"));
}

TEST(ReportText, NoLineIsLongerThanThePage) {
  const auto run = extreme_run();
  for (const int columns : {80, 100, 117, 118, 120, 200}) {
    for (const std::string& line : lines_of(report_text(run, {.columns = columns}))) {
      EXPECT_LE(display_width(line), columns) << line;
    }
  }
  for (const std::string& line : lines_of(report_text(run, {.columns = 20})))
    EXPECT_LE(display_width(line), 80);
}

TEST(ReportText, ARunOfNcclFitsTheSamePages) {
  collbench::Run run = extreme_run();
  run.backend = BackendId::nccl;
  for (Row& row : run.rows) {
    row.measurement.key.algorithm = kLibraryChoice;
    row.measurement.key.type = DataType::float32;
    row.measurement.nccl = NcclSelection{"ring", "ll128", 24, {{"ring", "ll128", row.measurement.seconds}}};
  }
  for (const int columns : {80, 118, 120, 140, 200}) {
    for (const std::string& line : lines_of(report_text(run, {.columns = columns}))) {
      EXPECT_LE(display_width(line), columns) << line;
    }
  }
  const std::string usual = report_text(run, {.columns = 120});
  EXPECT_THAT(usual, HasSubstr("# terminal narrower than 140 columns, hidden: count, tree\n"));
  EXPECT_THAT(usual, HasSubstr(" auto: ring/ll128/24\n"));
  EXPECT_THAT(report_text(run, {.columns = 80}),
              HasSubstr("terminal narrower than 118 columns, hidden: algbw, ring, NCCL\n"));
  EXPECT_THAT(report_text(run, {.columns = 140}), Not(HasSubstr("hidden")));
}

TEST(ReportText, AWidePageShowsLongNames) {
  EXPECT_THAT(report_text(example_run(), {.columns = 140}), HasSubstr("recursive_doubling (for ring)\n"));
}

TEST(ReportText, ColumnsOfAllRowsLineUp) {
  const auto run = extreme_run();
  std::size_t column = 0;
  for (const std::string& line : lines_of(report_text(run))) {
    const std::size_t type = line.find("bfloat16 ");
    if (line.empty() || line.front() == '#' || type == std::string::npos) continue;
    if (column == 0) column = type;
    EXPECT_EQ(type, column) << line;
  }
  EXPECT_GT(column, 0U);
}

TEST(ReportText, ColorIsForTerminalsOnly) {
  auto run = example_run();
  run.rows[1].measurement.wrong_elements = 12;
  EXPECT_THAT(report_text(run), Not(HasSubstr("\x1b")));
  const std::string text = report_text(run, {.columns = 120, .color = true});
  EXPECT_THAT(text, HasSubstr("\x1b[31m    12\x1b[0m"));  // #wrong
  EXPECT_THAT(text, HasSubstr("\x1b[33m0.70\x1b[0m"));    // slow
  EXPECT_THAT(text, HasSubstr("\x1b[2m# environment: OMPI_MCA_btl=self,tcp\x1b[0m\n"));
  EXPECT_THAT(text, HasSubstr("\x1b[31m# WRONG DATA: "));
}

TEST(ReportText, PaintChangesNoCharacterOfTheText) {
  const auto run = example_run();
  std::string text = report_text(run, {.columns = 120, .color = true});
  for (const std::string code : {"\x1b[0m", "\x1b[2m", "\x1b[31m", "\x1b[33m"}) {
    for (auto at = text.find(code); at != std::string::npos; at = text.find(code))
      text.erase(at, code.size());
  }
  EXPECT_EQ(text, report_text(run));
}

TEST(ReportText, NothingInARecordDrivesTheTerminal) {
  auto run = example_run();
  run.ranks[0].host = "\x1b[2J";
  run.rows[0].measurement.algorithm_ran = "\x1b[2J\n";
  run.environment = {{"UCX_TLS", "\x1b[2J"}};
  EXPECT_THAT(report_text(run), Not(HasSubstr("\x1b")));
}

TEST(ReportText, PercentilesAreASecondTableOfTheSameRows) {
  EXPECT_THAT(report_text(example_run()), Not(HasSubstr("p99")));
  for (const int columns : {80, 120}) {
    const std::string text = report_text(example_run(), {.columns = columns, .percentiles = true});
    for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), columns) << line;
    EXPECT_THAT(text, HasSubstr("     min      p50      p95      p99 calls"));
    EXPECT_THAT(text, HasSubstr("    20.00    18.00    20.00    22.00    24.00"));
  }
}

TEST(ReportText, WithoutSamplesThereIsASentenceAndNoTableOfDashes) {
  auto run = example_run();
  for (Row& row : run.rows) row.measurement.samples = 0;
  const std::string text = report_text(run, {.percentiles = true});
  EXPECT_THAT(text, HasSubstr("# AllReduce: no percentiles: no row has samples"));
  EXPECT_THAT(text, Not(HasSubstr("p99")));
}

TEST(ReportText, AnEmptyRunIsAHeaderAndAFooter) {
  EXPECT_THAT(report_text(collbench::Run{}), HasSubstr("# collbench"));
}

}  // namespace
}  // namespace collbench::analysis::text_test
