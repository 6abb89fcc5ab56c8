#pragma once
#include <cstdint>
#include <string_view>

namespace collbench::topology {

/// What a provider's own health check asks of a machine of this name before it is handed out.
struct AcceptanceLimit {
  std::string_view machine;    ///< of `topo list`
  std::string_view operation;  ///< "AllReduce"
  int nodes = 1;
  int gpus_per_node = 8;
  std::uint64_t from_bytes = 0;     ///< the smallest size that it is asked of
  double gigabytes_per_second = 0;  ///< bus bandwidth, 1e9 bytes
  std::string_view source;
};

/// The one for a row; null where there is none.
[[nodiscard]] const AcceptanceLimit* acceptance_limit(std::string_view machine, std::string_view operation,
                                                      int nodes, std::uint64_t size_bytes);

}  // namespace collbench::topology
