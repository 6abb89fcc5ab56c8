#pragma once
#include <optional>
#include <vector>

#include "analysis/models/host/calibration_fit.hpp"
#include "base/record/calibration.hpp"
#include "base/record/identities.hpp"

namespace collbench::analysis {

/// How one tier of links carries messages.
struct MessageTier {
  double alpha_seconds = 0;
  double gap_seconds = 0;        ///< a rank's next message follows after this at the soonest
  double eager_limit_bytes = 0;  ///< up to it a sender does not wait for its receiver
  /// A message above the eager limit keeps the link this much longer when its receiver sends to its sender in
  /// the same round: 1, both directions go at once; 2, one after the other.
  double exchange_factor = 1;
  TimeCurve standing;   ///< one message of data that stays where it is
  TimeCurve forwarded;  ///< one message of what the sender has just received or reduced
};

/// Whether an algorithm sends its own untouched buffer or passes on what it has received.
enum class SentData { standing, forwarded };

/// What the formulas of host-memory collectives are evaluated on: the calibration, by rank.
struct HostModel {
  std::vector<int> node;             ///< of each rank
  std::vector<int> ranks_on_node;    ///< of each node
  MessageTier intra;                 ///< unused when no node has two ranks
  MessageTier inter;                 ///< unused on one node
  double host_bytes_per_second = 0;  ///< what leaves (or enters) one host in total; 0: as much as its flows
  TimeCurve reduce;                  ///< reducing one operand into another
  TimeCurve copy;                    ///< memcpy

  [[nodiscard]] int ranks() const { return static_cast<int>(node.size()); }
  [[nodiscard]] int nodes() const { return static_cast<int>(ranks_on_node.size()); }
};

/// The model for a row that reduces as `type` and `reduction` say (none: it does not reduce). Curves are the
/// calibration's points where there are any, else the lines of its α, B, γ and κ. None when the calibration
/// lacks a tier that the ranks use, or the γ.
[[nodiscard]] std::optional<HostModel> host_model(const Calibration& calibration,
                                                  const Identities& identities, DataType type,
                                                  std::optional<Reduction> reduction);

}  // namespace collbench::analysis
