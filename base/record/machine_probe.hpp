#pragma once
#include <vector>

#include "base/record/fields.hpp"

namespace collbench {

/// What the machine was like beside a pass, as far as it may change what a row takes: one probe of about a
/// millisecond on all hosts, of which each figure is the worst. 0: not known,
/// but for what was stolen.
struct MachineProbe {
  /// Of a cache line between two neighboring ranks of a host and back: near 100 ns where the two cores share
  /// a cache, some microseconds where the ranks share a core. The label of the machine's state.
  double round_trip_seconds = 0;
  double steps_per_second = 0;       ///< of a chain of dependent integer operations: goes with the clock
  double read_bytes_per_second = 0;  ///< that one rank copies out of 8 MiB of its own
  /// Of the processor time that the host asked for since the probe before, what its hypervisor withheld.
  double stolen_share = 0;

  bool operator==(const MachineProbe&) const = default;
};

void each_field(auto& visit, Either<MachineProbe> auto& probe) {
  visit("round_trip_seconds", probe.round_trip_seconds, NumberOrNull{kSeconds, 0});
  visit("steps_per_second", probe.steps_per_second, NumberOrNull{kRate, 0});
  visit("read_bytes_per_second", probe.read_bytes_per_second, NumberOrNull{kRate, 0});
  visit("stolen_share", probe.stolen_share, NumberOrNull{kDifference, 0, true});
}

/// One array per figure (columns_to_json); null: not known.
[[nodiscard]] std::vector<MachineProbe> probes_from_json(const JsonReader& json);

}  // namespace collbench
