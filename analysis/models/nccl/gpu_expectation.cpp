#include "analysis/models/nccl/gpu_expectation.hpp"

#include <algorithm>

#include "analysis/models/nccl/algorithms.hpp"
#include "analysis/models/nccl/bands.hpp"

namespace collbench::analysis {
namespace {

std::vector<AlgorithmRate> all_algorithms(OperationId id, const GpuCluster& cluster) {
  switch (gpu_pattern(id)) {
    case GpuPattern::all_reduce: {
      std::vector<AlgorithmRate> rates{gpu_ring(operation(id), cluster), gpu_tree(cluster)};
      if (const auto nvls = gpu_nvls(cluster)) rates.push_back(*nvls);
      return rates;
    }
    case GpuPattern::ring:
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
  return *std::max_element(rates.begin(), rates.end(), [](const AlgorithmRate& a, const AlgorithmRate& b) {
    return a.gigabytes_per_second < b.gigabytes_per_second;
  });
}

}  // namespace

std::vector<AlgorithmRate> gpu_algorithms(OperationId id, const GpuCluster& cluster) {
  if (cluster.ranks() < 2) return {};
  std::vector<AlgorithmRate> rates = all_algorithms(id, cluster);
  const auto known = std::find_if(rates.begin(), rates.end(), [&](const AlgorithmRate& rate) {
    return cluster.run.algorithm == std::string(rate.name);
  });
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
    return gpu_microseconds(operation(id), cluster, bytes, rate.gigabytes_per_second) * 1e-6;
  };
  for (const AlgorithmRate& rate : all_algorithms(id, cluster)) {
    if (rate.name == "ring") expected.ring_seconds = seconds(rate);
    if (rate.name == "tree") expected.tree_seconds = seconds(rate);
  }
  const AlgorithmRate& best = best_of(rates);
  expected.expected_seconds = seconds(best);
  expected.expected_by = best.name;
  expected.limited_by = best.limit.name;
  const Band& edges = band(band_class(id, cluster), bytes, cluster.ranks());
  expected.fastest_seconds = *expected.expected_seconds / edges.high;
  expected.slowest_seconds = seconds(rates.front()) / edges.low;
  return expected;
}

}  // namespace collbench::analysis
