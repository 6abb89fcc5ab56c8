#include "analysis/models/host/algorithms.hpp"

#include <bit>

namespace collbench::analysis {

std::span<const HostAlgorithm> host_algorithms(OperationId operation) {
  switch (operation) {
    case OperationId::all_reduce:
      return host_all_reduce_algorithms();
    case OperationId::all_gather:
      return host_all_gather_algorithms();
    case OperationId::reduce_scatter:
      return host_reduce_scatter_algorithms();
    case OperationId::all_to_all:
      return host_all_to_all_algorithms();
    case OperationId::send_recv:
      return host_send_recv_algorithms();
    case OperationId::ping_pong:
      return host_ping_pong_algorithms();
    case OperationId::broadcast:
      return host_broadcast_algorithms();
    case OperationId::reduce:
      return host_reduce_algorithms();
    case OperationId::gather:
      return host_gather_algorithms();
    case OperationId::scatter:
      return host_scatter_algorithms();
    case OperationId::all_to_all_v:
      return host_all_to_all_v_algorithms();
    case OperationId::hypercube:
      return {};  // no MPI call is one
  }
  return {};
}

bool any_ranks(int /*ranks*/) { return true; }
bool never_by_choice(int /*ranks*/) { return false; }
bool two_ranks(int ranks) { return ranks == 2; }
bool even_ranks(int ranks) { return ranks % 2 == 0; }
bool power_of_two_ranks(int ranks) { return std::has_single_bit(static_cast<unsigned>(ranks)); }

}  // namespace collbench::analysis
