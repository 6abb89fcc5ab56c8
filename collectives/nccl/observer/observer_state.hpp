#pragma once
#include <string_view>

namespace collbench::collectives {

// What the two plugins in this library see, kept for the program, which asks for it by the functions of
// observer_interface.hpp. NCCL loads the library once per process and may call it from any of its threads.

/// Kinds of events that NCCL is asked for (ncclProfileColl, ncclProfileP2p: the same in all versions).
inline constexpr unsigned kCollectiveEvent = 1U << 1U;
inline constexpr unsigned kPeerToPeerEvent = 1U << 2U;

/// NCCL has loaded us as its profiler; `event_mask`, which stays NCCL's, says which events it makes from now
/// on: none, unless we watch.
void loaded_as_profiler(int version, int* event_mask);
void loaded_as_tuner(int version);

[[nodiscard]] bool watching();

/// The operation at hand runs by these; names in NCCL's words. Ignored unless we watch.
void record_selection(std::string_view algorithm, std::string_view protocol, int channels);

/// NCCL's cost table of an operation: `algorithms` rows of `protocols` times in µs, negative for what there
/// is not. Ignored unless we watch.
void record_cost_table(const float* costs, int algorithms, int protocols);

/// NCCL's algorithms and protocols by number, in our words; what is newer than this library is "newer".
/// Source: NCCL_ALGO_* and NCCL_PROTO_* in NVIDIA/nccl, src/include/plugin/nccl_tuner.h, 2.23 to 2.30 (PAT is
/// not in 2.22).
[[nodiscard]] std::string_view algorithm_name(int number);
[[nodiscard]] std::string_view protocol_name(int number);

}  // namespace collbench::collectives
