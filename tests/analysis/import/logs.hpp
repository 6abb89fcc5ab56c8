#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace collbench::analysis {

// Logs in the formats of nccl-tests, made up for the tests: four ranks on two hosts.

inline constexpr std::string_view kNewHeading =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
    "busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  "
    "(GB/s)       \n";

inline constexpr std::string_view kOldHeading =
    "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  "
    "error\n";

inline constexpr std::string_view kTwoRows =
    "           8             2     float     sum      -1    20.00    0.00    0.00      0    21.00    0.00   "
    " "
    "0.00      0\n"
    "  1000000000     250000000     float     sum      -1    10000  100.00  150.00      0    12500   80.00  "
    "120.00      0\n";

inline constexpr std::string_view kFooter =
    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 67.5\n#\n";

inline std::string devices(std::string_view gpu = "NVIDIA H100 80GB HBM3") {
  std::string text = "# Using devices\n";
  for (int rank = 0; rank < 4; ++rank) {
    text += fmt::format("#  Rank {:2} Group  0 Pid {:6} on  node0{} device {:2} [0x{}f] {}\n", rank,
                        100 + rank, 1 + rank / 2, rank % 2, rank, gpu);
  }
  return text;
}

inline std::string whole_log() {
  return "# nccl-tests version 2.17.6 nccl-headers=22706 nccl-library=22706\n"
         "# Collective test starting: all_reduce_perf\n"
         "# nThread 1 nGpus 1 minBytes 8 maxBytes 1000000000 step: 2(factor) warmup iters: 5 iters: 20 agg "
         "iters: 1 validation: 1 graph: 0\n#\n" +
         devices() + "NCCL version 2.27.6+cuda12.9\n#\n" + std::string(kNewHeading) + std::string(kTwoRows) +
         std::string(kFooter);
}

/// `row` of four ranks whose program nothing names.
inline std::string nameless(const std::string& row) {
  return "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20\n#\n" +
         devices() + std::string(kNewHeading) + row + std::string(kFooter);
}

/// `text` with `prefix` before every line.
inline std::string prefixed(std::string_view text, std::string_view prefix) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    result += prefix;
    result += text.substr(0, end);
    text.remove_prefix(end);
  }
  return result;
}

}  // namespace collbench::analysis
