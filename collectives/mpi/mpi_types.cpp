#include "collectives/mpi/mpi_types.hpp"

#include <Eigen/Core>

#include "collectives/data/element_types.hpp"
#include "launch/mpi/mpi_session.hpp"

namespace collbench::collectives {
namespace {

/// The function behind our own ops. MPI hands over no state, so each element type and reduction has its own.
template <typename Element, Reduction reduction>
void reduce_elements(void* in, void* in_out, int* length, MPI_Datatype* /*type*/) {
  const auto* from = static_cast<const Element*>(in);
  auto* to = static_cast<Element*>(in_out);
  for (int i = 0; i < *length; ++i) to[i] = reduced(reduction, from[i], to[i]);
}

template <typename Element>
MPI_User_function* function_for(Reduction reduction) {
  switch (reduction) {
    case Reduction::prod:
      return reduce_elements<Element, Reduction::prod>;
    case Reduction::min:
      return reduce_elements<Element, Reduction::min>;
    case Reduction::max:
      return reduce_elements<Element, Reduction::max>;
    case Reduction::sum:
    case Reduction::avg:
      return reduce_elements<Element, Reduction::sum>;
  }
  return nullptr;
}

}  // namespace

MPI_Datatype mpi_type(DataType type) {
  switch (type) {
    case DataType::int8:
      return MPI_INT8_T;
    case DataType::uint8:
      return MPI_UINT8_T;
    case DataType::int32:
      return MPI_INT32_T;
    case DataType::uint32:
      return MPI_UINT32_T;
    case DataType::int64:
      return MPI_INT64_T;
    case DataType::uint64:
      return MPI_UINT64_T;
    case DataType::float32:
      return MPI_FLOAT;
    case DataType::float64:
      return MPI_DOUBLE;
    case DataType::float16:
    case DataType::bfloat16:
      return MPI_UINT16_T;
    case DataType::float8_e4m3:
    case DataType::float8_e5m2:
      break;  // MpiBackend::unsupported_type_reason: no row of theirs is ever run
  }
  return MPI_DATATYPE_NULL;
}

bool needs_own_op(DataType type) { return type == DataType::float16 || type == DataType::bfloat16; }

ReductionOps::~ReductionOps() {
  for (auto& [key, op] : own_) MPI_Op_free(&op);
}

MPI_Op ReductionOps::get(DataType type, Reduction reduction) {
  if (!needs_own_op(type)) {
    switch (reduction) {
      case Reduction::prod:
        return MPI_PROD;
      case Reduction::min:
        return MPI_MIN;
      case Reduction::max:
        return MPI_MAX;
      case Reduction::sum:
      case Reduction::avg:
        return MPI_SUM;
    }
  }
  const auto [known, added] = own_.try_emplace({type, reduction}, MPI_OP_NULL);
  if (added) {
    constexpr int kCommutes = 1;
    MPI_User_function* const function = type == DataType::float16 ? function_for<Eigen::half>(reduction)
                                                                  : function_for<Eigen::bfloat16>(reduction);
    launch::check_mpi(MPI_Op_create(function, kCommutes, &known->second), "MPI_Op_create");
  }
  return known->second;
}

}  // namespace collbench::collectives
