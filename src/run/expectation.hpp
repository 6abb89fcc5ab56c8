#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/sound_machine.hpp"
#include "base/record/identities.hpp"
#include "base/record/run.hpp"
#include "base/record/traffic_matrix.hpp"
#include "collectives/engine/backend.hpp"
#include "topology/cluster/cluster_topology.hpp"

namespace collbench::program {

/// How the note begins that a run without expectations has; judged by a topology it has them.
inline constexpr std::string_view kNothingExpected = "no row has an expectation or a verdict: ";

/// What the rows of a run on GPUs are judged by.
struct JudgedBy {
  analysis::SoundMachine sound;
  analysis::GpuCluster cluster;
};

/// A sound machine like `expect`, where that names one, else like `machines`, which the run is on. None when
/// no machine shows a GPU or the nodes have different numbers of ranks: `notes` then gets a line that says
/// so.
[[nodiscard]] std::optional<JudgedBy> judged_by(const topology::ClusterTopology& machines,
                                                const Identities& identities, const std::string& expect,
                                                std::vector<std::string>& notes);

/// The reference machine that the user named for a run; empty for none.
[[nodiscard]] std::string named_machine(const Run& run);

/// A run that was judged, anew by the machines in its record; as it is where these cannot be modeled.
[[nodiscard]] Run judged_by_own_machine(Run run);

/// What the rows of a run are expected to take, from either kind of model.
class RowExpectations {
 public:
  /// Of a run without a model: nothing is expected.
  RowExpectations() = default;

  /// By the run's calibration: worked out once, here, since nothing else but the rows' keys goes into it.
  [[nodiscard]] static RowExpectations from_calibration(const Run& run, const std::vector<RowKey>& rows,
                                                        const collectives::Backend& backend,
                                                        const TrafficMatrix& traffic);

  /// By the links of `cluster` and the algorithms that the library turns out to choose, which only the
  /// measured rows tell.
  [[nodiscard]] static RowExpectations from_links(analysis::GpuCluster cluster);

  /// Whether all is known before a row has run.
  [[nodiscard]] bool need_no_measurement() const { return !cluster_; }

  /// Writes into the rows of `run` what is expected of them; by links also a verdict; and of steps who is
  /// waited for.
  void apply(Run& run) const;

 private:
  std::vector<Expectation> by_row_;
  std::optional<analysis::GpuCluster> cluster_;
};

}  // namespace collbench::program
