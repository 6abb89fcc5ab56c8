#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "base/record/run.hpp"
#include "launch/ranks.hpp"
#include "src/run_place.hpp"
#include "topology/telemetry_watch.hpp"

namespace collbench {

/// How the GPUs fare while a run measures. Does nothing on host memory, and when nobody wants to know.
class RunTelemetry {
 public:
  /// `place` outlives it.
  RunTelemetry(const RunPlace& place, bool wanted) : place_(place), wanted_(wanted && place.on_gpus) {}

  /// Begins, on the first rank of each host.
  void begin(const Ranks& ranks);
  /// The row that runs from now on; none between rows.
  void running(std::optional<std::size_t> row);
  /// Ends, and writes into the record what was seen: on rank 0. Collective.
  void end(Ranks& ranks, Run& run);
  /// Marks the rows of the record, once it is known which.
  void mark_rows(Run& run) const;

 private:
  const RunPlace& place_;
  bool wanted_;
  std::optional<TelemetryWatch> watch_;
  std::map<std::size_t, std::vector<RowMark>> marks_;  // by row
};

}  // namespace collbench
