#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/comparison.hpp"
#include "analysis/report/report.hpp"
#include "base/document/chart.hpp"

namespace collbench::analysis {

/// Two measurements row by row: a line for each, what else differs before them, how it was decided and what
/// would decide the rest behind them.
[[nodiscard]] std::string report_text(const Comparison& comparison, const TextOptions& options = {});

/// Everything, in seconds.
[[nodiscard]] std::string report_json(const Comparison& comparison);

/// The names of the formats, the usual one first: text, md, json, html, csv.
[[nodiscard]] std::vector<std::string> comparison_formats();

/// The comparison in the format of that name; nothing in it drives a terminal. Throws Error (usage) for
/// another one.
[[nodiscard]] std::string report(const Comparison& comparison, std::string_view format,
                                 const TextOptions& options = {});

/// In place of a comparison, in each of those formats: that the run in `file` was compared with nothing, and
/// why.
[[nodiscard]] std::string report_no_comparison(const std::string& file, const std::string& reason,
                                               std::string_view format, const TextOptions& options = {});

/// "1 SLOWER, 8 SAME": what stands on stderr where the report goes to a file.
[[nodiscard]] std::string comparison_summary(const Comparison& comparison);

/// Both sides in one chart, for each operation and kind of row (type, reduction, place, algorithm) that both
/// have: bus bandwidth over size, and new time over base time with its 95 % interval. No bus bandwidth where
/// one rank moves nothing.
[[nodiscard]] std::vector<Chart> comparison_charts(const Comparison& comparison);

}  // namespace collbench::analysis
