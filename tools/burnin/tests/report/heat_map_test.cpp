#include <gmock/gmock.h>

#include <pugixml.hpp>
#include <string>

#include "tools/burnin/report/burnin_report.hpp"
#include "tools/burnin/tests/attribution/made_burnin.hpp"

namespace collbench::analysis::heat_map_test {
namespace {

using testing::HasSubstr;
using testing::Not;

double healthy(int, int, int) { return 1; }

std::string svg_of(const BurninRecord& record) {
  std::string svg = burnin_svg(record);
  pugi::xml_document document;
  EXPECT_TRUE(document.load_string(svg.c_str()));
  return svg;
}

TEST(HeatMap, HasACellForEachDirectionAndSaysWhatStandsOut) {
  BurninRecord record =
      made_burnin(5, 2, [](int from, int, int rail) { return from == 3 && rail == 1 ? 2.0 : 1; });
  record.table.nodes[3] = "n3<script>";
  const std::string svg = svg_of(record);
  EXPECT_THAT(svg, HasSubstr("Burn-in on 2 rails: 5 nodes: 4 good, 0 suspect, 1 bad"));
  EXPECT_THAT(svg, HasSubstr("rail 1: median"));
  EXPECT_THAT(svg, HasSubstr("<title>n3&lt;script&gt; to n0: "));
  EXPECT_THAT(svg, HasSubstr("NIC, transmit, n3&lt;script&gt;, rail 1: 2.0"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
}

TEST(HeatMap, WhatGaveNoTimeIsAShadeOfItsOwn) {
  BurninRecord record = made_burnin(6, 2, healthy);
  EXPECT_THAT(svg_of(record), Not(HasSubstr("<path class=\"h1\"")));
  lose_rail(record, 2, 1);
  EXPECT_THAT(svg_of(record), HasSubstr("<path class=\"h1\""));
  EXPECT_THAT(svg_of(record), HasSubstr("n2 to n0: no time"));
}

TEST(HeatMap, OfManyHostsEachHasARowAndOfTooManyThoseThatAreNotGood) {
  BurninRecord record;
  record.bytes = 1e6;
  constexpr int kHosts = 1100;
  for (int node = 0; node < kHosts; ++node) record.table.nodes.push_back("n" + std::to_string(node));
  for (int step = 1; step <= 4; ++step) {
    for (int node = 0; node < kHosts; ++node) {
      const int to = (node + step * 7) % kHosts;
      const double noise = 1 + 0.001 * ((node * 31 + step * 17) % 7);
      record.table.times.push_back({node, to, 0, 1e-3 * noise * (node == 40 ? 2 : 1), false});
      record.table.times.push_back({to, node, 0, 1e-3 * noise * (to == 40 ? 2 : 1), false});
    }
  }
  const std::string svg = svg_of(record);
  EXPECT_THAT(svg, HasSubstr("of 1100 hosts are drawn, of those that are not good"));
  EXPECT_THAT(svg, HasSubstr(">n40<"));
  EXPECT_THAT(svg, Not(HasSubstr(">n7<")));
  record.table.nodes.resize(300);
  std::erase_if(record.table.times, [](const RailTime& time) { return time.from >= 300 || time.to >= 300; });
  EXPECT_THAT(svg_of(record), HasSubstr(">n7<"));
}

TEST(HeatMap, OfNothingIsStillAPicture) {
  BurninRecord record;
  record.table.nodes = {"a", "b", "c", "d"};
  EXPECT_THAT(svg_of(record), HasSubstr("4 nodes: 0 good"));
}

}  // namespace
}  // namespace collbench::analysis::heat_map_test
