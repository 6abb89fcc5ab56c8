#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

enum class PortCondition {
  up,         ///< carries traffic
  no_subnet,  ///< INIT or ARMED: there is a link, and no subnet manager has made the port active
  down,
};

/// A port of InfiniBand of which is known whether it carries traffic. A port of Ethernet that is down may be
/// meant to be.
struct InfinibandPort {
  std::size_t nic = 0;   ///< position in Host::nics
  std::size_t port = 0;  ///< position in Nic::ports
  PortCondition condition = PortCondition::up;
  std::vector<const NicPort*> siblings_up;  ///< of the same kind of card, with as many ports, that are up
  std::size_t siblings = 0;                 ///< the same, whatever their condition

  /// One that is down alone of its kind is usual, a spare or one for management, and one of two is in doubt,
  /// as are several of which none is up; among cards of the same kind that are up, it is a lost rail.
  [[nodiscard]] bool is_lost() const;
};

/// Of the host, which must outlive them.
[[nodiscard]] std::vector<InfinibandPort> infiniband_ports(const Host& host);

/// Whether nothing is found in such ports because they are well: at least one is up, and of none that is down
/// is in doubt whether it should be.
[[nodiscard]] bool may_clear(const std::vector<InfinibandPort>& ports);

/// What tells cards of one kind: the board, else the first number of NVIDIA's firmware, which is that of the
/// chip (28 is ConnectX-7). Empty where neither is known.
[[nodiscard]] std::string card_kind(const Nic& nic);

}  // namespace collbench::topology
