#include "topology/graph/cpu_list.hpp"

#include <gtest/gtest.h>

namespace collbench::topology::cpu_list_test {
namespace {

using Cpus = std::vector<int>;

TEST(CpuList, ReadsListsAndRefusesDamage) {
  EXPECT_EQ((Cpus{0, 1, 2, 8}), parse_cpu_list("0-2,8"));
  EXPECT_EQ((Cpus{1}), parse_cpu_list("1-1"));
  for (const char* damage : {"", "-31,64-95", "3-1", "0-", "a", "0,,2", "0-99999999"}) {
    EXPECT_FALSE(parse_cpu_list(damage).has_value()) << damage;
  }
}

TEST(CpuList, ReadsMasksOfEveryKind) {
  EXPECT_EQ((Cpus{0, 1, 32}), parse_cpu_mask("00000001,00000003"));
  EXPECT_EQ((Cpus{0, 1, 64}), parse_cpu_mask("0x1,,0x3"));  // hwloc leaves zero words out
  EXPECT_EQ((Cpus{32, 36}), parse_cpu_mask("1100000000"));
  EXPECT_FALSE(parse_cpu_mask("0xf...f").has_value());
  EXPECT_FALSE(parse_cpu_mask("1,123456789").has_value());
}

TEST(CpuList, WritesBoth) {
  EXPECT_EQ("0-2,8", format_cpu_list({0, 1, 2, 8}));
  EXPECT_EQ("", format_cpu_list({}));
  EXPECT_EQ("00000001,00000003", format_cpu_mask({0, 1, 32}));
}

}  // namespace
}  // namespace collbench::topology::cpu_list_test
