#include "analysis/compare/comparison_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "analysis/report/columns.hpp"
#include "analysis/report/sections.hpp"
#include "base/document/document.hpp"
#include "base/error.hpp"
#include "base/record/json_fields.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr int kComparedTimeWidth = 9;
constexpr std::size_t kMaxSentences = 8;  // the table has all rows

std::string compared_time_cell(const ComparedTimes& times) {
  if (times.launches == 0) return std::string(kNoValue);
  return table_number(times.seconds / kMicrosecond, kComparedTimeWidth);
}

std::string compared_ratio_cell(double ratio) {
  return ratio > 0 ? fmt::format("{:.3f}", ratio) : std::string(kNoValue);
}

std::string ratio_interval_cell(const ComparedRow& row) {
  if (row.ratio_low <= 0) return std::string(kNoValue);
  return row.is_too_wide() ? "too wide" : fmt::format("{:.3f} to {:.3f}", row.ratio_low, row.ratio_high);
}

std::string p_cell(const ComparedRow& row) {
  if (!row.p) return std::string(kNoValue);
  return *row.p < 1e-4 ? "<0.0001" : fmt::format("{:.2g}", *row.p);
}

std::string launches_cell(const ComparedRow& row, bool are_pairs) {
  if (are_pairs) return fmt::to_string(row.base.launches);
  return fmt::format("{}/{}", row.base.launches, row.current.launches);
}

std::string percent_words(double fraction) { return fmt::format("{:.3g} %", fraction * 100); }

std::string same_words(const Comparison& comparison) {
  const std::string within = percent_words(comparison.options.same_within);
  if (!can_be_same(comparison.sitting_allowance, comparison.options.same_within)) {
    return fmt::format(
        "no row can be SAME, for two sittings may differ by more than the {} that SAME rules out: launches "
        "of both in turn can show it (collbench repeat -- A --versus B); --drift 0 compares the launches as "
        "if of one sitting",
        within);
  }
  return fmt::format("SAME: the 95 % interval of new/base is within ±{}{}", within,
                     comparison.sitting_allowance > 0 ? ", whatever the sittings differ by" : "");
}

/// How rows were decided.
std::vector<std::string> method_lines(const Comparison& comparison) {
  const CompareOptions& options = comparison.options;
  if (comparison.paired) {
    return {fmt::format(
        "SLOWER, FASTER, SAME: by Student's t of each pair's log ratio, p multiplied by the {} after "
        "which the comparison may end and adjusted by Holm over all rows: at most {} that any row is "
        "called changed when none is; SAME: the 95 % interval of B/A over all looks is within ±{}",
        counted(comparison.paired->looks, "look"), percent_words(options.significance),
        percent_words(options.same_within))};
  }
  if (comparison.is_of_one_record) return {};
  std::vector<std::string> lines;
  const bool any_single = std::ranges::any_of(
      comparison.rows, [](const auto& row) { return row.base.launches == 1 && row.current.launches == 1; });
  if (comparison.has_repeats) {
    lines.push_back(fmt::format(
        "SLOWER, FASTER: by Student's t of the launches' log times, p adjusted by Holm over all rows, at "
        "most {} that any row of all is called changed when none is; {}",
        percent_words(options.significance), same_words(comparison)));
  }
  if (comparison.sitting_allowance > 0 && comparison.has_repeats) {
    lines.push_back(fmt::format(
        "two sittings of the same thing are taken to differ by up to {}{} (--drift): p is of a difference "
        "within that",
        percent_words(comparison.sitting_allowance),
        comparison.knows_states ? " in one state of the machine"
                                : ", as the records do not say in which state the machine was"));
  } else if (comparison.has_repeats && !comparison.on_host_memory) {
    lines.emplace_back(
        "what changes between two sittings, as temperatures and neighbors, this test does not see, and its "
        "size is not known here: launch base and new in turn (collbench repeat -- A --versus B) before "
        "believing a change of some percent");
  } else if (comparison.has_repeats && !comparison.knows_states) {
    lines.emplace_back(
        "launches of one sitting share the state of the machine (which cores, what else runs), which this "
        "test does not "
        "see: on host memory launch base and new in turn before believing a change below a factor of 3");
  }
  if (any_single) {
    lines.push_back(fmt::format(
        "rows of one launch each: SLOWER or FASTER only beyond {}, which two launches of the same thing are "
        "assumed to "
        "differ by (--allowance); for the rest launch both sides more often: collbench repeat -- mpirun …",
        percent_words(options.launch_allowance)));
  }
  return lines;
}

/// Rows that say nothing, because the machine was another one.
std::vector<std::string> other_state_lines(const Comparison& comparison) {
  const auto rows =
      static_cast<std::size_t>(std::ranges::count_if(comparison.rows, &ComparedRow::is_other_state));
  if (rows == 0) return {};
  return {fmt::format(
      "{} UNCLEAR because the machine was in another state in {} than in {}, or in none that is known, and "
      "states change times by themselves: {}",
      counted(rows, "row"), comparison.paired ? "B" : "the new run", comparison.paired ? "A" : "the base",
      comparison.paired ? "where it was another state in every pair, the commands place the ranks differently"
                        : "launch base and new in turn (collbench repeat -- A --versus B), or repeat until "
                          "both have seen the same state")};
}

/// Rows that more launches of two sittings do not decide.
std::vector<std::string> sitting_lines(const Comparison& comparison) {
  const auto rows =
      static_cast<std::size_t>(std::ranges::count_if(comparison.rows, [](const ComparedRow& row) {
        return row.change == RowChange::unclear && row.is_within_sittings;
      }));
  if (rows == 0) return {};
  return {fmt::format(
      "{} UNCLEAR because two sittings may differ by as much ({}): more launches of either do not decide {}; "
      "launches of both in turn do (collbench repeat -- A --versus B), and a base of several sittings shows "
      "how far apart they are (collbench compare FOLDER NEW)",
      counted(rows, "row"), percent_words(comparison.sitting_allowance), rows == 1 ? "it" : "them")};
}

/// What would decide the rows that are UNCLEAR.
std::vector<std::string> open_lines(const Comparison& comparison) {
  int launches = 0;
  std::size_t rows = 0;
  for (const ComparedRow& row : comparison.rows) {
    if (row.change != RowChange::unclear || row.launches_to_decide == 0) continue;
    ++rows;
    launches = std::max(launches, row.launches_to_decide);
  }
  if (rows == 0) return {};
  const std::string which = counted(rows, "row") + " UNCLEAR";
  if (launches >= kMaxLaunchesToDecide) {
    return {which +
            ": the launches of some row spread so far that no sensible number of them decides it; find what "
            "disturbs the machine first"};
  }
  return {fmt::format(
      "{}: by the spread of these launches, about {} of each side would decide {} (collbench repeat "
      "--launches {})",
      which, launches, rows == 1 ? "it" : "all of them", launches)};
}

std::vector<std::string> notes_by_row(const Comparison& comparison) {
  std::vector<std::string> lines;
  for (const ComparedRow& row : comparison.rows) {
    if (!row.notes.empty())
      lines.push_back(fmt::format("{}: {}", format_row(row.key), fmt::join(row.notes, "; ")));
  }
  return lines;
}

Json compared_row_to_json(const ComparedRow& row) {
  const auto known = [](double value) { return value > 0 ? Json(value) : Json(nullptr); };
  const Operation& traits = operation(row.key.operation);
  return Json{{"row", format_row(row.key)},
              {"operation", std::string(traits.option)},
              {"size_bytes", row.key.size_bytes},
              {"change", std::string(name(row.change))},
              {"base_seconds", known(row.base.seconds)},
              {"base_launches", row.base.launches},
              {"new_seconds", known(row.current.seconds)},
              {"new_launches", row.current.launches},
              {"ratio", known(row.ratio)},
              {"ratio_low", known(row.ratio_low)},
              {"ratio_high", known(row.ratio_high)},
              {"p", or_null(row.p)},
              {"launches_to_decide", row.launches_to_decide},
              {"within_sittings", row.is_within_sittings},
              {"other_state", row.is_other_state},
              {"notes", row.notes}};
}

std::vector<std::string> comparison_headings(const Comparison& comparison) {
  if (comparison.paired) return {"row", "B is", "B/A", "95 % of B/A", "A (µs)", "B (µs)", "p", "pairs"};
  return {"row", "change", "new/base", "95 % of new/base", "base (µs)", "new (µs)", "p", "launches"};
}

std::vector<std::string> comparison_cells(const ComparedRow& row, bool are_pairs) {
  return {format_row(row.key),
          std::string(name(row.change)),
          compared_ratio_cell(row.ratio),
          ratio_interval_cell(row),
          compared_time_cell(row.base),
          compared_time_cell(row.current),
          p_cell(row),
          launches_cell(row, are_pairs)};
}

std::string comparison_title(const Comparison& comparison) {
  return fmt::format("{} against {}", comparison.current_name, comparison.base_name);
}

/// "4 SLOWER (4 rows, 2 ranks): new.json against base.json"
std::string comparison_headline(const Comparison& comparison) {
  return fmt::format("{} ({}, {}): {}", comparison_summary(comparison),
                     counted(comparison.rows.size(), "row"), counted(comparison.ranks, "rank"),
                     comparison_title(comparison));
}

std::vector<std::string> comparison_notes(const Comparison& comparison) {
  std::vector<std::string> lines;
  if (comparison.paired) {
    std::vector<std::string> sentences = pair_sentences(comparison);
    const std::size_t more = sentences.size() - std::min(sentences.size(), kMaxSentences);
    sentences.resize(sentences.size() - more);
    lines.insert(lines.end(), sentences.begin(), sentences.end());
    if (more > 0) lines.push_back(fmt::format("and {} as in the table", counted(more, "row")));
  }
  for (const auto& part : {notes_by_row(comparison), other_state_lines(comparison), sitting_lines(comparison),
                           open_lines(comparison), method_lines(comparison)})
    lines.insert(lines.end(), part.begin(), part.end());
  return lines;
}

std::string csv_value(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return csv_cell(value.get<std::string>());
  if (!value.is_array()) return value.dump();
  std::vector<std::string> parts;
  for (const Json& each : value) parts.push_back(each.get<std::string>());
  return csv_cell(fmt::format("{}", fmt::join(parts, "; ")));
}

std::string change_style(RowChange change) {
  switch (change) {
    case RowChange::slower:
      return "alarm";
    case RowChange::unclear:
    case RowChange::missing:
      return "warning";
    case RowChange::same:
    case RowChange::faster:
    case RowChange::added:
      return "";
  }
  return "";
}

ReportTable compared_rows(const Comparison& comparison, bool with_same) {
  constexpr std::size_t kChangeColumn = 1;
  ReportTable table{.caption = "Each row of both, times as geometric means over launches",
                    .headings = comparison_headings(comparison),
                    .left = 2};
  for (const ComparedRow& row : comparison.rows) {
    if (row.change == RowChange::same && !with_same) continue;
    const std::vector<std::string> cells = comparison_cells(row, comparison.paired.has_value());
    table.rows.emplace_back(cells.begin(), cells.end());
    table.rows.back()[kChangeColumn].style = change_style(row.change);
  }
  // A narrow page lacks what no row has, then launches, p, and the times, from which the ratio is.
  for (std::size_t column = 2; column < table.headings.size(); ++column)
    if (std::ranges::all_of(table.rows, [column](const auto& row) { return row[column].text == kNoValue; }))
      table.spare.push_back(table.headings[column]);
  for (const std::size_t column : {7U, 6U, 4U, 5U}) table.spare.push_back(table.headings[column]);
  return table;
}

Document document_of(const Comparison& comparison, bool with_same, std::vector<Chart> charts) {
  Document document{
      comparison_title(comparison),
      {{"Charts", {}, "charts"}, {"Rows", {}, "rows"}, {"Notes", {comparison_notes(comparison)}, "notes"}},
      as_lines(comparison.differences),
      {comparison_headline(comparison)}};
  document.sections[0].blocks.emplace_back(std::move(charts));
  document.sections[1].blocks.emplace_back(compared_rows(comparison, with_same));
  if (document.lead.empty()) document.lead = {{"nothing is known to differ but the times"}};
  return document;
}

/// Whoever reads a comment of a merge request wants what changed; the headline counts the rest.
std::string report_markdown(const Comparison& comparison, const TextOptions& /*options*/) {
  return markdown(document_of(comparison, false, {}));
}

std::string report_csv(const Comparison& comparison, const TextOptions& /*options*/) {
  std::string text;
  for (const ComparedRow& row : comparison.rows) {
    Json columns{{"base", comparison.base_name}, {"new", comparison.current_name}};
    columns.update(compared_row_to_json(row));
    std::vector<std::string> names;
    std::vector<std::string> values;
    for (const auto& [key, value] : columns.items()) {
      names.push_back(key);
      values.push_back(csv_value(value));
    }
    if (text.empty()) text = fmt::format("{}\n", fmt::join(names, ","));
    text += fmt::format("{}\n", fmt::join(values, ","));
  }
  return text;
}

std::string report_html(const Comparison& comparison, const TextOptions& /*options*/) {
  return html_page(document_of(comparison, true, comparison_charts(comparison)));
}

struct ComparisonFormat {
  std::string_view name;
  std::string (*write)(const Comparison& comparison, const TextOptions& options);
  std::string (*as_shown)(std::string_view document);
};

constexpr std::array<ComparisonFormat, 5> kComparisonFormats{{
    {"text", report_text, terminal_text},
    {"md", report_markdown, page_text},
    {"json", [](const Comparison& comparison, const TextOptions&) { return report_json(comparison); },
     json_text},
    {"html", report_html, page_text},
    {"csv", report_csv, page_text},
}};

}  // namespace

std::string comparison_summary(const Comparison& comparison) {
  std::vector<std::string> parts;
  for (const RowChange change : {RowChange::slower, RowChange::faster, RowChange::unclear, RowChange::missing,
                                 RowChange::added, RowChange::same}) {
    if (const std::size_t count = comparison.count(change); count > 0)
      parts.push_back(fmt::format("{} {}", count, name(change)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string report_text(const Comparison& comparison, const TextOptions& options) {
  return text(document_of(comparison, true, {}), {.columns = options.columns, .mark = "# "});
}

std::string report_json(const Comparison& comparison) {
  Json rows = Json::array();
  for (const ComparedRow& row : comparison.rows) rows.push_back(compared_row_to_json(row));
  const Json whole{{"record", "collbench comparison"},
                   {"base", comparison.base_name},
                   {"new", comparison.current_name},
                   {"ranks", comparison.ranks},
                   {"same_record", comparison.is_of_one_record},
                   {"launch_allowance", comparison.options.launch_allowance},
                   {"sitting_allowance", comparison.sitting_allowance},
                   {"same_within", comparison.options.same_within},
                   {"significance", comparison.options.significance},
                   {"rounds", comparison.paired ? Json(comparison.paired->rounds) : Json(nullptr)},
                   {"looks", comparison.paired ? Json(comparison.paired->looks) : Json(nullptr)},
                   {"differences", comparison.differences},
                   {"rows", rows}};
  return json_document(whole);
}

std::vector<std::string> comparison_formats() {
  std::vector<std::string> names;
  for (const ComparisonFormat& format : kComparisonFormats) names.emplace_back(format.name);
  return names;
}

std::string report(const Comparison& comparison, std::string_view format, const TextOptions& options) {
  for (const ComparisonFormat& each : kComparisonFormats) {
    if (each.name == format) return each.as_shown(each.write(comparison, options));
  }
  throw usage_error("--format", fmt::format("'{}' is not a format of a comparison", format),
                    "choose " + format_list(comparison_formats()));
}

std::string report_no_comparison(const std::string& file, const std::string& reason, std::string_view format,
                                 const TextOptions& options) {
  const std::string line = file + ": " + reason;
  if (format == "json") return json_document({{"comparison", nullptr}, {"reason", line}});
  if (format == "csv")
    return fmt::format("new,change,notes\n{},not compared,{}\n", csv_cell(file), csv_cell(reason));
  const Document document{"Not compared", {}, {}, {line, Tone::warning}};
  if (format == "html") return page_text(html_page(document));
  if (format == "md") return markdown(document);
  return text(document, {.columns = options.columns, .mark = "# "});
}

}  // namespace collbench::analysis
