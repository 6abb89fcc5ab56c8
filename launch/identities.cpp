#include "launch/identities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "base/error.hpp"

namespace collbench::launch {
namespace {

Error bad_map(std::string_view text, const std::string& what) {
  return usage_error("--node-map", fmt::format("'{}' {}", text, what),
                     "list the ranks of each node, with commas between nodes: 0-7,8-15 or 0+2,1+3");
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<int> parse_rank(std::string_view text) {
  int rank = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (failure != std::errc() || end != text.data() + text.size() || rank < 0) return std::nullopt;
  return rank;
}

}  // namespace

std::vector<int> parse_node_map(std::string_view text, int ranks) {
  std::vector<int> node_of(static_cast<std::size_t>(ranks), -1);
  int node = 0;
  for (const std::string_view members : split(text, ',')) {
    for (const std::string_view range : split(members, '+')) {
      const auto ends = split(range, '-');
      const auto first = parse_rank(ends.front());
      const auto last = parse_rank(ends.back());
      if (ends.size() > 2 || !first || !last || *first > *last)
        throw bad_map(text, fmt::format("has '{}', which is neither a rank nor a range of ranks", range));
      if (*last >= ranks) {
        throw bad_map(text,
                      fmt::format("names rank {}, but there {}", *last,
                                  ranks == 1 ? "is rank 0 alone"
                                             : fmt::format("are {} ranks (0 to {})", ranks, ranks - 1)));
      }
      for (int rank = *first; rank <= *last; ++rank) {
        if (std::exchange(node_of[static_cast<std::size_t>(rank)], node) != -1) {
          throw bad_map(text, fmt::format("names rank {} twice", rank));
        }
      }
    }
    ++node;
  }
  const auto missing = std::ranges::find(node_of, -1);
  if (missing != node_of.end()) {
    throw bad_map(text, fmt::format("leaves out rank {} of {}", missing - node_of.begin(), ranks));
  }
  return node_of;
}

Identities discover_identities(Ranks& ranks, const std::string& host, int shared_memory_leader,
                               const std::optional<std::vector<int>>& node_map) {
  const std::vector<std::string> hosts = ranks.all_gather(host);
  const std::vector<int> leaders = all_gather_values(ranks, shared_memory_leader);
  std::map<int, int> node_of_key;
  std::map<int, int> next_local;
  Identities identities;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    const int key = node_map ? node_map->at(at) : leaders[at];
    const int node = node_of_key.try_emplace(key, static_cast<int>(node_of_key.size())).first->second;
    identities.push_back({.rank = rank,
                          .host = node_map ? fmt::format("{}#{}", hosts[at], node) : hosts[at],
                          .node = node,
                          .local_rank = next_local[node]++});
  }
  return identities;
}

}  // namespace collbench::launch
