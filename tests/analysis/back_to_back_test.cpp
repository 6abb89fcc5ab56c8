#include "analysis/back_to_back.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/host_algorithm_fixture.hpp"

namespace collbench::back_to_back_test {
namespace {

TEST(BackToBack, CountsWhatEachFurtherOperationAdds) {
  const HostModel model = model_of(in_node_order(1, 2));
  const std::vector<int> there{1, kNobody};
  const Round round = round_of(model, there);
  RoundClock clock(model, SentData::standing, 0);
  // Eager messages in one direction: the first arrives after α, each further one a message's length later.
  EXPECT_SECONDS(seconds_back_to_back(clock, [&] { clock.exchange(round, 1e4); }), 1e4 / kIntraRate);
}

}  // namespace
}  // namespace collbench::back_to_back_test
