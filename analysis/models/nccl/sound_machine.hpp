#pragma once
#include <string>
#include <vector>

#include "base/record/yardstick.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::analysis {

/// What a sound machine of the same kind is, and how that is known.
struct SoundMachine {
  topology::ResolvedMachine machine;
  Yardstick yardstick;
};

/// By a reference machine's name: that one. By anything else, which is evidence and no yardstick: the
/// reference machine with its GPUs and, where there is more than one node, its NICs; else its own devices
/// without what is damaged (as_sound), of several hosts those of the best. `found` has a host.
[[nodiscard]] SoundMachine sound_machine(const topology::ResolvedMachine& found, int nodes);

/// The host with each link, port and GPU as good as the best of its kind on it: no port down, no bridge of a
/// hypervisor in the way, GPUDirect as the hardware has it. What all of them lack stays lacking.
[[nodiscard]] topology::Host as_sound(topology::Host host);

}  // namespace collbench::analysis
