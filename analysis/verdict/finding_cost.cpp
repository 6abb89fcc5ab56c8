#include "analysis/verdict/finding_cost.hpp"

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/gpu_expectation.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "topology/diff/topology_diff.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis {
namespace {

constexpr std::uint64_t kSize = 8 * kGiB;  // where latency no longer counts

const topology::ReferenceMachine* reference_of(const topology::Host& host) {
  if (host.sources.empty() || host.sources.front().reader != "reference machine") return nullptr;
  return topology::find_reference_machine(host.sources.front().location);
}

GpuCluster cluster_of(const topology::Host& host, int nodes) {
  const topology::ReferenceMachine* machine = reference_of(host);
  if (machine == nullptr) return gpu_cluster(host, nodes, 0, "");
  // Its transport and its NVLink domain are in no graph.
  const GpuCluster whole = gpu_cluster(*machine, nodes, 0);
  GpuCluster cluster = gpu_cluster(host, whole.domains() == 1 ? 1 : nodes, 0, "");
  cluster.nodes = nodes;
  cluster.nodes_per_domain = whole.nodes_per_domain;
  cluster.transport = whole.transport;
  return cluster;
}

std::optional<double> bus_rate(const GpuCluster& cluster, std::optional<double> seconds) {
  if (!seconds) return std::nullopt;
  return bus_bandwidth(operation(OperationId::all_reduce), kSize, cluster.ranks(), *seconds) / kGigabyte;
}

}  // namespace

PredictedRates predicted_rates(const topology::Host& host, int nodes) {
  try {
    const GpuCluster cluster = cluster_of(host, nodes);
    const Expectation expected = expect_on_gpus(OperationId::all_reduce, kSize, cluster);
    return {bus_rate(cluster, expected.ring_seconds), bus_rate(cluster, expected.tree_seconds),
            bus_rate(cluster, expected.expected_seconds)};
  } catch (const Error&) {
    return {};
  }
}

double FindingCost::lost() const { return healthy.best.value_or(0) - faulty.best.value_or(0); }

std::vector<FindingCost> finding_costs(const topology::HostPair& pair, const topology::Finding& finding) {
  const topology::Host& healthy = pair.of(topology::other(finding.side));
  const topology::Host faulty = topology::inject_fault(pair, finding);
  std::vector<FindingCost> costs;
  for (const int nodes : {1, 2}) {
    const FindingCost cost{nodes, predicted_rates(healthy, nodes), predicted_rates(faulty, nodes)};
    if (cost.healthy.best) costs.push_back(cost);
  }
  return costs;
}

}  // namespace collbench::analysis
