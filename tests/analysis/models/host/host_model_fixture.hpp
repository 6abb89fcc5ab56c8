#pragma once
#include <string>

#include "analysis/models/host/host_model.hpp"

namespace collbench::analysis {

/// What the models' tests compute with: round numbers, work that takes no time unless a test sets it.
inline constexpr double kAlphaIntra = 1e-6;
inline constexpr double kAlphaInter = 10e-6;
inline constexpr double kIntraRate = 50e9;
inline constexpr double kInterRate = 25e9;
inline constexpr std::uint64_t kEagerLimit = 65535;

/// `nodes` × `ranks_per_node` ranks, the ranks of a node in a row.
inline Identities in_node_order(int nodes, int ranks_per_node) {
  Identities identities;
  for (int rank = 0; rank < nodes * ranks_per_node; ++rank) {
    identities.push_back({.rank = rank,
                          .host = "node" + std::to_string(rank / ranks_per_node),
                          .node = rank / ranks_per_node,
                          .local_rank = rank % ranks_per_node});
  }
  return identities;
}

/// Rank r on node r mod `nodes`.
inline Identities cyclic(int nodes, int ranks_per_node) {
  Identities identities;
  for (int rank = 0; rank < nodes * ranks_per_node; ++rank) {
    identities.push_back({.rank = rank,
                          .host = "node" + std::to_string(rank % nodes),
                          .node = rank % nodes,
                          .local_rank = rank / nodes});
  }
  return identities;
}

/// Both tiers; a host sends `flows_per_host` flows at full rate at once. γ and κ are 0.
inline Calibration two_tier_calibration(double flows_per_host = 1) {
  Calibration calibration;
  calibration.intra =
      Tier{.alpha_seconds = kAlphaIntra, .bytes_per_second = kIntraRate, .eager_limit_bytes = kEagerLimit};
  calibration.inter =
      Tier{.alpha_seconds = kAlphaInter, .bytes_per_second = kInterRate, .eager_limit_bytes = kEagerLimit};
  calibration.inter_host_bytes_per_second = flows_per_host * kInterRate;
  calibration.gammas = {{.type = DataType::float32, .reduction = Reduction::sum, .seconds_per_byte = 0}};
  return calibration;
}

inline HostModel model_of(const Identities& identities,
                          const Calibration& calibration = two_tier_calibration()) {
  return *host_model(calibration, identities, DataType::float32, Reduction::sum);
}

}  // namespace collbench::analysis
