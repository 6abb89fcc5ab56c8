#include "analysis/host_pipeline.hpp"

#include <gtest/gtest.h>

#include "analysis/round_patterns.hpp"
#include "tests/analysis/host_algorithm_fixture.hpp"

namespace collbench::host_pipeline_test {
namespace {

TEST(Pipeline, TakesTheSegmentThatIsQuickest) {
  const HostModel model = model_of(in_node_order(1, 4));
  const HostCall call{.model = model, .size_bytes = 1e6, .in_place = false};
  const RoundClock start(model, SentData::forwarded, 0);
  const Round chain = chain_from_root(model, 0);
  // Eager segments cost no latency; the whole in one piece would wait for one.
  EXPECT_SECONDS(pipeline_seconds(call, chain, start, [](double) { return 0.0; }), 1e6 / kIntraRate);
  // Work that each segment costs makes the whole in one piece the quickest.
  const double with_work = pipeline_seconds(call, chain, start, [](double) { return 1.0; });
  EXPECT_GT(with_work, 1);
  EXPECT_LT(with_work, 2.1);
}

}  // namespace
}  // namespace collbench::host_pipeline_test
