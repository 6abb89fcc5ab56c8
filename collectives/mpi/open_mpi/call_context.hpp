#pragma once
#include <cstddef>
#include <cstdint>

#include "base/record/operation.hpp"

namespace collbench::collectives {

/// One call of a collective, as far as the library's choice of algorithm depends on it.
struct CollectiveCall {
  OperationId operation = OperationId::all_reduce;
  std::uint64_t count = 0;        ///< elements: the count argument of the call, as in RowKey::count
  std::size_t element_bytes = 1;  ///< bytes of one element
  int ranks = 1;                  ///< size of the communicator
  bool commutative = true;        ///< whether the reduction's MPI_Op is; true for operations without one
  bool in_place = false;          ///< the send buffer is MPI_IN_PLACE
};

}  // namespace collbench::collectives
