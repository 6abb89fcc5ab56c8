#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace collbench {

/// Element types, in the order and with the names of nccl-tests.
/// In the order of NCCL's ncclDataType_t (collectives/nccl/loader/nccl_library.hpp).
enum class DataType {
  int8,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  bfloat16,
  float8_e4m3,
  float8_e5m2
};

/// Types that only GPUs have: their values are those of Float8 (collectives/data/element_types.hpp).
[[nodiscard]] constexpr bool is_float8(DataType type) {
  return type == DataType::float8_e4m3 || type == DataType::float8_e5m2;
}

enum class NumberKind { signed_integer, unsigned_integer, floating };

struct DataTypeTraits {
  DataType id;
  std::string_view name;  ///< as typed and printed: "float", "half", "int8"
  std::size_t bytes;
  NumberKind kind;
  int exact_bits;  ///< integers up to 2^exact_bits are exact (the significand; all value bits of an integer)
  int max_exponent;  ///< 2^±max_exponent are normal numbers; 0 for integers
};

[[nodiscard]] std::span<const DataTypeTraits> data_types();
[[nodiscard]] const DataTypeTraits& traits(DataType type);

/// By name or alias (float32, float16, bf16, double = float64, char = int8, …); null when there is none.
[[nodiscard]] const DataTypeTraits* find_data_type(std::string_view name);

enum class Reduction { sum, prod, min, max, avg };

[[nodiscard]] std::span<const Reduction> reductions();
[[nodiscard]] std::string_view name(Reduction reduction);
[[nodiscard]] const Reduction* find_reduction(std::string_view name);

}  // namespace collbench
