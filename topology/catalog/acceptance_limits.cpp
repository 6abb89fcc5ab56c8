#include "topology/catalog/acceptance_limits.hpp"

#include <algorithm>
#include <array>

#include "base/units.hpp"

namespace collbench::topology {
namespace {

// Sizes as the checks name them; "G" is nccl-tests' GiB.
constexpr std::array<AcceptanceLimit, 4> kLimits{{
    {"ndv5", "AllReduce", 1, 8, 16 * kGiB, 460,
     "Azure/azurehpc-health-checks conf/nd96is_h100_v5.conf, 2026-05"},
    {"ndv4", "AllReduce", 1, 8, 16 * kGiB, 228,
     "Azure/azurehpc-health-checks conf/nd96amsr_a100_v4.conf, 2026-05"},
    {"a3-mega", "AllReduce", 2, 8, 16 * kGiB, 300,
     "NVIDIA/aicr recipes/overlays/h100-gke-cos-training.yaml, 2026-06"},
    {"a3-mega", "AllGather", 2, 8, 2 * kGiB, 150,
     "GoogleCloudPlatform/cluster-toolkit, AllGather 2 to 8 GiB"},
}};

}  // namespace

const AcceptanceLimit* acceptance_limit(std::string_view machine, std::string_view operation, int nodes,
                                        std::uint64_t size_bytes) {
  const auto* found = std::ranges::find_if(kLimits, [&](const AcceptanceLimit& limit) {
    return limit.machine == machine && limit.operation == operation && limit.nodes == nodes &&
           size_bytes >= limit.from_bytes;
  });
  return found == kLimits.end() ? nullptr : found;
}

}  // namespace collbench::topology
