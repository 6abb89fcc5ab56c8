#pragma once
#include <Eigen/Core>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/record/data_type.hpp"
#include "collectives/float8.hpp"

namespace collbench {

/// Calls `work` with a std::type_identity of the C++ type that holds elements of `type`.
template <typename Work>
decltype(auto) with_element_type(DataType type, Work&& work) {
  switch (type) {
    case DataType::int8:
      return std::forward<Work>(work)(std::type_identity<std::int8_t>());
    case DataType::uint8:
      return std::forward<Work>(work)(std::type_identity<std::uint8_t>());
    case DataType::int32:
      return std::forward<Work>(work)(std::type_identity<std::int32_t>());
    case DataType::uint32:
      return std::forward<Work>(work)(std::type_identity<std::uint32_t>());
    case DataType::int64:
      return std::forward<Work>(work)(std::type_identity<std::int64_t>());
    case DataType::uint64:
      return std::forward<Work>(work)(std::type_identity<std::uint64_t>());
    case DataType::float16:
      return std::forward<Work>(work)(std::type_identity<Eigen::half>());
    case DataType::float32:
      return std::forward<Work>(work)(std::type_identity<float>());
    case DataType::float64:
      return std::forward<Work>(work)(std::type_identity<double>());
    case DataType::float8_e4m3:
      return std::forward<Work>(work)(std::type_identity<Float8E4M3>());
    case DataType::float8_e5m2:
      return std::forward<Work>(work)(std::type_identity<Float8E5M2>());
    case DataType::bfloat16:
      break;
  }
  return std::forward<Work>(work)(std::type_identity<Eigen::bfloat16>());
}

}  // namespace collbench
