#include "analysis/plan/group_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/links.hpp"

namespace collbench::analysis {

RankGroup rank_group(const GpuCluster& machine, int size, int stride) {
  RankGroup group{.size = size, .cluster = machine};
  GpuCluster& cluster = group.cluster;
  const int gpus = machine.ranks_per_node;
  const int domain = gpus * machine.nodes_per_domain;
  const int in_domain = std::clamp(domain / std::max(1, stride), 1, size);
  cluster.planned.reset();
  cluster.slower_nics.clear();
  // A domain's part of the group as nodes: their number of ranks matters to the model, not which they are.
  cluster.ranks_per_node = std::min(in_domain, gpus);
  const int nodes_in_domain = (in_domain + cluster.ranks_per_node - 1) / cluster.ranks_per_node;
  const int domains = (size + in_domain - 1) / in_domain;
  cluster.nodes_per_domain = std::max(1, nodes_in_domain);
  cluster.nodes = domains * cluster.nodes_per_domain;
  const double share =
      static_cast<double>(in_domain) / domain * machine.nodes_per_domain / cluster.nodes_per_domain;
  cluster.nics = std::max(1, static_cast<int>(std::lround(machine.nics * std::min(1.0, share))));
  return group;
}

double group_seconds(const RankGroup& group, OperationId operation, double bytes) {
  if (group.size < 2 || bytes < 1) return 0;
  const double seconds = expect_on_gpus(operation, static_cast<std::uint64_t>(bytes), group.cluster)
                             .expected_seconds.value_or(0);
  const bool speaks = group.measured != nullptr && group.measured->across_nodes == group.crosses_nodes();
  return speaks ? seconds * group.measured->ratio(operation, bytes).value_or(1) : seconds;
}

std::string crossed_links(const RankGroup& group) {
  if (group.size < 2) return "nothing";
  const GpuCluster& cluster = group.cluster;
  const std::string name = group.crosses_nodes() ? domain_nics(cluster).name : gpu_link(cluster).name;
  // "1 NIC per node, 50 GB/s each at 95 % of line rate": the part of it is the same in every line.
  const std::string link = name.substr(0, name.find(" at "));
  // The ranks of the group alone use these: beside them other groups use the node's other NICs.
  const std::string per_node = fmt::format("{} NIC{} per node, ", cluster.nics, cluster.nics == 1 ? "" : "s");
  if (cluster.nics != cluster.ranks_per_node || !link.starts_with(per_node)) return link;
  const std::string rate = link.substr(per_node.size());
  return "1 NIC per GPU, " + rate.substr(0, rate.find(" each"));
}

}  // namespace collbench::analysis
