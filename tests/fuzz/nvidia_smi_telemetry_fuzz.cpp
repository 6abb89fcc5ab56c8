#include "topology/telemetry/nvidia_smi_telemetry.hpp"

#include <cstdint>
#include <cstdlib>

#include "base/error.hpp"
#include "topology/telemetry/telemetry_watch.hpp"

/// An Error with a message, or GPUs whose readings add up twice.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace collbench;
  using namespace collbench::topology;
  try {
    const auto gpus = read_nvidia_smi_telemetry({reinterpret_cast<const char*>(data), size}, "input");
    if (gpus.empty()) std::abort();
    TelemetryLog log;
    log.add(gpus, {});
    log.add(gpus, {.seconds_since_last = 1, .during = {1}, .since_last = {1}});
    if (log.gpus().empty() || log.readings() != 2) std::abort();
  } catch (const Error& error) {
    if (describe(error).empty()) std::abort();
  }
  return 0;
}
