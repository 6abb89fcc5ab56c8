#include "collectives/nccl/nccl_numbers.hpp"

namespace collbench::collectives {

NcclType nccl_type(DataType type) {
  switch (type) {
    case DataType::int8:
      return NcclType::int8;
    case DataType::uint8:
      return NcclType::uint8;
    case DataType::int32:
      return NcclType::int32;
    case DataType::uint32:
      return NcclType::uint32;
    case DataType::int64:
      return NcclType::int64;
    case DataType::uint64:
      return NcclType::uint64;
    case DataType::float16:
      return NcclType::float16;
    case DataType::float32:
      return NcclType::float32;
    case DataType::float64:
      return NcclType::float64;
    case DataType::float8_e4m3:
      return NcclType::float8_e4m3;
    case DataType::float8_e5m2:
      return NcclType::float8_e5m2;
    case DataType::bfloat16:
      return NcclType::bfloat16;
  }
  throw Error(ExitStatus::not_here, "NCCL", "has no such data type", "take another -d");
}

NcclReduction nccl_reduction(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return NcclReduction::sum;
    case Reduction::prod:
      return NcclReduction::prod;
    case Reduction::min:
      return NcclReduction::min;
    case Reduction::max:
      return NcclReduction::max;
    case Reduction::avg:
      return NcclReduction::avg;
  }
  throw Error(ExitStatus::not_here, "NCCL", "has no such reduction", "take another -o");
}

unsigned tolerance_ulp(DataType type, Reduction reduction) {
  return reduction == Reduction::avg && traits(type).kind == NumberKind::floating ? 2 : 0;
}

}  // namespace collbench::collectives
