#include "collectives/engine/warm_up.hpp"

#include <gtest/gtest.h>

#include "tests/collectives/engine/step_backend.hpp"
#include "tests/launch/rank_threads.hpp"

namespace collbench::collectives::pilot_test {
namespace {

TEST(Pilot, IsWhatAnIterationTakesOnTheSlowestRank) {
  launch::run_rank_threads(3, [](launch::Ranks& ranks) {
    for (const double call_seconds : {1e-7, 1e-3, 10.0}) {
      for (const FixedCounts& fixed :
           {FixedCounts{}, FixedCounts{.iterations = 3}, FixedCounts{.graph_launches = 2}}) {
        StepBackend backend({.slowness = 1.0 + ranks.rank(), .call_seconds = call_seconds});
        const auto prepared = backend.prepare(row_of(8), {});
        EXPECT_NEAR(pilot(ranks, *prepared, 0.1, fixed) / call_seconds, 3, 1e-6);
        // Twice as long a run as tells, ten times as long as the one before, or twice the only iteration.
        EXPECT_LE(backend.now(), std::max(2 * 1.2 * 1e-2 * 3, 2.1 * call_seconds * 3 * 4));
      }
    }
  });
}

}  // namespace
}  // namespace collbench::collectives::pilot_test
