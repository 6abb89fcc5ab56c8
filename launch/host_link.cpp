#include "launch/host_link.hpp"

#include <algorithm>
#include <utility>

#include "launch/hosts/launch_address.hpp"

namespace collbench::launch {
namespace {

constexpr std::size_t kConnectionsOfARank = 2;  // its heartbeat and a report
// At the start all greet at once, each at its next look. A process has 1,024 files by default.
constexpr std::size_t kMaxThatGreetAtOnce = 256;

NetworkLimits limits_for(const Identities& machines) {
  const std::vector<int> ranks = ranks_per_node(machines);
  NetworkLimits limits;
  limits.connections = kConnectionsOfARank * machines.size();
  limits.strangers += std::min(kConnectionsOfARank * ranks.size(), kMaxThatGreetAtOnce);
  limits.line_bytes = max_report_bytes(static_cast<std::size_t>(*std::ranges::max_element(ranks)));
  return limits;
}

/// Where this rank listens; "" where it cannot.
std::vector<std::string> listen(HostLink& link) {
  const auto address = launch_address();
  if (!address) return {"", "0"};
  const auto port = link.network().listen(
      *address, {.answer = [&link](std::string_view line) { return link.watch().answer(line); },
                 .beat = [&link](std::string_view beat) { link.watch().found(beat); },
                 .lost = [&link](std::string_view last_beat) { link.watch().lost(last_beat); },
                 .crowded = [&link] { link.watch().crowded(); }});
  return port ? std::vector<std::string>{*address, std::to_string(*port)} : std::vector<std::string>{"", "0"};
}

}  // namespace

HostLink::HostLink(const Identities& machines, int rank, int timeout_looks, std::string secret)
    : watch_(machines, rank, timeout_looks), network_(std::move(secret), limits_for(machines)) {}

JoinedHosts join_hosts(Ranks& ranks, const Identities& machines, int timeout_looks) {
  if (node_count(machines) < 2) return {};
  const std::string secret = broadcast_text(ranks, ranks.is_root() ? random_word() : "");
  auto link = std::make_shared<HostLink>(machines, ranks.rank(), timeout_looks, secret);

  const std::vector<int> listening = listening_ranks(machines);
  const bool listens = std::ranges::find(listening, ranks.rank()) != listening.end();
  const std::vector<std::string> all = ranks.all_gather(listens ? packed(listen(*link)) : std::string());
  std::vector<WatchPoint> points;
  for (const int rank : listening) {
    const auto at = static_cast<std::size_t>(rank);
    const std::vector<std::string> where = unpacked(all.at(at));
    if (where.at(0).empty()) continue;
    points.push_back({.rank = rank,
                      .node = machines.at(at).node,
                      .address = {where.at(0), static_cast<std::uint16_t>(std::stoi(where.at(1)))}});
  }
  if (points.empty() || points.front().node != 0)
    return {nullptr, "no port of rank 0's host can be had on the network of the launcher"};
  std::unique_ptr<Heartbeat> heartbeat;
  if (const auto point = heartbeat_point(machines, points, ranks.rank()))
    heartbeat = std::make_unique<Heartbeat>(points.at(*point).address, secret);
  const auto ask = [network = &link->network()](auto to, const auto& line, auto done) {
    network->ask(std::move(to), line, std::move(done));
  };
  link->watch().begin(std::move(points), ask, std::move(heartbeat));
  return {std::move(link), ""};
}

}  // namespace collbench::launch
