#include "analysis/report/nccl_plan_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "analysis/report/columns.hpp"
#include "analysis/report/nccl_plan_diff.hpp"
#include "analysis/report/nccl_plan_words.hpp"
#include "analysis/report/text_layout.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr std::string_view kSendsAndReceives = "p2p";  ///< the algorithm of what has none

int page_width(const TextOptions& options) { return std::max(options.columns, 80); }

std::string bus_rate(double bytes_per_second) {
  return format_significant(bytes_per_second / kGigabyte, 4, 7);
}

std::string microseconds(double seconds) { return format_significant(seconds / kMicrosecond, 4, 9); }

/// "8 × 48 | 15 × 24", as each node found it; "8 × 48 on all"; of many nodes how many found which.
std::string found_by_nodes(const NcclPlan& plan, const std::string& algorithm) {
  std::vector<std::string> found;
  for (const auto& node : plan.graphs) {
    for (const NcclSearchGraph& graph : node) {
      if (graph.algorithm != algorithm) continue;
      found.push_back(fmt::format("{} × {}", graph.channels, channel_rate(graph.inter_bytes_per_second)));
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
  std::string text =
      fmt::format("NCCL {} on {}: {} node{} × {} ({} ranks)", plan.version, plan.machine, plan.nodes,
                  plan.nodes == 1 ? "" : "s",
                  counted(static_cast<std::size_t>(plan.ranks / plan.nodes), "GPU"), plan.ranks);
  for (const auto& [name, value] : plan.settings) text += fmt::format(", {}={}", name, value);
  return wrap(one_line(text), width, "# ", "#   ") + wrap(one_line(plan.library), width, "# ", "#   ") +
         wrap("What NCCL's own host code decides, over a simulated CUDA: no GPU, nothing measured.", width,
              "# ", "#   ");
}

std::string graph_section(const NcclPlan& plan) {
  TextTable table{{"graph", "pattern", "path", "channels", "GB/s inside", "between", "found by each node"}};
  for (const char* algorithm : {"ring", "tree", "nvls", "collnet_chain", "collnet_direct"}) {
    const auto graph = agreed_graph(plan, algorithm);
    if (!graph) continue;
    table.push_back({algorithm, fmt::format("{}", graph->pattern),
                     plan.nodes > 1 ? graph->intra_type + "/" + graph->inter_type : graph->intra_type,
                     fmt::format("{}", graph->channels), channel_rate(graph->intra_bytes_per_second),
                     plan.nodes > 1 ? channel_rate(graph->inter_bytes_per_second) : std::string(kNoValue),
                     found_by_nodes(plan, algorithm)});
  }
  return "\ngraphs, as all nodes agree on them (rates are those of one channel)\n" + table_lines(table, 3) +
         fmt::format("  channels that run: {} of rings and trees, {} NVLS, {} p2p ({} per peer)\n",
                     plan.collective_channels, plan.nvls_channels, plan.p2p_channels,
                     plan.p2p_channels_per_peer);
}

/// The NICs of the connection from one rank to another: "=3:3=>", "->" where it crosses no NIC that is known.
class NicArrows {
 public:
  explicit NicArrows(const NcclPlan& plan) : per_node_(std::max(1, plan.ranks / std::max(1, plan.nodes))) {
    for (const NcclConnection& each : plan.connections) {
      at_[{each.channel, each.from, each.to}] = &each;
    }
  }

  /// Between two ranks of a ring.
  [[nodiscard]] std::string arrow(int channel, int from, int to) const {
    if (from / per_node_ == to / per_node_) return " ";
    const auto found = at_.find({channel, from, to});
    if (found == at_.end()) return " => ";
    const NcclConnection& each = *found->second;
    return fmt::format(" ={}:{}=> ", number(each.send_nic), number(each.receive_nic));
  }

 private:
  static std::string number(const std::optional<int>& nic) { return nic ? fmt::format("{}", *nic) : "?"; }

  int per_node_;
  std::map<std::tuple<int, int, int>, const NcclConnection*> at_;
};

std::string ring_words(const std::vector<int>& ring, int channel, const NicArrows& nics) {
  if (ring.empty()) return "not known";
  std::string text = fmt::format("{}", ring.front());
  for (std::size_t i = 1; i < ring.size(); ++i) {
    text += nics.arrow(channel, ring[i - 1], ring[i]) + fmt::format("{}", ring[i]);
  }
  const std::string back = nics.arrow(channel, ring.back(), ring.front());
  return back == " " ? text : text + back + fmt::format("{}", ring.front());
}

/// A tree from its root down: a rank's children behind it, all but the last in parentheses.
std::string tree_words(const std::vector<int>& parents, int channel, const NicArrows& nics) {
  struct Step {
    int rank;     ///< −1: the end of a branch
    bool branch;  ///< of a rank with other children behind it
  };
  std::vector<std::vector<int>> children(parents.size());
  std::vector<Step> steps;  // still to be written, the next one last
  for (std::size_t rank = 0; rank < parents.size(); ++rank) {
    const int parent = parents[rank];
    if (parent < 0) {
      steps.push_back({static_cast<int>(rank), false});
    } else if (std::cmp_less(parent, parents.size())) {
      children[static_cast<std::size_t>(parent)].push_back(static_cast<int>(rank));
    }
  }
  if (steps.size() != 1) return "not known";
  std::string text;
  std::size_t written = 0;
  while (!steps.empty()) {
    const Step step = steps.back();
    steps.pop_back();
    if (step.rank < 0) {
      text += ")";
      continue;
    }
    ++written;
    const int parent = parents[static_cast<std::size_t>(step.rank)];
    const std::string arrow = parent < 0 ? "" : nics.arrow(channel, parent, step.rank);
    text += step.branch ? " (" + arrow.substr(1) : arrow;
    text += fmt::format("{}", step.rank);
    const auto& own = children[static_cast<std::size_t>(step.rank)];
    for (std::size_t i = own.size(); i-- > 0;) {
      const bool branch = i + 1 < own.size();
      if (branch) steps.push_back({-1, false});
      steps.push_back({own[i], branch});
    }
  }
  return written == parents.size() ? text : "not known";
}

/// "  0, 8  0 7 6 …": channels of one way as one line each.
template <class Words>
std::string channel_lines(std::size_t channels, Words words, int width) {
  std::vector<std::pair<std::string, std::vector<int>>> ways;
  for (std::size_t i = 0; i < channels; ++i) {
    const std::string way = words(i);
    auto known = std::find_if(ways.begin(), ways.end(), [&](const auto& each) { return each.first == way; });
    if (known == ways.end()) known = ways.insert(ways.end(), {way, {}});
    known->second.push_back(static_cast<int>(i));
  }
  int label = 0;
  for (const auto& [way, numbers] : ways) label = std::max(label, display_width(number_ranges(numbers)));
  std::string text;
  for (const auto& [way, numbers] : ways) {
    text += wrap(way, width, "  " + pad_right(number_ranges(numbers), label) + "  ",
                 std::string(static_cast<std::size_t>(label) + 6, ' '));
  }
  return text;
}

std::string path_section(const NcclPlan& plan, int width) {
  const NicArrows nics(plan);
  const char* const nic_words = plan.nodes > 1 ? ", =NIC:NIC=> between nodes" : "";
  std::string text = fmt::format("\nrings by channel (ranks{})\n", nic_words);
  text += channel_lines(
      plan.rings.size(), [&](std::size_t i) { return ring_words(plan.rings[i], static_cast<int>(i), nics); },
      width);
  text += "\ntrees by channel, from the root (branches in parentheses)\n";
  text += channel_lines(
      plan.tree_parents.size(),
      [&](std::size_t i) { return tree_words(plan.tree_parents[i], static_cast<int>(i), nics); }, width);
  if (!plan.nvls_heads.empty()) {
    std::vector<std::string> heads;
    for (const auto& ranks : plan.nvls_heads) heads.push_back(fmt::format("{}", fmt::join(ranks, " ")));
    text += "\n" + wrap(fmt::format("NVLS heads, a rank of each node: {}", fmt::join(heads, " | ")), width,
                        "", "  ");
  }
  if (plan.nodes > 1 && !plan.nics.empty()) {
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
    const auto function = std::find(functions.begin(), functions.end(), each.function);
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
  const bool too_small = std::any_of(rows.begin(), rows.end(),
                                     [&plan](const NcclPlannedRow& row) { return is_too_small(plan, row); });
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
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace collbench::analysis
