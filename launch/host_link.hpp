#pragma once
#include <memory>
#include <string>

#include "base/record/identities.hpp"
#include "launch/hosts/host_network.hpp"
#include "launch/hosts/host_watch.hpp"
#include "launch/ranks.hpp"

namespace collbench::launch {

/// What this rank knows of the other hosts, and the socket by which it hears of them.
class HostLink {
 public:
  HostLink(const Identities& machines, int rank, int timeout_looks, std::string secret);
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;
  /// The run is over for this rank.
  ~HostLink() { watch_.farewell(); }

  [[nodiscard]] HostWatch& watch() { return watch_; }
  [[nodiscard]] HostNetwork& network() { return network_; }

 private:
  HostWatch watch_;
  HostNetwork network_;  // ends first: it calls the watch
};

struct JoinedHosts {
  std::shared_ptr<HostLink> link;  ///< none on a single host, and where there is an obstacle
  std::string obstacle;            ///< why the hosts cannot watch each other; the same on all ranks
};

/// Lets the hosts of a run hear of each other, over the launcher's network; the run's secrets come from rank
/// 0 by MPI. Collective.
[[nodiscard]] JoinedHosts join_hosts(Ranks& ranks, const Identities& machines, int timeout_looks);

}  // namespace collbench::launch
