#include "base/record/data_type.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace collbench::data_type_test {
namespace {

TEST(DataType, IsInTheTableAtItsOwnIndex) {
  ASSERT_EQ(data_types().size(), 12U);
  for (std::size_t i = 0; i < data_types().size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(data_types()[i].id), i);
    EXPECT_EQ(traits(data_types()[i].id).name, data_types()[i].name);
  }
}

template <typename Number>
void expect_traits_of(DataType type) {
  using Limits = std::numeric_limits<Number>;
  const DataTypeTraits& known = traits(type);
  EXPECT_EQ(known.bytes, sizeof(Number)) << known.name;
  EXPECT_EQ(known.exact_bits, Limits::digits) << known.name;
  EXPECT_EQ(known.kind, !Limits::is_integer ? NumberKind::floating
                        : Limits::is_signed ? NumberKind::signed_integer
                                            : NumberKind::unsigned_integer)
      << known.name;
  if constexpr (!Limits::is_integer) {
    const auto two = Number{2};
    EXPECT_GE(std::pow(two, static_cast<Number>(-known.max_exponent)), Limits::min()) << known.name;
    EXPECT_LE(std::pow(two, static_cast<Number>(known.max_exponent)), Limits::max()) << known.name;
  } else {
    EXPECT_EQ(known.max_exponent, 0) << known.name;
  }
}

TEST(DataType, AgreesWithTheTypesOfTheLanguage) {
  expect_traits_of<std::int8_t>(DataType::int8);
  expect_traits_of<std::uint8_t>(DataType::uint8);
  expect_traits_of<std::int32_t>(DataType::int32);
  expect_traits_of<std::uint32_t>(DataType::uint32);
  expect_traits_of<std::int64_t>(DataType::int64);
  expect_traits_of<std::uint64_t>(DataType::uint64);
  expect_traits_of<float>(DataType::float32);
  expect_traits_of<double>(DataType::float64);
}

// IEEE 754 binary16: 1 + 5 + 10 bits; bfloat16: 1 + 8 + 7, the upper half of a float.
TEST(DataType, KnowsTheHalfTypes) {
  EXPECT_EQ(traits(DataType::float16).bytes, 2U);
  EXPECT_EQ(traits(DataType::float16).exact_bits, 11);
  EXPECT_EQ(traits(DataType::float16).max_exponent, 14);
  EXPECT_EQ(traits(DataType::bfloat16).bytes, 2U);
  EXPECT_EQ(traits(DataType::bfloat16).exact_bits, 8);
  EXPECT_EQ(traits(DataType::bfloat16).max_exponent, 126);
}

// OCP 8-bit Floating Point Specification 1.0: E4M3 is normal from 2^-6 to 448, E5M2 from 2^-14 to 57344.
TEST(DataType, KnowsTheTypesOfEightBits) {
  EXPECT_EQ(traits(DataType::float8_e4m3).bytes, 1U);
  EXPECT_EQ(traits(DataType::float8_e4m3).exact_bits, 4);
  EXPECT_EQ(traits(DataType::float8_e4m3).max_exponent, 6);
  EXPECT_EQ(traits(DataType::float8_e5m2).exact_bits, 3);
  EXPECT_EQ(traits(DataType::float8_e5m2).max_exponent, 14);
  EXPECT_TRUE(is_float8(DataType::float8_e5m2));
  EXPECT_FALSE(is_float8(DataType::int8));
}

TEST(DataType, IsFoundByTheNamesOfNcclTestsAndByAliases) {
  for (const DataTypeTraits& type : data_types()) EXPECT_EQ(find_data_type(type.name), &type);
  constexpr std::array<std::pair<std::string_view, DataType>, 8> kAliases{
      {{"float32", DataType::float32},
       {"fp32", DataType::float32},
       {"float64", DataType::float64},
       {"fp64", DataType::float64},
       {"float16", DataType::float16},
       {"fp16", DataType::float16},
       {"bf16", DataType::bfloat16},
       {"fp8_e4m3", DataType::float8_e4m3}}};
  for (const auto& [alias, meant] : kAliases) EXPECT_EQ(find_data_type(alias), &traits(meant)) << alias;
  EXPECT_EQ(find_data_type("quad"), nullptr);
}

TEST(Reduction, IsFoundByItsName) {
  ASSERT_EQ(reductions().size(), 5U);
  for (const Reduction& reduction : reductions()) EXPECT_EQ(find_reduction(name(reduction)), &reduction);
  EXPECT_EQ(name(Reduction::sum), "sum");
  EXPECT_EQ(name(Reduction::avg), "avg");
  EXPECT_EQ(find_reduction("mulsum"), nullptr);
}

}  // namespace
}  // namespace collbench::data_type_test
