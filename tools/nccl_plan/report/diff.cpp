#include "tools/nccl_plan/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/units.hpp"
#include "tools/nccl_plan/report/words.hpp"

namespace collbench::analysis {
namespace {

constexpr double kSameTime = 1e-3;

std::optional<NcclSearchGraph> graph_without_channels(const NcclPlan& plan, NcclAlgorithm algorithm) {
  std::optional<NcclSearchGraph> graph = agreed_graph(plan, algorithm);
  if (graph) graph->channel.clear();
  return graph;
}

std::vector<NcclGraphChange> graph_changes(const NcclPlan& before, const NcclPlan& after) {
  std::vector<NcclGraphChange> changes;
  for (const NcclAlgorithm algorithm : kSearchedAlgorithms) {
    NcclGraphChange change{algorithm, graph_without_channels(before, algorithm),
                           graph_without_channels(after, algorithm)};
    if (change.before != change.after) changes.push_back(std::move(change));
  }
  return changes;
}

std::vector<NcclCountChange> count_changes(const NcclPlan& before, const NcclPlan& after) {
  const std::array<NcclCountChange, 5> all{
      {{"channels of rings and trees", before.collective_channels, after.collective_channels},
       {"NVLS channels", before.nvls_channels, after.nvls_channels},
       {"p2p channels", before.p2p_channels, after.p2p_channels},
       {"p2p channels per peer", before.p2p_channels_per_peer, after.p2p_channels_per_peer},
       {"NVLS heads", static_cast<int>(before.nvls_heads.size()),
        static_cast<int>(after.nvls_heads.size())}}};
  std::vector<NcclCountChange> changes;
  std::ranges::copy_if(all, std::back_inserter(changes),
                       [](const NcclCountChange& each) { return each.before != each.after; });
  return changes;
}

/// Of the channels that both have, how many differ.
int channels_that_differ(const std::vector<std::vector<int>>& before,
                         const std::vector<std::vector<int>>& after) {
  int differ = 0;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (before[i] != after[i]) ++differ;
  }
  return differ;
}

NcclSelection choice_of(const NcclPlannedRow& row) {
  return {row.selection.algorithm, row.selection.protocol, row.selection.channels, {}};
}

std::optional<double> time_ratio(const NcclPlannedRow& before, const NcclPlannedRow& after) {
  if (!before.expected_seconds || !after.expected_seconds || *before.expected_seconds <= 0) return {};
  return *after.expected_seconds / *before.expected_seconds;
}

bool is_same(const NcclPlannedRow& before, const NcclPlannedRow& after) {
  const auto ratio = time_ratio(before, after);
  return choice_of(before) == choice_of(after) && (!ratio || std::abs(*ratio - 1) <= kSameTime);
}

void widen(NcclChoiceChange& change, const std::optional<double>& ratio) {
  if (!ratio) return;
  change.least_ratio = std::min(change.least_ratio.value_or(*ratio), *ratio);
  change.greatest_ratio = std::max(change.greatest_ratio.value_or(*ratio), *ratio);
}

std::vector<NcclChoiceChange> choice_changes(const NcclPlan& before, const NcclPlan& after) {
  std::vector<NcclChoiceChange> changes;
  bool continues = false;  // the row before this one belongs to the last change
  for (const NcclPlannedRow& row : before.rows) {
    const auto other = std::ranges::find_if(after.rows, [&](const NcclPlannedRow& each) {
      return each.operation == row.operation && each.size_bytes == row.size_bytes;
    });
    if (other == after.rows.end() || is_same(row, *other)) {
      continues = false;
      continue;
    }
    const NcclSelection from = choice_of(row);
    const NcclSelection to = choice_of(*other);
    if (!continues || changes.back().operation != row.operation || changes.back().before != from ||
        changes.back().after != to) {
      changes.push_back({row.operation, row.size_bytes, row.size_bytes, from, to, {}, {}});
    }
    changes.back().to_bytes = row.size_bytes;
    widen(changes.back(), time_ratio(row, *other));
    continues = true;
  }
  return changes;
}

/// "+12 %", "-3 to +4 %": a time against the one before.
std::string ratio_words(const NcclChoiceChange& change) {
  if (!change.least_ratio) return "";
  const auto percent = [](double ratio) {
    return fmt::format("{}{:.1f}", ratio < 1 ? "−" : "+", std::abs(100 * (ratio - 1)));
  };
  const std::string from = percent(*change.least_ratio);
  const std::string to = percent(*change.greatest_ratio);
  return from == to ? from + " %" : fmt::format("{} to {} %", from, to);
}

Json change_json(const NcclChoiceChange& change) {
  return {{"operation", operation(change.operation).name},
          {"from_bytes", change.from_bytes},
          {"to_bytes", change.to_bytes},
          {"before", choice_words(change.before)},
          {"after", choice_words(change.after)},
          {"least_time_ratio", or_null(change.least_ratio)},
          {"greatest_time_ratio", or_null(change.greatest_ratio)}};
}

}  // namespace

bool NcclPlanDiff::empty() const {
  return graphs.empty() && counts.empty() && rings_that_differ == 0 && trees_that_differ == 0 &&
         choices.empty() && warnings.empty();
}

NcclPlanDiff diff_nccl_plans(const NcclPlan& before, const NcclPlan& after) {
  NcclPlanDiff diff{graph_changes(before, after),
                    count_changes(before, after),
                    channels_that_differ(before.rings, after.rings),
                    channels_that_differ(before.tree_parents, after.tree_parents),
                    choice_changes(before, after),
                    {}};
  for (const std::string& warning : after.warnings) {
    const auto& known = before.warnings;
    if (std::ranges::find(known, warning) == known.end()) diff.warnings.push_back(warning);
  }
  return diff;
}

std::string nccl_plan_diff_answer(const NcclPlanDiff& diff) {
  if (diff.empty()) return "nothing differs";
  if (diff.choices.empty())
    return "the same choices and times, as far as NCCL tells them; graphs, channels or warnings differ";
  NcclChoiceChange all;
  for (const NcclChoiceChange& each : diff.choices) {
    widen(all, each.least_ratio);
    widen(all, each.greatest_ratio);
  }
  return fmt::format("{} of choice or time{}{}", counted(diff.choices.size(), "change"),
                     all.least_ratio ? "; NCCL's time " : "", ratio_words(all));
}

std::vector<ReportBlock> nccl_plan_diff_blocks(const NcclPlanDiff& diff) {
  if (diff.empty()) return {"the same graphs, channels, choices and times"};
  ReportLines lines;
  for (const NcclGraphChange& each : diff.graphs)
    add(lines, "{}: {} → {}", name(each.algorithm), graph_words(each.before), graph_words(each.after));
  for (const NcclCountChange& each : diff.counts)
    add(lines, "{}: {} → {}", each.what, each.before, each.after);
  if (diff.rings_that_differ + diff.trees_that_differ > 0)
    add(lines, "routed differently: {} rings, {} trees", diff.rings_that_differ, diff.trees_that_differ);
  if (diff.choices.empty()) add(lines, "the same choices and times for every operation and size");
  for (const std::string& warning : diff.warnings) add(lines, "NCCL: {}", warning);
  ReportTable table{.headings = {"operation", "before", "after", "NCCL's time"}, .left = 3, .breaks = true};
  for (const NcclChoiceChange& each : diff.choices) {
    std::string call = fmt::format("{} {}", operation(each.operation).name, format_bytes(each.from_bytes));
    if (each.to_bytes != each.from_bytes) call += " to " + format_bytes(each.to_bytes);
    table.rows.push_back({call, choice_words(each.before), choice_words(each.after), ratio_words(each)});
  }
  return {std::move(lines), std::move(table)};
}

Json nccl_plan_diff_json(const NcclPlanDiff& diff) {
  Json graphs = Json::array();
  for (const NcclGraphChange& each : diff.graphs) {
    graphs.push_back({{"algorithm", name(each.algorithm)},
                      {"before", graph_words(each.before)},
                      {"after", graph_words(each.after)}});
  }
  Json counts = Json::array();
  for (const NcclCountChange& each : diff.counts) {
    counts.push_back({{"what", each.what}, {"before", each.before}, {"after", each.after}});
  }
  Json choices = Json::array();
  for (const NcclChoiceChange& each : diff.choices) choices.push_back(change_json(each));
  return {{"graphs", graphs},
          {"counts", counts},
          {"rings_that_differ", diff.rings_that_differ},
          {"trees_that_differ", diff.trees_that_differ},
          {"choices", choices},
          {"warnings", diff.warnings}};
}

}  // namespace collbench::analysis
