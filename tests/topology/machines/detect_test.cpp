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

TEST(Detect, ANumberOfGpusAloneSaysNothing) {
  Host counted;  // nvidia-smi topo -p2p
  for (int i = 0; i < 8; ++i) counted.gpus.emplace_back().index.value = i;
  for (const ReferenceMatch& match : nearest_references(counted)) {
    EXPECT_FALSE(match.says_something());
    EXPECT_THAT(match.compared, testing::ElementsAre("number of GPUs"));
    EXPECT_THAT(match.not_compared, testing::ElementsAre("GPU model", "NVLinks", "number of NICs"));
  }
  for (Gpu& gpu : counted.gpus) gpu.sm.value = 90;
  EXPECT_TRUE(nearest_references(counted).front().says_something());
  EXPECT_THAT(nearest_references(reference_host(*find_reference_machine("hgx-h100"))).front().compared,
              testing::ElementsAre("number of GPUs", "GPU model", "NVLinks", "number of NICs", "rate of NICs",
                                   "link layer of NICs"));
}

TEST(Detect, InactiveLinksAreNotCounted) {
  Host host = reference_host(*find_reference_machine("hgx-h100"));
  for (Gpu& gpu : host.gpus) {
    gpu.nvlinks_active.value = 14;
    gpu.nvlinks_inactive.value = 4;
  }
  EXPECT_THAT(nearest_references(host).front().differences,
              testing::ElementsAre("14 NVLinks per GPU instead of 18"));
  Host nvl = reference_host(*find_reference_machine("h100-nvl"));
  for (Gpu& gpu : nvl.gpus) gpu.nvlinks_inactive.value = 6;
  EXPECT_EQ(nearest_references(nvl).front().machine->name, "h100-nvl");
  EXPECT_EQ(nearest_references(nvl).front().distance, 0);
}

TEST(Detect, OneGpuWithFewerLinksIsNotIdentical) {
  for (const std::size_t gpu : {0U, 3U}) {
    Host host = reference_host(*find_reference_machine("hgx-h100"));
    host.gpus[gpu].nvlinks_active.value = 14;
    const auto best = nearest_references(host).front();
    EXPECT_EQ(best.machine->name, "hgx-h100");
    EXPECT_THAT(best.differences, testing::ElementsAre("a GPU has 14 NVLinks"));
  }
}

TEST(Detect, ABoxWithoutNvLinkIsNearestToNoNvLinkMachine) {
  Host host;  // a matrix of four PCIe cards that names no model
  for (int i = 0; i < 4; ++i) host.gpus.emplace_back().index.value = i;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      if (i != j)
        host.stated_paths.push_back({{DeviceKind::gpu, i}, {DeviceKind::gpu, j}, {PathType::sys}, {}});
    }
  }
  const auto matches = nearest_references(host);
  EXPECT_EQ(matches.front().machine->nvlinks_per_gpu, 0) << matches.front().machine->name;
  EXPECT_LT(matches.front().distance, kOfAnotherKind);
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
