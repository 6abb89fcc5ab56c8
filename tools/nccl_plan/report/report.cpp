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
#include "tools/nccl_plan/report/diff.hpp"
#include "tools/nccl_plan/report/words.hpp"

namespace collbench::analysis {
namespace {

constexpr std::string_view kSendsAndReceives = "p2p";  ///< the algorithm of what has none

int page_width(const TextOptions& options) { return std::max(options.columns, 80); }

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

std::string heading(const NcclPlan& plan, int width) {
  return wrap(nccl_plan_title(plan), width, "# ", "#   ") +
         wrap(one_line(plan.library), width, "# ", "#   ") + wrap(kNcclPlanOrigin, width, "# ", "#   ");
}

std::string graph_section(const NcclPlan& plan) {
  TextTable table{{"graph", "pattern", "path", "channels", "GB/s inside", "between", "found by each node"}};
  for (const NcclAlgorithm algorithm : kSearchedAlgorithms) {
    const auto graph = agreed_graph(plan, algorithm);
    if (!graph) continue;
    table.push_back({std::string(name(algorithm)), fmt::format("{}", graph->pattern),
                     plan.domains() > 1 ? graph->intra_type + "/" + graph->inter_type : graph->intra_type,
                     fmt::format("{}", graph->channels), channel_rate(graph->intra_bytes_per_second),
                     plan.domains() > 1 ? channel_rate(graph->inter_bytes_per_second) : std::string(kNoValue),
                     found_by_nodes(plan, algorithm)});
  }
  return "\ngraphs, as all nodes agree on them (rates are those of one channel)\n" + table_lines(table, 3) +
         "  " + channels_that_run(plan) + "\n";
}

/// "  0, 8  0 7 6 …": channels of one way as one line each.
std::string way_lines(const std::vector<NcclWay>& ways, int width) {
  int label = 0;
  for (const NcclWay& way : ways) label = std::max(label, display_width(number_ranges(way.channels)));
  std::string text;
  for (const NcclWay& way : ways) {
    text += wrap(way.words, width, "  " + pad_right(number_ranges(way.channels), label) + "  ",
                 std::string(static_cast<std::size_t>(label) + 6, ' '));
  }
  return text;
}

std::string path_section(const NcclPlan& plan, int width) {
  const char* const nic_words = plan.domains() > 1 ? ", =NIC:NIC=> between nodes" : "";
  std::string text =
      fmt::format("\nrings by channel (ranks{})\n", nic_words) + way_lines(ring_ways(plan), width) +
      "\ntrees by channel, from the root (branches in parentheses)\n" + way_lines(tree_ways(plan), width);
  if (!plan.nvls_heads.empty()) {
    std::vector<std::string> heads;
    for (const auto& ranks : plan.nvls_heads) heads.push_back(fmt::format("{}", fmt::join(ranks, " ")));
    text += "\n" + wrap(fmt::format("NVLS heads, a rank of each node: {}", fmt::join(heads, " | ")), width,
                        "", "  ");
  }
  if (plan.domains() > 1 && !plan.nics.empty()) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < plan.nics.size(); ++i) names.push_back(fmt::format("{} {}", i, plan.nics[i]));
    text += "\n" + wrap(one_line(fmt::format("NICs: {}", fmt::join(names, ", "))), width, "", "  ");
  }
  return text;
}

/// A line for each algorithm and protocol, a column for each function; on a narrow page without Broadcast and
/// Reduce.
std::string tuning_section(const NcclPlan& plan, int width) {
  if (plan.tuning.empty()) return "";
  std::vector<std::string> functions{"AllReduce", "AllGather", "ReduceScatter"};
  constexpr int kWidePage = 100;
  if (width >= kWidePage) functions.insert(functions.end(), {"Broadcast", "Reduce"});
  TextTable table{{"algorithm"}};
  table.front().insert(table.front().end(), functions.begin(), functions.end());
  for (const NcclTuning& each : plan.tuning) {
    const std::string name = each.algorithm + "/" + each.protocol;
    auto row =
        std::find_if(table.begin() + 1, table.end(), [&](const auto& cells) { return cells[0] == name; });
    const auto function = std::ranges::find(functions, each.function);
    if (function == functions.end()) continue;
    if (row == table.end()) {
      table.emplace_back(functions.size() + 1, std::string(kNoValue)).front() = name;
      row = table.end() - 1;
    }
    (*row)[static_cast<std::size_t>(function - functions.begin()) + 1] =
        fmt::format("{:.1f} {:.1f}", each.latency_seconds / kMicrosecond, each.bytes_per_second / kGigabyte);
  }
  return "\nNCCL's tuning table: latency in µs, algorithm bandwidth in GB/s\n" + table_lines(table, 1);
}

std::vector<std::string> choice_cells(const NcclPlan& plan, const NcclPlannedRow& row) {
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
std::string choices_of(const NcclPlan& plan, std::span<const NcclPlannedRow> rows, int width) {
  const Operation& shown = operation(rows.front().operation);
  if (rows.front().selection.algorithm == kSendsAndReceives) {
    return wrap(fmt::format("{}: sends and receives over {} channels for each peer; NCCL selects no "
                            "algorithm and estimates no time.",
                            shown.name, plan.p2p_channels_per_peer),
                width, "\n", "  ");
  }
  TextTable table{{"size", "algorithm", "protocol", "channels", "time (µs)", "busbw (GB/s)"}};
  for (const NcclPlannedRow& row : rows) table.push_back(choice_cells(plan, row));
  const bool too_small =
      std::ranges::any_of(rows, [&plan](const NcclPlannedRow& row) { return is_too_small(plan, row); });
  return fmt::format("\n{}: what NCCL chooses, and the time that it expects\n", shown.name) +
         table_lines(table, 3) + (too_small ? "  –: less than 4 B per rank\n" : "");
}

std::string choice_section(const NcclPlan& plan, int width) {
  std::string text;
  for (auto begin = plan.rows.begin(); begin != plan.rows.end();) {
    const auto end = std::find_if(begin, plan.rows.end(), [begin](const NcclPlannedRow& row) {
      return row.operation != begin->operation;
    });
    text += choices_of(plan, {begin, end}, width);
    begin = end;
  }
  return text;
}

}  // namespace

std::string nccl_plan_text(const NcclPlanReport& report, const TextOptions& options) {
  const int width = page_width(options);
  const NcclPlan& plan = report.plan;
  std::string text = heading(plan, width);
  for (const std::string& note : report.notes) text += wrap(one_line(note), width, "# note: ", "#   ");
  text += graph_section(plan);
  if (report.versus) {
    const std::string other = fmt::format("with {} (NCCL {})", report.versus_name, report.versus->version);
    return text + "\n" + wrap(one_line(other), width, "", "  ") +
           nccl_plan_diff_text(diff_nccl_plans(plan, *report.versus), width);
  }
  if (!report.trials.empty()) return text + nccl_advice_text(plan, report.trials, width);
  text += path_section(plan, width) + tuning_section(plan, width) + choice_section(plan, width);
  for (const std::string& warning : plan.warnings) text += wrap(one_line(warning), width, "\nNCCL: ", "  ");
  return text;
}

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

std::string nccl_plan_document(const NcclPlanReport& report, std::string_view format,
                               const TextOptions& options) {
  if (format == "json") return nccl_plan_json(report);
  if (format == "svg") return page_text(nccl_plan_svg(report));
  return terminal_text(nccl_plan_text(report, options));
}

}  // namespace collbench::analysis
