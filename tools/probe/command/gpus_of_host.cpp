#include "tools/probe/command/gpus_of_host.hpp"

#include <algorithm>
#include <utility>

#include "src/run/telemetry.hpp"
#include "tools/probe/processor/processor_probe.hpp"
#include "topology/graph/pci.hpp"

namespace collbench::program {
namespace {

const ProbeGpu* gpu_of(const ProbeRecord& record, const ProbePart& part) {
  const auto found = std::find_if(record.gpus.begin(), record.gpus.end(),
                                  [&](const ProbeGpu& gpu) { return gpu.name == part.name; });
  return found == record.gpus.end() ? nullptr : &*found;
}

/// By the driver's last reading of a GPU of the same address.
void describe(ProbeGpu& gpu, const std::vector<topology::GpuSample>& samples) {
  const std::string address = topology::canonical_pci_address(gpu.address).value_or(gpu.address);
  for (const topology::GpuSample& sample : samples) {
    for (const topology::GpuReading& reading : sample.gpus) {
      if (reading.address != address) continue;
      gpu.power_limit_watts = reading.power_limit_watts;
      gpu.driver = reading.driver;
    }
  }
}

}  // namespace

void add_telemetry(ProbeRecord& record, const collectives::GpuProbeResult& result,
                   const std::vector<topology::GpuSample>& samples) {
  record.gpus = result.gpus;
  for (ProbeGpu& gpu : record.gpus) describe(gpu, samples);
  for (const collectives::GpuMeasurement& measured : result.measurements) {
    ProbeMeasurement about = measured.about;
    for (std::size_t i = 0; i < about.parts.size() && !samples.empty(); ++i) {
      const ProbeGpu* const gpu = gpu_of(record, about.parts[i]);
      if (gpu == nullptr) continue;  // a pair
      for (const collectives::WindowSpan& span : measured.spans[i])
        about.parts[i].telemetry.push_back(topology::gpu_window(samples, gpu->address, span.begin, span.end));
    }
    record.measurements.push_back(std::move(about));
  }
}

void probe_gpus_of_host(ProbeRecord& record, const collectives::GpuProbe& probe) {
  const collectives::HostClock clock;
  // Two readings of a window at least.
  constexpr double kReadingsOfWindow = 4;
  topology::GpuSampler sampler(gpu_readers(), clock,
                               std::min(0.5, collectives::gpu_window_seconds(probe) / kReadingsOfWindow));
  const collectives::GpuProbeResult result = collectives::probe_gpus(probe, clock);
  add_telemetry(record, result, sampler.finish());
  if (!sampler.failure().empty()) {
    record.notes.push_back("clocks, power and temperature of GPUs: not known: " + sampler.failure());
  }
  record.gpu_window_seconds = collectives::gpu_window_seconds(probe);
  record.failures = result.failures;
  record.notes.insert(record.notes.end(), result.notes.begin(), result.notes.end());
}

}  // namespace collbench::program
