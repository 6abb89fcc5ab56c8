#pragma once
#include <optional>
#include <string_view>

#include "analysis/gpu/cluster.hpp"
#include "base/record/operation.hpp"

namespace collbench {

/// What a measured rate means for the links, GB/s in one direction; none where no byte takes such a link.
struct LinkLoads {
  std::optional<double> nic;     ///< each NIC of a domain
  std::optional<double> nvlink;  ///< each NVLink of a GPU

  bool operator==(const LinkLoads&) const = default;
};

/// The loads while `algorithm` (its name in AlgorithmRate) runs at `algbw` GB/s of S. A wire carries the
/// bytes that the algorithm sends, which busbw is for the ring only (NVIDIA/nccl-tests issue 164).
[[nodiscard]] LinkLoads link_loads(const Operation& operation, const GpuCluster& cluster,
                                   std::string_view algorithm, double algbw);

}  // namespace collbench
