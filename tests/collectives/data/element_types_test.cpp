#include "collectives/data/element_types.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

namespace collbench::collectives::element_types_test {
namespace {

template <typename Float>
unsigned bits(Float value) {
  unsigned char byte = 0;
  std::memcpy(&byte, &value, 1);
  return byte;
}

template <typename Float>
float value(unsigned pattern) {
  const auto byte = static_cast<unsigned char>(pattern);
  Float result;
  std::memcpy(&result, &byte, 1);
  return result;
}

// The tables of values in the OCP 8-bit Floating Point Specification 1.0, section 5.
TEST(Float8, HasTheValuesOfItsSpecification) {
  const std::map<unsigned, float> e4m3{{0x00, 0.0F},
                                       {0x01, std::ldexp(1.0F, -9)},
                                       {0x07, std::ldexp(7.0F, -9)},
                                       {0x08, 0x1p-6F},
                                       {0x38, 1.0F},
                                       {0x39, 1.125F},
                                       {0x7e, 448.0F},
                                       {0xfe, -448.0F},
                                       {0xb8, -1.0F}};
  for (const auto& [pattern, number] : e4m3) {
    EXPECT_EQ(value<Float8E4M3>(pattern), number) << pattern;
    EXPECT_EQ(bits(Float8E4M3(number)), pattern) << number;
  }
  EXPECT_TRUE(std::isnan(value<Float8E4M3>(0x7f)));
  const std::map<unsigned, float> e5m2{{0x00, 0.0F},     {0x01, 0x1p-16F},  {0x03, std::ldexp(3.0F, -16)},
                                       {0x04, 0x1p-14F}, {0x3c, 1.0F},      {0x3d, 1.25F},
                                       {0x7b, 57344.0F}, {0xfb, -57344.0F}, {0xbc, -1.0F}};
  for (const auto& [pattern, number] : e5m2) {
    EXPECT_EQ(value<Float8E5M2>(pattern), number) << pattern;
    EXPECT_EQ(bits(Float8E5M2(number)), pattern) << number;
  }
  EXPECT_TRUE(std::isinf(value<Float8E5M2>(0x7c)));
  EXPECT_TRUE(std::isnan(value<Float8E5M2>(0x7d)));
}

/// Every pattern comes back, and every float between two neighbors becomes the nearer one, or of two equally
/// near ones that whose last bit is 0.
template <typename Float>
void expect_nearest(unsigned largest) {
  for (unsigned pattern = 0; pattern < largest; ++pattern) {
    const float low = value<Float>(pattern);
    const float high = value<Float>(pattern + 1);
    ASSERT_LT(low, high);
    EXPECT_EQ(bits(Float(low)), pattern);
    EXPECT_EQ(bits(Float(-low)), pattern | 0x80U);
    const float middle = (low + high) / 2;
    EXPECT_EQ(bits(Float(middle)), pattern % 2 == 0 ? pattern : pattern + 1);
    EXPECT_EQ(bits(Float(std::nextafter(middle, low))), pattern);
    EXPECT_EQ(bits(Float(std::nextafter(middle, high))), pattern + 1);
  }
}

TEST(Float8, RoundsToTheNearest) {
  expect_nearest<Float8E4M3>(0x7e);
  expect_nearest<Float8E5M2>(0x7b);
}

TEST(Float8, WhatIsTooLargeIsTheLargest) {
  for (const float large : {500.0F, 1e6F, std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(bits(Float8E4M3(large)), 0x7eU);
    EXPECT_EQ(bits(Float8E4M3(-large)), 0xfeU);
  }
  EXPECT_EQ(bits(Float8E5M2(1e9F)), 0x7bU);
  EXPECT_TRUE(std::isnan(static_cast<float>(Float8E5M2(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Float8, IsComputedInFloat) {
  const Float8E4M3 a(13);
  const Float8E4M3 b(1.5);
  EXPECT_EQ(a + b, 14.5F);
  EXPECT_EQ(static_cast<float>(Float8E4M3(a + b)), 14.0F);
  EXPECT_LT(b, a);
}

}  // namespace
}  // namespace collbench::collectives::element_types_test
