#include "tools/nccl_plan/report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>

#include "analysis/report/columns.hpp"
#include "base/document/text_layout.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "tools/nccl_plan/report/words.hpp"

namespace collbench::analysis {
namespace {

constexpr std::string_view kSendsAndReceives = "p2p";  ///< the algorithm of what has none

std::string bus_rate(double bytes_per_second) {
  return format_significant(bytes_per_second / kGigabyte, 4, 7);
}

std::string microseconds(double seconds) { return format_significant(seconds / kMicrosecond, 4, 9); }

/// "8 × 48 | 15 × 24", as each node found it; "8 × 48 on all"; of many nodes how many found which.
std::string found_by_nodes(const NcclPlan& plan, NcclAlgorithm algorithm) {
  std::vector<std::string> found;
  for (const auto& node : plan.graphs) {
    for (const NcclSearchGraph& graph : node) {
      if (graph.algorithm != algorithm) continue;
      found.push_back(fmt::format(
          "{} × {}", graph.channels,
          channel_rate(plan.domains() > 1 ? graph.inter_bytes_per_second : graph.intra_bytes_per_second)));
    }
  }
  std::map<std::string, int> nodes;
  for (const std::string& each : found) ++nodes[each];
  if (nodes.size() == 1) return found.size() == 1 ? found.front() : found.front() + " on all";
  if (found.size() <= 4) return fmt::format("{}", fmt::join(found, " | "));
  std::vector<std::string> counts;
  for (const auto& [words, count] : nodes) counts.push_back(fmt::format("{} on {}", words, count));
  return fmt::format("{}", fmt::join(counts, ", "));
}

ReportSection graph_section(const NcclPlan& plan) {
  ReportTable table{
      .headings = {"graph", "pattern", "path", "channels", "GB/s inside", "between", "found by each node"},
      .left = 3,
      .right = 1,
      .wraps = true};
  for (const NcclAlgorithm algorithm : kSearchedAlgorithms) {
    const auto graph = agreed_graph(plan, algorithm);
    if (!graph) continue;
    table.rows.push_back(
        {name(algorithm), fmt::to_string(graph->pattern),
         plan.domains() > 1 ? graph->intra_type + "/" + graph->inter_type : graph->intra_type,
         fmt::to_string(graph->channels), channel_rate(graph->intra_bytes_per_second),
         plan.domains() > 1 ? channel_rate(graph->inter_bytes_per_second) : std::string(kNoValue),
         found_by_nodes(plan, algorithm)});
  }
  return {"graphs, as all nodes agree on them (rates are those of one channel)",
          {std::move(table), channels_that_run(plan)}};
}

/// Channels of one way as one line each: "0, 8: 0 7 6 …".
ReportList way_lines(const std::vector<NcclWay>& ways) {
  ReportList lines;
  for (const NcclWay& way : ways)
    lines.push_back(fmt::format("{}: {}", number_ranges(way.channels), way.words));
  return lines;
}

void add_paths(const NcclPlan& plan, std::vector<ReportSection>& sections) {
  sections.push_back(
      {fmt::format("rings by channel (ranks{})", plan.domains() > 1 ? ", =NIC:NIC=> between nodes" : ""),
       {way_lines(ring_ways(plan))}});
  sections.push_back(
      {"trees by channel, from the root (branches in parentheses)", {way_lines(tree_ways(plan))}});
  if (!plan.nvls_heads.empty()) sections.push_back({nvls_head_words(plan), {}});
  if (plan.domains() > 1 && !plan.nics.empty()) sections.push_back({nic_words(plan), {}});
}

/// A line for each algorithm and protocol, a column for each function.
ReportTable tuning_table(const NcclPlan& plan) {
  ReportTable table{
      .headings = {"algorithm", "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce"},
      .spare = {"Reduce", "Broadcast"}};
  for (const NcclTuning& each : plan.tuning) {
    const std::string name = each.algorithm + "/" + each.protocol;
    const auto function = std::ranges::find(table.headings, each.function);
    if (function == table.headings.end()) continue;
    auto row = std::ranges::find(table.rows, name, [](const auto& cells) { return cells.front().text; });
    if (row == table.rows.end()) {
      row = table.rows.emplace(row, table.headings.size(), ReportCell(kNoValue));
      row->front().text = name;
    }
    (*row)[static_cast<std::size_t>(function - table.headings.begin())].text =
        fmt::format("{:.1f} {:.1f}", each.latency_seconds / kMicrosecond, each.bytes_per_second / kGigabyte);
  }
  return table;
}

std::vector<ReportCell> choice_cells(const NcclPlan& plan, const NcclPlannedRow& row) {
  const auto or_no_value = [](const std::string& text) {
    return text.empty() ? std::string(kNoValue) : text;
  };
  const NcclSelection& chosen = row.selection;
  std::string time;
  std::string rate;
  if (row.expected_seconds) {
    time = microseconds(*row.expected_seconds);
    rate =
        bus_rate(bus_bandwidth(operation(row.operation), row.size_bytes, plan.ranks, *row.expected_seconds));
  }
  return {pad_left(format_bytes(row.size_bytes), 8),
          or_no_value(chosen.algorithm),
          or_no_value(chosen.protocol),
          or_no_value(chosen.channels > 0 ? fmt::format("{}", chosen.channels) : ""),
          or_no_value(time),
          or_no_value(rate)};
}

/// Of an element each there is no call.
bool is_too_small(const NcclPlan& plan, const NcclPlannedRow& row) {
  return row.selection.algorithm.empty() && row.size_bytes < 4 * static_cast<std::uint64_t>(plan.ranks);
}

/// The rows of one operation.
ReportSection choices_of(const NcclPlan& plan, std::span<const NcclPlannedRow> rows) {
  const Operation& shown = operation(rows.front().operation);
  if (rows.front().selection.algorithm == kSendsAndReceives)
    return {fmt::format("{}: sends and receives over {} channels for each peer; NCCL selects no algorithm "
                        "and estimates no time.",
                        shown.name, plan.p2p_channels_per_peer),
            {}};
  ReportTable table{.headings = {"size", "algorithm", "protocol", "channels", "time (µs)", "busbw (GB/s)"},
                    .left = 3};
  for (const NcclPlannedRow& row : rows) table.rows.push_back(choice_cells(plan, row));
  const bool too_small =
      std::ranges::any_of(rows, [&plan](const NcclPlannedRow& row) { return is_too_small(plan, row); });
  return {fmt::format("{}: what NCCL chooses, and the time that it expects", shown.name),
          {std::move(table), ReportList(too_small ? 1 : 0, "–: less than 4 B per rank")}};
}

void add_choices(const NcclPlan& plan, std::vector<ReportSection>& sections) {
  for (auto begin = plan.rows.begin(); begin != plan.rows.end();) {
    const auto end = std::find_if(begin, plan.rows.end(), [begin](const NcclPlannedRow& row) {
      return row.operation != begin->operation;
    });
    sections.push_back(choices_of(plan, {begin, end}));
    begin = end;
  }
}

/// "NCCL chooses at 1 GiB: AllReduce nvls_tree/simple × 16, AllGather not known".
std::string chosen_at_most(const NcclPlan& plan) {
  std::uint64_t largest = 0;
  for (const NcclPlannedRow& row : plan.rows) largest = std::max(largest, row.size_bytes);
  std::vector<std::string> choices;
  for (const NcclPlannedRow& row : plan.rows) {
    if (row.size_bytes != largest || row.selection.algorithm == kSendsAndReceives) continue;
    choices.push_back(
        fmt::format("{} {}", operation(row.operation).name,
                    is_too_small(plan, row) ? "none (less than 4 B per rank)" : choice_words(row.selection)));
  }
  if (choices.empty()) return "NCCL chooses no algorithm: sends and receives only";
  return fmt::format("NCCL chooses at {}: {}", format_bytes(largest), fmt::join(choices, ", "));
}

std::string plan_answer(const NcclPlanReport& report) {
  if (report.versus)
    return fmt::format("With {}: {}", report.versus_name,
                       nccl_plan_diff_answer(diff_nccl_plans(report.plan, *report.versus)));
  return report.trials.empty() ? chosen_at_most(report.plan) : nccl_advice_answer(report.plan, report.trials);
}

Document document_of(const NcclPlanReport& report) {
  const NcclPlan& plan = report.plan;
  Document document{plan_answer(report),
                    {graph_section(plan)},
                    as_lines({nccl_plan_title(plan), plan.library, kNcclPlanOrigin}),
                    {}};
  for (const std::string& note : report.notes) add(document.lead, "note: {}", note);
  std::vector<ReportSection>& sections = document.sections;
  if (report.versus) {
    sections.push_back({fmt::format("with {} (NCCL {})", report.versus_name, report.versus->version),
                        nccl_plan_diff_blocks(diff_nccl_plans(plan, *report.versus))});
    return document;
  }
  if (!report.trials.empty()) {
    sections.push_back(nccl_advice_section(plan, report.trials));
    return document;
  }
  add_paths(plan, sections);
  sections.push_back(
      {"NCCL's tuning table: latency in µs, algorithm bandwidth in GB/s", {tuning_table(plan)}});
  add_choices(plan, sections);
  for (const std::string& warning : plan.warnings) sections.push_back({"NCCL: " + warning, {}});
  return document;
}

}  // namespace

std::string nccl_plan_json(const NcclPlanReport& report) {
  Json json{{"plan", nccl_plan_to_json(report.plan)},
            {"notes", report.notes},
            {"versus", nullptr},
            {"versus_name", nullptr},
            {"diff", nullptr},
            {"advice", nullptr}};
  if (!report.trials.empty()) json["advice"] = nccl_advice_json(report.plan, report.trials);
  if (report.versus) {
    json["versus"] = nccl_plan_to_json(*report.versus);
    json["versus_name"] = report.versus_name;
    json["diff"] = nccl_plan_diff_json(diff_nccl_plans(report.plan, *report.versus));
  }
  return json_document(json, 1);
}

std::vector<std::string> nccl_plan_formats() { return {"text", "json", "svg"}; }

std::string nccl_plan_document(const NcclPlanReport& report, std::string_view format, int columns) {
  constexpr int kMinColumns = 80;
  if (format == "json") return nccl_plan_json(report);
  if (format == "svg") return page_text(nccl_plan_svg(report));
  return terminal_text(text(document_of(report), {.columns = std::max(columns, kMinColumns)}));
}

}  // namespace collbench::analysis
