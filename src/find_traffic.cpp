#include "src/find_traffic.hpp"

#include <fmt/format.h>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "launch/agreement.hpp"

namespace collbench {

TrafficMatrix find_traffic(const RunOptions& options, const RunPlace& place, Ranks& ranks) {
  if (options.counts_path.empty()) return traffic_by_distance(ranks.size());
  TrafficMatrix traffic;
  agreed(ranks, place.host, [&] {
    if (!ranks.is_root()) return;
    traffic = parse_traffic_matrix(read_file(options.counts_path), options.counts_path);
    if (traffic.ranks == ranks.size()) return;
    throw usage_error(
        "--counts",
        fmt::format("{} is for {} ranks, and there are {}", options.counts_path, traffic.ranks, ranks.size()),
        fmt::format("start {} ranks, or give {} lines of {} numbers", traffic.ranks, ranks.size(),
                    ranks.size()));
  });
  traffic.source = options.counts_path;
  traffic.ranks = ranks.size();
  traffic.weights.resize(static_cast<std::size_t>(ranks.size()) * static_cast<std::size_t>(ranks.size()));
  ranks.broadcast(std::as_writable_bytes(std::span(traffic.weights)), 0);
  return traffic;
}

}  // namespace collbench
