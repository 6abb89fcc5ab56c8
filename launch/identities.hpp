#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/identities.hpp"
#include "launch/ranks.hpp"

namespace collbench::launch {

/// Reads --node-map: nodes separated by commas, each a list of ranks or ranges joined by "+": "0-7,8-15" or
/// "0+2,1+3". Gives the node of every rank. Throws Error (usage) unless each of `ranks` ranks stands in it
/// exactly once.
[[nodiscard]] std::vector<int> parse_node_map(std::string_view text, int ranks);

/// Who is where. Collective. `shared_memory_leader` tells nodes apart unless `node_map` (node by rank)
/// overrides it; then hosts are named HOST#NODE.
[[nodiscard]] Identities discover_identities(Ranks& ranks, const std::string& host, int shared_memory_leader,
                                             const std::optional<std::vector<int>>& node_map);

}  // namespace collbench::launch
