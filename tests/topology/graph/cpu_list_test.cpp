#include "topology/graph/cpu_list.hpp"

#include <gtest/gtest.h>

#include <string>

namespace collbench::topology::cpu_list_test {
namespace {

using Cpus = std::vector<int>;

TEST(CpuList, ReadsListsAndRefusesDamage) {
  EXPECT_EQ((Cpus{0, 1, 2, 8}), parse_cpu_list("0-2,8"));
  EXPECT_EQ((Cpus{1}), parse_cpu_list("1-1"));
  EXPECT_EQ((Cpus{0, 1, 2, 8}), parse_cpu_list("8,1-2,0-1"));  // sorted, once each
  EXPECT_EQ((Cpus{10}), parse_cpu_list("010"));                // not octal
  EXPECT_EQ((Cpus{8191}), parse_cpu_list("8191"));             // beyond cpu_set_t
  for (const char* damage : {"", "-31,64-95", "3-1", "0-", "a", "0,,2", "0-99999999", "5-", "5x6", "0x5"}) {
    EXPECT_FALSE(parse_cpu_list(damage).has_value()) << damage;
  }
}

TEST(CpuList, ReadsMasksOfEveryKind) {
  EXPECT_EQ((Cpus{0, 1, 32}), parse_cpu_mask("00000001,00000003"));
  EXPECT_EQ((Cpus{0, 1, 64}), parse_cpu_mask("0x1,,0x3"));  // hwloc leaves zero words out
  EXPECT_EQ((Cpus{32, 36}), parse_cpu_mask("1100000000"));
  EXPECT_EQ((Cpus{}), parse_cpu_mask(""));
  EXPECT_EQ((Cpus{64}), parse_cpu_mask("1,,"));
  EXPECT_EQ((Cpus{4096}), parse_cpu_mask("1" + std::string(1024, '0')));
  EXPECT_FALSE(parse_cpu_mask("0xf...f").has_value());
  EXPECT_FALSE(parse_cpu_mask("1,123456789").has_value());
}

TEST(CpuList, WritesBoth) {
  EXPECT_EQ("0-2,8", format_cpu_list({0, 1, 2, 8}));
  EXPECT_EQ("", format_cpu_list({}));
  EXPECT_EQ("0-1,3", format_cpu_list({3, 1, 0}));
  EXPECT_EQ("00000001,00000003", format_cpu_mask({0, 1, 32}));
  EXPECT_EQ("00000000", format_cpu_mask({}));
  EXPECT_EQ("80000000,00000000,00000001", format_cpu_mask({0, 95}));
}

}  // namespace
}  // namespace collbench::topology::cpu_list_test
