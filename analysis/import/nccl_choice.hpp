#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace collbench::analysis {

/// A choice that NCCL wrote: "AllReduce: 1048576 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..23}" (2.24
/// and newer), "AllReduce: 1048576 Bytes -> Algo 1 proto 0 time 40.1" (2.20 to 2.23; until 2.22 without the
/// operation).
struct NcclLoggedChoice {
  std::string algorithm;  ///< as --algo has it
  std::string protocol;   ///< as --proto has it
  int channels = 0;       ///< 0: not in the line
  std::optional<double> expected_seconds;

  bool operator==(const NcclLoggedChoice&) const = default;
};

inline constexpr int kMaxLoggedChannels = 1024;  ///< of NCCL there are 32 or 64

/// "CollNetDirect" and "COLLNET_DIRECT" as "collnet_direct", 1 as "ring": names since 2.24, numbers before
/// (NcclAlgorithm).
[[nodiscard]] std::string logged_algorithm(std::string_view word);

/// That in one line of NCCL's.
[[nodiscard]] std::optional<NcclLoggedChoice> nccl_choice_in(std::string_view text);

}  // namespace collbench::analysis
