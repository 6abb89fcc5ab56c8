#include "base/record/data_type.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace collbench {
namespace {

using enum NumberKind;
constexpr std::array<DataTypeTraits, 12> kTypes{{{DataType::int8, "int8", 1, signed_integer, 7, 0},
                                                 {DataType::uint8, "uint8", 1, unsigned_integer, 8, 0},
                                                 {DataType::int32, "int32", 4, signed_integer, 31, 0},
                                                 {DataType::uint32, "uint32", 4, unsigned_integer, 32, 0},
                                                 {DataType::int64, "int64", 8, signed_integer, 63, 0},
                                                 {DataType::uint64, "uint64", 8, unsigned_integer, 64, 0},
                                                 {DataType::float16, "half", 2, floating, 11, 14},
                                                 {DataType::float32, "float", 4, floating, 24, 126},
                                                 {DataType::float64, "double", 8, floating, 53, 1022},
                                                 {DataType::bfloat16, "bfloat16", 2, floating, 8, 126},
                                                 {DataType::float8_e4m3, "f8e4m3", 1, floating, 4, 6},
                                                 {DataType::float8_e5m2, "f8e5m2", 1, floating, 3, 14}}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kAliases{{{"float16", "half"},
                                                                                  {"fp16", "half"},
                                                                                  {"float32", "float"},
                                                                                  {"fp32", "float"},
                                                                                  {"float64", "double"},
                                                                                  {"fp64", "double"},
                                                                                  {"bf16", "bfloat16"},
                                                                                  {"fp8_e4m3", "f8e4m3"},
                                                                                  {"fp8_e5m2", "f8e5m2"},
                                                                                  {"float8_e4m3", "f8e4m3"},
                                                                                  {"float8_e5m2", "f8e5m2"}}};

constexpr std::array<Reduction, 5> kReductions{Reduction::sum, Reduction::prod, Reduction::min,
                                               Reduction::max, Reduction::avg};
constexpr std::array<std::string_view, 5> kReductionNames{"sum", "prod", "min", "max", "avg"};

}  // namespace

std::span<const DataTypeTraits> data_types() { return kTypes; }

const DataTypeTraits& traits(DataType type) { return kTypes.at(static_cast<std::size_t>(type)); }

const DataTypeTraits* find_data_type(std::string_view name) {
  for (const auto& [alias, meant] : kAliases) {
    if (alias == name) name = meant;
  }
  const auto* found = std::ranges::find(kTypes, name, &DataTypeTraits::name);
  return found == kTypes.end() ? nullptr : found;
}

std::span<const Reduction> reductions() { return kReductions; }

std::string_view name(Reduction reduction) { return kReductionNames.at(static_cast<std::size_t>(reduction)); }

const Reduction* find_reduction(std::string_view name) {
  const auto* found = std::ranges::find(kReductionNames, name);
  if (found == kReductionNames.end()) return nullptr;
  return &kReductions.at(static_cast<std::size_t>(found - kReductionNames.begin()));
}

}  // namespace collbench
