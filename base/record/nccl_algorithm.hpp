#pragma once
#include "base/record/words.hpp"

namespace collbench {

// By NCCL's numbers (NCCL_ALGO_* and NCCL_PROTO_* of src/include/device.h), in the words of --algo, --proto
// and records. Constants alone: the observer library has them, too.

enum class NcclAlgorithm { tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat };
template <>
inline constexpr std::array<std::string_view, 7> kWords<NcclAlgorithm>{
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};

enum class NcclProtocol { ll, ll128, simple };
template <>
inline constexpr std::array<std::string_view, 3> kWords<NcclProtocol>{"ll", "ll128", "simple"};

/// As NCCL writes it: NCCL_PROTO.
[[nodiscard]] constexpr std::string_view nccl_word(NcclProtocol protocol) {
  constexpr std::array<std::string_view, 3> kNames{"LL", "LL128", "Simple"};
  return kNames.at(static_cast<std::size_t>(protocol));
}

}  // namespace collbench
