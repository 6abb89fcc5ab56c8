#pragma once
#include <mpi.h>

#include <map>
#include <utility>

#include "base/record/data_type.hpp"

namespace collbench::collectives {

/// MPI's name for elements of `type`; 16-bit floats travel as MPI_UINT16_T, which MPI can move but not
/// reduce.
[[nodiscard]] MPI_Datatype mpi_type(DataType type);

/// Whether MPI cannot reduce this type, so that collbench does: half and bfloat16.
[[nodiscard]] bool needs_own_op(DataType type);

/// The MPI_Op for every type and reduction, MPI's own or ours. avg is the sum: the caller divides afterwards.
/// Owns the ones it creates, and lives between MPI_Init and MPI_Finalize.
class ReductionOps {
 public:
  ReductionOps() = default;
  ReductionOps(const ReductionOps&) = delete;
  ReductionOps& operator=(const ReductionOps&) = delete;
  ~ReductionOps();

  [[nodiscard]] MPI_Op get(DataType type, Reduction reduction);

 private:
  std::map<std::pair<DataType, Reduction>, MPI_Op> own_;
};

}  // namespace collbench::collectives
