#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analysis/charts/chart.hpp"
#include "analysis/compare/comparison.hpp"
#include "analysis/report/report.hpp"

namespace collbench::analysis {

/// A line for each row; before them what else differs, behind them how rows were decided or would be.
[[nodiscard]] std::string report_text(const Comparison& comparison, const TextOptions& options = {});

/// The same as GitHub-flavored Markdown, short enough for a pull request: rows that are SAME are counted.
[[nodiscard]] std::string report_markdown(const Comparison& comparison);

/// Everything, in seconds.
[[nodiscard]] std::string report_json(const Comparison& comparison);

/// Both sides in charts, and everything in tables, as one file of HTML that needs no network.
[[nodiscard]] std::string report_html(const Comparison& comparison);

/// What every format is made of: the title; the columns and the cells of a row in them; then the summary,
/// what went another way in single rows, what would decide the rest, and how rows were decided.
[[nodiscard]] std::string comparison_title(const Comparison& comparison);
[[nodiscard]] std::vector<std::string> comparison_headings(const Comparison& comparison);
[[nodiscard]] std::vector<std::string> comparison_cells(const ComparedRow& row, bool are_pairs);
[[nodiscard]] std::vector<std::string> comparison_notes(const Comparison& comparison);

/// A line for each row, with the members that it has in the JSON, and the names of both sides.
[[nodiscard]] std::string report_csv(const Comparison& comparison);

/// The names of the formats, the usual one first: text, md, json, html, csv.
[[nodiscard]] std::vector<std::string> comparison_formats();

/// The comparison in the format of that name. Throws Error (usage) for another one.
[[nodiscard]] std::string report(const Comparison& comparison, std::string_view format,
                                 const TextOptions& options = {});

/// In place of a comparison, in those formats: that the run in `file` was compared with nothing, and why.
[[nodiscard]] std::string report_no_comparison(const std::string& file, const std::string& reason,
                                               std::string_view format, const TextOptions& options = {});

/// "1 SLOWER, 8 SAME": what stands on stderr where the report goes to a file.
[[nodiscard]] std::string comparison_summary(const Comparison& comparison);

/// Both sides in one chart, for each operation and kind of row (type, reduction, place, algorithm) that both
/// have: bus bandwidth over size, and new time over base time with its 95 % interval. No bus bandwidth where
/// one rank moves nothing.
[[nodiscard]] std::vector<Chart> comparison_charts(const Comparison& comparison);

}  // namespace collbench::analysis
