#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "tools/plan/report/plan_report.hpp"

namespace collbench::analysis {
namespace {

/// "0, 8, 16, 24, …"
std::string ranks_in_words(const PlacedGroup& group) {
  const bool more = group.first_ranks.size() < static_cast<std::size_t>(group.ranks);
  return fmt::format("{}{}", fmt::join(group.first_ranks, ", "), more ? ", …" : "");
}

}  // namespace

PlanTable placement_table(const TrainingPlan& plan) {
  const bool has_fabric = plan.fabric.kind != FabricKind::unstated;
  const bool is_node = plan.domain == plan.gpus_per_node;
  PlanTable table{
      .heading = fmt::format("Where ranks lie: numbered {}, the first one innermost", words(plan.job.order)),
      .cells = {{"group", "ranks", is_node ? "in a node" : "in a domain", is_node ? "nodes" : "domains"}},
      .text_columns = 1};
  std::vector<std::string>& names = table.cells.front();
  if (has_fabric) names.insert(names.end(), {"leaves", "hops out", "NIC rate"});
  names.emplace_back("first ranks");
  for (const PlacedGroup& each : plan.placement) {
    std::vector<std::string> cells{std::string(name(each.kind)), fmt::to_string(each.ranks),
                                   fmt::to_string(each.ranks_in_domain), fmt::to_string(each.domains)};
    if (has_fabric && each.domains > 1) {
      const LeafCrossings& crossings = each.crossings;
      cells.insert(cells.end(), {fmt::to_string(crossings.leaves),
                                 fmt::format("{} of {}", crossings.hops_outside, crossings.hops),
                                 fmt::format("{:.0f} %", 100 * each.fabric_share)});
    } else if (has_fabric) {
      cells.insert(cells.end(), {"", "", ""});
    }
    cells.push_back(ranks_in_words(each));
    table.cells.push_back(std::move(cells));
  }
  return table;
}

}  // namespace collbench::analysis
