#include "tools/probe/processor/processor_probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/units.hpp"
#include "launch/real_machine.hpp"

namespace collbench::collectives::processor_probe_test {
namespace {

TEST(ProcessorProbe, ArraysAreFourTimesTheCachesWhereThereIsRoom) {
  std::vector<std::string> notes;
  EXPECT_EQ(triad_bytes(32 * kMiB, 64 * kGiB, notes), 256 * kMiB);
  EXPECT_EQ(triad_bytes(384 * kMiB, 64 * kGiB, notes), 1536 * kMiB);
  EXPECT_EQ(triad_bytes(384 * kMiB, 0, notes), 1536 * kMiB);
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(triad_bytes(384 * kMiB, 8 * kGiB, notes), kGiB);
  EXPECT_EQ(triad_bytes(std::nullopt, 64 * kGiB, notes), 256 * kMiB);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_NE(notes[0].find("1 GiB for want of memory; four times the caches are 1.5 GiB"), std::string::npos);
  EXPECT_NE(notes[1].find("not known; arrays of 256 MiB"), std::string::npos);
  // One note, of the arrays that there are; none where the rule is kept.
  notes.clear();
  EXPECT_EQ(triad_bytes(std::nullopt, 960 * kMiB, notes), 120 * kMiB);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("not known; arrays of 120 MiB"), std::string::npos) << notes[0];
  notes.clear();
  EXPECT_EQ(triad_bytes(32 * kMiB, 1600 * kMiB, notes), 200 * kMiB);
  EXPECT_TRUE(notes.empty());
}

TEST(ProcessorProbe, EachKindOfWorkHasARateOnEachCore) {
  ProcessorProbe probe;
  for (const int cpu : launch::view_machine().allowed_cores) probe.cores.push_back({cpu, 0});
  probe.model = "this processor";
  probe.timing = {0, 0.002, 2};
  probe.array_bytes = kMiB;
  probe.matrix = 32;
  probe.more_matrices = {16};
  std::vector<std::string> notes;
  const auto measured = probe_processors(probe, HostClock(), notes);
  std::vector<std::string> ids;
  for (const ProbeMeasurement& each : measured) {
    ids.push_back(each.id);
    ASSERT_EQ(each.parts.size(), probe.cores.size()) << each.id;
    for (const ProbePart& part : each.parts) {
      ASSERT_EQ(part.windows.size(), 2U);
      EXPECT_GT(part.windows[0], 0) << each.id;
      ASSERT_TRUE(part.cpu_share);
    }
  }
  EXPECT_EQ(std::count(ids.begin(), ids.end(), "fma-fp64"), 1);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), "triad"), 1);
  // Three products, or the reason why there are none.
  const auto products =
      std::count_if(ids.begin(), ids.end(), [](const auto& id) { return id.starts_with("gemm"); });
  EXPECT_EQ(products, notes.empty() ? 3 : 0);
}

}  // namespace
}  // namespace collbench::collectives::processor_probe_test
