#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// What stands where there is no value.
inline constexpr std::string_view kNoValue = "–";

/// What the columns ring and tree of a run on GPUs are: they share one latency (docs/model.md, "Floor and
/// ramp").
inline constexpr std::string_view kRingAndTreeColumns =
    "ring and tree of AllReduce: each at its own rate, with the latency of the quicker one";

/// A row and what follows from it: what a cell is made of.
struct ReportRow {
  const Row& row;
  Rates rates;
};

/// A column of the table of an operation, for text and Markdown.
struct ReportColumn {
  std::string_view title;    ///< of the text table, above `unit`
  std::string_view unit;     ///< "(B)", "(µs)", or the second half of the title
  std::string_view heading;  ///< both in one, of the Markdown table
  std::string_view group;    ///< printed over neighbors that share it
  int min_width;             ///< of the text table; numbers are written to fit it
  int min_page;              ///< columns of the page from which the text table shows it
  std::string (*cell)(const ReportRow& row);
  Tone (*tone)(const ReportRow& row) = nullptr;    ///< plain without
  bool (*wanted)(const ReportRow& row) = nullptr;  ///< shown where some row wants it; always without
};

/// The columns people know, in nccl-tests' order and units (NVIDIA/nccl-tests src/util.cu, 2.19.6), and the
/// expected ones after them; where NCCL ran, also what it expected itself. The algorithm is the last.
[[nodiscard]] std::span<const ReportColumn> report_columns(const Run& run);

[[nodiscard]] std::vector<ReportRow> rows_of(const Run& run, OperationId id);

/// Those of them that a table of `rows` shows.
[[nodiscard]] std::vector<const ReportColumn*> columns_for(const Run& run,
                                                           const std::vector<ReportRow>& rows);

/// Those columns of `rows`, for pages.
[[nodiscard]] ReportTable table_of_rows(const std::vector<ReportRow>& rows,
                                        const std::vector<const ReportColumn*>& columns);

/// The columns of the second table of --percentiles: a row's calls as they were sampled. `time` stands beside
/// them, which is another figure: elapsed time over iterations. Empty where no row was sampled.
[[nodiscard]] std::vector<const ReportColumn*> percentile_columns(const std::vector<ReportRow>& rows);

/// What stands above that table.
inline constexpr std::string_view kPercentilesTitle =
    "distribution over samples, each the mean of so many calls, reduced over ranks; time: elapsed time over "
    "iterations, median of passes";

/// What stands there where no row was sampled.
inline constexpr std::string_view kNoPercentiles =
    "no percentiles: no row has samples; the log of another program has one time for each row";

/// `value` in at most `width` characters where that can be: two decimals, or as many as three significant
/// digits take, while they fit; else fewer; else an exponent. As getFloatStr of nccl-tests, which cuts
/// small values to "0.00".
[[nodiscard]] std::string table_number(double value, int width);

/// A rate's cell, in GB/s; kNoValue where there is none.
[[nodiscard]] std::string table_rate(const std::optional<double>& bytes_per_second);

}  // namespace collbench::analysis
