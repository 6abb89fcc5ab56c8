#pragma once
#include <optional>
#include <vector>

#include "topology/diff/finding.hpp"

namespace collbench::analysis {

/// AllReduce of 8 GiB as `predict` shows it: bus bandwidth in GB/s (1e9 bytes). None where there is no such
/// algorithm, or nothing to predict from.
struct PredictedRates {
  std::optional<double> ring;
  std::optional<double> tree;
  std::optional<double> best;

  bool operator==(const PredictedRates&) const = default;
};

/// Rates of `nodes` machines like this one, a rank on each GPU. All none where the machine cannot be
/// modelled: no GPU, an unknown model, no NIC between nodes.
[[nodiscard]] PredictedRates predicted_rates(const topology::Host& host, int nodes);

/// What one finding takes from a job on machines that have it all.
struct FindingCost {
  int nodes = 1;
  PredictedRates healthy;
  PredictedRates faulty;

  /// GB/s that the best algorithm loses; negative where it gains. 0 where nothing can be predicted.
  [[nodiscard]] double lost() const;
  [[nodiscard]] bool changes() const { return !(healthy == faulty); }
};

/// For one node and, where NICs are known, for two.
[[nodiscard]] std::vector<FindingCost> finding_costs(const topology::HostPair& pair,
                                                     const topology::Finding& finding);

}  // namespace collbench::analysis
