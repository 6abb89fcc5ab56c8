#include "tools/burnin/attribution/pair_tables/pair_columns.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "base/error.hpp"

namespace collbench::analysis {
namespace {

TEST(PairColumns, EndsByTheirNames) {
  EXPECT_EQ(pair_ends({"test", "Src Host", "dst_host"}), (PairEnds{1, 2, true}));
  EXPECT_EQ(pair_ends({"node_a", "node_b", "busbw"}), (PairEnds{0, 1, false}));
  EXPECT_EQ(pair_ends({"Host 1", "Host 2"}), (PairEnds{0, 1, false}));
  EXPECT_EQ(pair_ends({"node2", "node1"}), (PairEnds{1, 0, false}));
  EXPECT_EQ(pair_ends({"node", "busbw"}), std::nullopt);
}

TEST(PairColumns, MeansBeforeOtherRatesAndTheNamedOneBeforeAll) {
  const std::vector<std::string> heading{"a", "b", "peak_busbw", "avg_busbw"};
  const PairEnds ends{0, 1, false};
  EXPECT_EQ(rate_column(heading, "", ends, "f"), 3U);
  EXPECT_EQ(rate_column(heading, "peak_busbw", ends, "f"), 2U);
  EXPECT_THROW((void)rate_column({"a", "b", "seconds"}, "", ends, "f"), Error);
  EXPECT_THROW((void)rate_column(heading, "busbw", ends, "f"), Error);
}

TEST(PairColumns, RailsThatAreNotUsed) {
  EXPECT_EQ(rail_column({"a", "HCA", "rail"}, {}), 1U);
  EXPECT_EQ(rail_column({"a", "hca", "rail"}, {1}), 2U);
  EXPECT_EQ(rail_column({"a", "b"}, {}), std::nullopt);
}

TEST(PairColumns, WhatIsNoMeasuredRateIsNotTakenAndSeveralAreAskedFor) {
  const PairEnds ends{0, 1, true};
  EXPECT_EQ(rate_column({"src", "dst", "link_gbps", "busbw"}, "", ends, "f"), 3U);
  EXPECT_EQ(rate_column({"from", "to", "error_rate", "Rate limit", "bw"}, "", ends, "f"), 4U);
  EXPECT_EQ(rate_column({"a", "b", "BW peak[MB/sec]", "BW average[MB/sec]", "MsgRate[Mpps]"}, "", ends, "f"),
            3U);
  EXPECT_EQ(rate_column({"a", "b", "algbw", "busbw"}, "", ends, "f"), 3U);
  EXPECT_THROW((void)rate_column({"a", "b", "read bw", "write bw"}, "", ends, "f"), Error);
}

TEST(PairColumns, Units) {
  for (const auto& [name, bytes, words] : std::vector<std::tuple<const char*, double, const char*>>{
           {"bandwidth (GB/s)", 1e9, "GB/s"},
           {"busbw_GBps", 1e9, "GB/s"},
           {"gigabytes_per_second", 1e9, "GB/s"},
           {"BW average[MB/sec]", 1e6, "MB/s"},
           {"MiB/sec", 1048576, "MiB/s"},
           {"GiB/s", 1073741824, "GiB/s"},
           {"TB/s", 1e12, "TB/s"},
           {"GBytes/sec", 1e9, "GB/s"},
           {"bw_gbps", 1e9 / 8, "Gb/s"},
           {"rate Gb/s", 1e9 / 8, "Gb/s"},
           {"Mbps", 1e6 / 8, "Mb/s"},
           {"bandwidth Mb/s", 1e6 / 8, "Mb/s"},
           {"Gbit/s", 1e9 / 8, "Gb/s"},
           {"bw gb/s", 1e9, "GB/s (the column says gb/s, which may be bits)"},
           {"BW_Gb", 1e9 / 8, "Gb/s"},
           {"bandwidth_gbit", 1e9 / 8, "Gb/s"},
           {"bw_gbits", 1e9 / 8, "Gb/s"},
           {"bw_Gbit_per_sec", 1e9 / 8, "Gb/s"},
           {"busbw GB per sec", 1e9, "GB/s"},
           {"busbw (MB)", 1e6, "MB/s"},
           {"busbw at 128 MB", 1e9, "GB/s (the column names no unit)"},
           {"busbw", 1e9, "GB/s (the column names no unit)"}}) {
    EXPECT_DOUBLE_EQ(unit_of_rates(name).first, bytes) << name;
    EXPECT_EQ(unit_of_rates(name).second, words) << name;
  }
  for (const char* const name : {"bandwidth (Gigabits/s)", "bandwidth_bps", "bw GT/s"})
    EXPECT_THROW((void)unit_of_rates(name), Error) << name;
}

}  // namespace
}  // namespace collbench::analysis
