#include "analysis/models/nccl/gpu_expectation.hpp"

#include <algorithm>
#include <limits>

#include "analysis/models/nccl/bands.hpp"
#include "analysis/models/nccl/links.hpp"
#include "analysis/models/nccl/nccl_choices.hpp"
#include "topology/catalog/gpus.hpp"

namespace collbench::analysis {
namespace {

/// Those that NCCL has on switches that reduce; CollNetDirect needs NVSwitches (NCCL 2.30
/// src/graph/tuning.cc).
std::vector<GpuAlgorithm> collnet_algorithms(const GpuCluster& cluster) {
  if (!cluster.fabric.sharp || cluster.domains() < 2) return {};
  if (!cluster.nvswitch) return {GpuAlgorithm::collnet_chain};
  return {GpuAlgorithm::collnet_direct, GpuAlgorithm::collnet_chain};
}

/// Whether the text of a run or a table names the algorithm.
bool is_it(const std::optional<std::string>& text, GpuAlgorithm algorithm) {
  return text && *text == name(algorithm);
}

std::vector<AlgorithmRate> all_algorithms(OperationId id, const GpuCluster& cluster) {
  switch (gpu_pattern(id)) {
    case GpuPattern::all_reduce: {
      std::vector<AlgorithmRate> rates{gpu_ring(operation(id), cluster), gpu_tree(cluster)};
      if (const auto nvls = gpu_nvls(cluster)) rates.push_back(*nvls);
      for (const GpuAlgorithm algorithm : collnet_algorithms(cluster))
        rates.push_back(gpu_collnet(operation(id), cluster, algorithm));
      return rates;
    }
    case GpuPattern::ring: {
      std::vector<AlgorithmRate> rates{gpu_ring(operation(id), cluster)};
      // NCCL has it where the plugin gathers; it chose it in no published run.
      if (cluster.fabric.sharp && cluster.domains() > 1 &&
          is_it(cluster.run.algorithm, GpuAlgorithm::collnet_direct))
        rates.push_back(gpu_collnet(operation(id), cluster, GpuAlgorithm::collnet_direct));
      return rates;
    }
    case GpuPattern::chain:
      return {gpu_ring(operation(id), cluster)};
    case GpuPattern::exchange:
      return {gpu_all_to_all(cluster)};
    case GpuPattern::from_root:
      return {gpu_scatter(cluster)};
    case GpuPattern::to_root:
      return {gpu_gather(cluster)};
    case GpuPattern::one_flow:
      return {gpu_send_recv(cluster)};
    case GpuPattern::none:
      return {};
  }
  return {};
}

const AlgorithmRate& best_of(const std::vector<AlgorithmRate>& rates) {
  return *std::ranges::max_element(rates, {}, &AlgorithmRate::gigabytes_per_second);
}

/// The one that the table says; none where it says nothing, or one that has no model here.
std::optional<AlgorithmRate> by_table(const std::vector<AlgorithmRate>& rates, const GpuRunFacts& run) {
  if (run.algorithm || !run.table_choice) return std::nullopt;
  const auto found = std::ranges::find_if(
      rates, [&run](const AlgorithmRate& rate) { return is_it(run.table_choice, rate.algorithm); });
  if (found == rates.end()) return std::nullopt;
  return *found;
}

/// Between racks NCCL's own table puts NVLS-tree first: a ring of all their GPUs has too many steps, and the
/// published runs of 2 and 20 racks have its rate. None where there is no choice to make.
std::optional<AlgorithmRate> between_racks(const std::vector<AlgorithmRate>& rates,
                                           const GpuCluster& cluster) {
  if (!cluster.nvlink_rack() || cluster.domains() < 2 || rates.size() < 2) return std::nullopt;
  const auto found = std::ranges::find(rates, GpuAlgorithm::nvls_tree, &AlgorithmRate::algorithm);
  return found == rates.end() ? std::nullopt : std::optional(*found);
}

constexpr double kTreeInNcclsTable = 0.92;  // NCCL 2.30 src/graph/tuning.cc: of a tree's bandwidth

/// The quickest by what NCCL knows when it chooses: a ring's steps and a tree's lower rate, but not how late
/// a plugin's pipelines fill (Alps: trees up to 64 MiB on 8 nodes and 1 GiB on 128, where rings are quicker).
const AlgorithmRate& chosen_of(const std::vector<AlgorithmRate>& rates, OperationId id, double bytes,
                               const GpuCluster& cluster) {
  if (rates.size() < 2) return rates.front();
  GpuCluster known = cluster;
  known.transport = Transport::unknown;
  return *std::ranges::min_element(rates, {}, [&](AlgorithmRate rate) {
    if (rate.algorithm == GpuAlgorithm::tree && cluster.domains() > 1)
      rate.gigabytes_per_second *= kTreeInNcclsTable;
    return gpu_microseconds(operation(id), known, bytes, rate);
  });
}

/// Of the algorithm that it belongs to: 1 where that is another one.
double protocol_part(const AlgorithmRate& rate, const GpuRunFacts& run) {
  const std::optional<std::string>& algorithm = run.algorithm ? run.algorithm : run.table_choice;
  return run.protocol && is_it(algorithm, rate.algorithm) ? protocol_efficiency(*run.protocol) : 1;
}

/// GB/s of S at which the operation's busiest NIC carries its line rate, or the busiest GPU's NVLinks that of
/// their data sheet: more than that nothing can measure. PCIe counts as NCCL counts it, 24 of the 31.5 GB/s
/// of 16 lanes of Gen4, which no band makes up for.
double line_rate(const Operation& operation, const GpuCluster& cluster, GpuAlgorithm algorithm) {
  const LinkLoads loads = link_loads(operation, cluster, algorithm, 1);
  double rate = std::numeric_limits<double>::infinity();
  if (loads.nic && *loads.nic > 0) {
    const int nics_of_a_flow = algorithm == GpuAlgorithm::send_recv ? std::max(1, cluster.nics_per_gpu) : 1;
    rate = cluster.nic_line_rate * nics_of_a_flow / *loads.nic;
  }
  const topology::GpuModel* model = topology::find_gpu_model(cluster.gpu);
  if (model != nullptr && loads.nvlink && *loads.nvlink > 0)
    rate = std::min(rate, model->nvlink_gigabytes_per_second / *loads.nvlink);
  return rate;
}

}  // namespace

std::vector<AlgorithmRate> gpu_algorithms(OperationId id, const GpuCluster& cluster) {
  if (cluster.ranks() < 2) return {};
  std::vector<AlgorithmRate> rates = all_algorithms(id, cluster);
  const auto known = std::ranges::find_if(
      rates, [&](const AlgorithmRate& rate) { return is_it(cluster.run.algorithm, rate.algorithm); });
  if (known == rates.end()) return rates;
  return {*known};
}

double plateau_busbw(OperationId id, const GpuCluster& cluster) {
  const std::vector<AlgorithmRate> rates = gpu_algorithms(id, cluster);
  if (rates.empty()) return 0;
  return best_of(rates).gigabytes_per_second * bus_factor(operation(id), cluster.ranks());
}

Expectation expect_on_gpus(OperationId id, std::uint64_t size_bytes, const GpuCluster& cluster) {
  Expectation expected;
  const std::vector<AlgorithmRate> rates = gpu_algorithms(id, cluster);
  if (rates.empty() || size_bytes == 0) return expected;
  const auto bytes = static_cast<double>(size_bytes);
  const auto seconds = [&](const AlgorithmRate& rate) {
    return gpu_microseconds(operation(id), cluster, bytes, rate) * 1e-6;
  };
  for (const AlgorithmRate& rate : all_algorithms(id, cluster)) {
    if (rate.algorithm == GpuAlgorithm::ring) expected.ring_seconds = seconds(rate);
    if (rate.algorithm == GpuAlgorithm::tree) expected.tree_seconds = seconds(rate);
    if (rate.algorithm == GpuAlgorithm::nvls || rate.algorithm == GpuAlgorithm::nvls_tree)
      expected.nvls_seconds = seconds(rate);
  }
  const AlgorithmRate& best = *std::ranges::min_element(rates, {}, seconds);
  AlgorithmRate runs =
      by_table(rates, cluster.run)
          .value_or(between_racks(rates, cluster).value_or(chosen_of(rates, id, bytes, cluster)));
  runs.gigabytes_per_second *= protocol_part(runs, cluster.run);
  expected.expected_by = name(runs.algorithm);
  expected.limited_by = runs.limit.name;
  expected.expected_seconds = seconds(runs);
  // Whatever the table says, another algorithm may have run.
  const Band& edges = band(band_class(id, cluster), bytes, cluster.ranks());
  expected.fastest_seconds = std::min(seconds(best), *expected.expected_seconds) / edges.high;
  if (by_sends_and_receives(id)) {
    if (gpu_pattern(id) == GpuPattern::one_flow) *expected.fastest_seconds /= rate_of_later_channels(cluster);
    const double at_line_rate = bytes / (1e9 * line_rate(operation(id), cluster, best.algorithm));
    expected.fastest_seconds = std::max(*expected.fastest_seconds, at_line_rate);
  }
  expected.slowest_seconds = std::max(seconds(rates.front()), *expected.expected_seconds) / edges.low;
  return expected;
}

}  // namespace collbench::analysis
