#pragma once
#include <cstdlib>
#include <sstream>
#include <string>

#include "tests/collectives/nccl/stand_in/cuda_stream.hpp"
#include "tests/collectives/nccl/stand_in/injected_fault.hpp"

// The time that the stand-ins' GPUs count for a probe's work: work is said to take seconds, its events are
// apart by these and not by the host's clock, so that a GPU is exactly as slow as a test wants it. The rates
// say nothing of anything: a product runs at 0.1 TFLOP/s in every type, memory and links at some GB/s.
//
// COLLBENCH_STAND_IN_SLOW: "GPU:WHAT:TIMES,…" makes WHAT (gemm, hbm, triad, h2d, d2h, peer, or all) of that
// GPU take TIMES as long; TIMES "ecc": the GPU fails there; "later": twice as long from a second of its work
// on; "hang": it never ends, nor does what waits for it (fill: what fills memory). GPU:receive:ecc and :hang
// are of copies to it, GPU:look:ecc of what asks for its memory (taken: another process has it).
// GPU:gemm:full: cuBLASLt has no memory left for its products. COLLBENCH_STAND_IN_SLEEP=1: work also lasts as
// long by the host's clock.

namespace collbench::collectives {

/// What COLLBENCH_STAND_IN_SLOW says of it; empty: nothing.
inline std::string stand_in_slowness(int gpu, const std::string& what) {
  const char* const text = std::getenv("COLLBENCH_STAND_IN_SLOW");
  std::istringstream entries(text == nullptr ? "" : text);
  for (std::string entry; std::getline(entries, entry, ',');) {
    std::istringstream words(entry);
    std::string of_gpu;
    std::string of;
    std::string times;
    std::getline(words, of_gpu, ':');
    std::getline(words, of, ':');
    std::getline(words, times, ':');
    if (of_gpu == std::to_string(gpu) && (of == what || of == "all")) return times;
  }
  return {};
}

/// As work that a GPU never ends.
inline void hang() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

/// To be run on the stream: that work which takes `seconds` is done.
inline void pass_time(CudaStreamObject& stream, const std::string& what, double seconds) {
  constexpr double kLater = 1;
  const std::string slow = stand_in_slowness(stream.device, what);
  if (slow == "ecc") {
    const std::lock_guard lock(stream.mutex);
    stream.error = CudaResult::ecc_uncorrectable;
    return;
  }
  if (slow == "hang") hang();
  if (slow == "later")
    seconds *= stream.simulated_seconds > kLater ? 2 : 1;
  else if (!slow.empty() && !slow.starts_with("wrong"))
    seconds *= std::atof(slow.c_str());
  stream.simulated_seconds += seconds;
  if (stand_in_number("COLLBENCH_STAND_IN_SLEEP", 0) != 0)
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

}  // namespace collbench::collectives
