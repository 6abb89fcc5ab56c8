#include "analysis/attribution/burnin_record.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "tests/analysis/attribution/made_pairs.hpp"

namespace collbench::analysis::burnin_record_test {
namespace {

/// Six nodes, of which n4 sends at half on rail 1, and n5 gave no time.
BurninRecord example() {
  BurninRecord record;
  record.bytes = 1e6;
  record.table = made_pairs(6, 2, [](int from, int, int rail) { return from == 4 && rail == 1 ? 2.0 : 1; });
  std::erase_if(record.table.times, [](const RailTime& time) { return time.from == 5 || time.to == 5; });
  for (int node = 0; node < 5; ++node) record.failures.push_back({node, 5, 0, "exit status 255: no route"});
  record.planned = 30;
  record.left_out = 4;
  return record;
}

TEST(BurninRecord, ReadBackItIsTheSame) {
  const BurninRecord record = example();
  const BurninRecord read = burnin_from_json(burnin_json(record), "burnin.json");
  EXPECT_EQ(burnin_json(read), burnin_json(record));
  EXPECT_EQ(read.table.times, record.table.times);
  EXPECT_EQ(read.failures, record.failures);
}

TEST(BurninRecord, WhatIsNoBurnInIsRefused) {
  for (const char* text : {"", "[]", "{}", R"({"record": "x"})"}) {
    EXPECT_THROW((void)burnin_from_json(text, "burnin.json"), Error) << text;
  }
  std::string text = burnin_json(example());
  text.replace(text.find("\"a\": 0"), 6, "\"a\": 6");
  EXPECT_THROW((void)burnin_from_json(text, "burnin.json"), Error);
}

TEST(BurninRecord, EachNodeIsInOneBucketAndTheGoodOnesAreListed) {
  const BurninRecord record = example();
  EXPECT_EQ(good_nodes(record, ","), "n0,n1,n2,n3\n");
  EXPECT_EQ(good_nodes(record, "\n"), "n0\nn1\nn2\nn3\n");
  EXPECT_TRUE(lost_a_host(record, attribute(record)));
  const std::string csv = burnin_csv(record);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 40);
}

TEST(BurninRecord, TheTextNamesWhoAndWhyAndWhatIsMissing) {
  for (const int width : {80, 120}) {
    std::string text = burnin_text(example(), width);
    std::size_t longest = 0;
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = text.find('\n', start);
      longest = std::max(longest, end - start);
      start = end + 1;
    }
    EXPECT_LE(longest, static_cast<std::size_t>(width));
    std::replace(text.begin(), text.end(), '\n', ' ');
    EXPECT_NE(text.find("6 nodes: 4 good, 0 suspect, 1 bad, 1 not tested"), std::string::npos) << text;
    EXPECT_NE(text.find("n4 bad: n4 rail 1: sends +100"), std::string::npos) << text;
    EXPECT_NE(text.find("n5 not tested: exit status 255: no route"), std::string::npos) << text;
    EXPECT_NE(text.find("scontrol update NodeName=n4"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace collbench::analysis::burnin_record_test
