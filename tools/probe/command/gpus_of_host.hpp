#pragma once
#include <functional>
#include <string>

#include "base/record/probe.hpp"
#include "tools/probe/gpu/gpu_probe.hpp"
#include "topology/telemetry/gpu_samples.hpp"

namespace collbench::program {

/// Puts what the driver read beside the windows, and what it says of each GPU, into the record.
void add_telemetry(ProbeRecord& record, const collectives::GpuProbeResult& result,
                   const std::vector<topology::GpuSample>& samples);

/// Measures this host's GPUs, with their clocks, power, temperature and throttle reasons beside each window,
/// and adds all of it to `record`. Throws Error (not_here) as collectives::probe_gpus.
void probe_gpus_of_host(ProbeRecord& record, const collectives::GpuProbe& probe);

}  // namespace collbench::program
