#include "topology/machines/reference_machines.hpp"

#include <gmock/gmock.h>

namespace collbench::topology::detect_test {
namespace {

TEST(Detect, EveryReferenceIsNearestToItself) {
  for (const ReferenceMachine& machine : reference_machines()) {
    const auto matches = nearest_references(reference_host(machine));
    EXPECT_EQ(0, matches.at(0).distance) << machine.name;
    bool itself = false;
    for (const auto& match : matches) itself = itself || (match.distance == 0 && match.machine == &machine);
    EXPECT_TRUE(itself) << machine.name;
  }
}

TEST(Detect, SaysHowAHostDiffers) {
  Host host = reference_host(*find_reference_machine("hgx-h100"));
  host.nics.pop_back();
  for (Gpu& gpu : host.gpus) gpu.nvlinks_active.value = 17;
  const auto best = nearest_references(host).front();
  EXPECT_EQ("hgx-h100", best.machine->name);
  EXPECT_THAT(best.differences,
              testing::ElementsAre("17 NVLinks per GPU instead of 18", "7 fast NICs instead of 8"));
  EXPECT_TRUE(nearest_references(Host{}).empty());
}

TEST(Detect, ARelatedGpuIsNearerThanAnother) {
  Host host = reference_host(*find_reference_machine("hgx-h100"));
  for (Gpu& gpu : host.gpus) gpu.model.value = "NVIDIA H20";
  const auto best = nearest_references(host).front();
  EXPECT_EQ(90, reference_host(*best.machine).gpus[0].sm.value);
  EXPECT_THAT(best.differences, testing::ElementsAre(testing::HasSubstr("GPU H20 instead of H")));
}

TEST(Detect, SlowNicsAreManagement) {
  Host host = reference_host(*find_reference_machine("hgx-h100"));
  host.nics.push_back(host.nics.front());
  host.nics.back().ports[0].gigabits_per_second.value = 25;
  EXPECT_EQ(0, nearest_references(host).front().distance);
}

}  // namespace
}  // namespace collbench::topology::detect_test
