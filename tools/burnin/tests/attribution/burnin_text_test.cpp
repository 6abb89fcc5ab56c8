#include "tools/burnin/attribution/burnin_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tools/burnin/tests/attribution/made_burnin.hpp"

namespace collbench::analysis::burnin_text_test {
namespace {

using testing::HasSubstr;

TEST(BurninText, TheTextNamesWhoAndWhyAndWhatIsMissing) {
  for (const int width : {80, 120}) {
    std::string text = burnin_text(broken_burnin(), width);
    std::size_t longest = 0;
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = text.find('\n', start);
      longest = std::max(longest, end - start);
      start = end + 1;
    }
    EXPECT_LE(longest, static_cast<std::size_t>(width));
    std::replace(text.begin(), text.end(), '\n', ' ');
    EXPECT_NE(text.find("6 nodes: 4 good, 0 suspect, 1 bad, 1 not tested"), std::string::npos) << text;
    EXPECT_NE(text.find("n4 bad: n4 rail 1: compared with the rail's median it takes 100"), std::string::npos)
        << text;
    EXPECT_NE(text.find("n5 not tested: exit status 255: no route"), std::string::npos) << text;
    EXPECT_NE(text.find("scontrol update NodeName=n4"), std::string::npos) << text;
  }
}

TEST(BurninText, WhatFailedOnAllHostsIsSaidOnce) {
  BurninRecord record;
  record.table.nodes = {"n0", "n1", "n2", "n3"};
  for (int node = 0; node < 4; ++node) {
    record.group_failures.push_back({{BurninPhase::nodes, {node}}, "exit status 5: no CUDA"});
  }
  record.group_failures.push_back({{BurninPhase::whole, {0, 1, 2, 3}}, "exit status 1"});
  const std::string text = burnin_text(record, 400);
  EXPECT_THAT(text,
              HasSubstr("\nn0, n1, n2, n3 not tested: no result in phase nodes: exit status 5: no CUDA\n"));
  EXPECT_THAT(text, HasSubstr("\nn0, n1, n2, n3 no result in phase nodes: exit status 5: no CUDA\n"));
  EXPECT_THAT(text, HasSubstr("\nn0, n1, n2, n3 no result in phase whole: exit status 1\n"));
}

}  // namespace
}  // namespace collbench::analysis::burnin_text_test
