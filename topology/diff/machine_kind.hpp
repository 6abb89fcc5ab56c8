#pragma once
#include <string>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// "8 × V100 SXM instead of 8 × H100 SXM" where no GPU of b is of a model that a has; else empty, also where
/// the models of one are not known.
[[nodiscard]] std::string different_gpus(const Host& a, const Host& b);

/// "no GPU and no fast NIC instead of 8 × H100 SXM and 8 NICs of 400 Gb/s" where all sources of b list
/// neither a GPU nor a NIC that may be one of a's fabric: not a node that lost its GPUs. Else empty, also
/// where a has no fast NIC.
[[nodiscard]] std::string without_gpus_and_fabric(const Host& a, const Host& b);

/// "16 NICs of 200 Gb/s instead of 8 of 400" where the two networks have neither the number of fast NICs in
/// common, by a factor of two, nor their rate: not a NIC that is missing or slow. Else empty.
[[nodiscard]] std::string different_nics(const Host& a, const Host& b);

}  // namespace collbench::topology
