#pragma once
#include "base/record/data_type.hpp"
#include "collectives/nccl/loader/nccl_library.hpp"

namespace collbench::collectives {

/// NCCL's name for elements of `type`.
[[nodiscard]] NcclType nccl_type(DataType type);

/// NCCL's name for `reduction`.
[[nodiscard]] NcclReduction nccl_reduction(Reduction reduction);

/// Units in the last place by which a result may be off. Every result is exact but a float average, which
/// NCCL makes by scaling each rank's element first; nccl-tests 2.19.6 allows the same two
/// (verifiable/verifiable.cu).
[[nodiscard]] unsigned tolerance_ulp(DataType type, Reduction reduction);

}  // namespace collbench::collectives
