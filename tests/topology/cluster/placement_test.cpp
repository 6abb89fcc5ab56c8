// The ways in which schedulers hide GPUs, as Slurm 22.05 and Open MPI 4.1 were seen to do it.
#include "topology/cluster/placement.hpp"

#include <gmock/gmock.h>

#include "topology/machines/reference_machines.hpp"

namespace collbench::topology::placement_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(VisibleGpus, FollowsCudasRules) {
  EXPECT_FALSE(visible_gpus(nullptr).has_value());
  EXPECT_THAT(*visible_gpus(""), IsEmpty());
  EXPECT_THAT(*visible_gpus("2,0"), ElementsAre("2", "0"));
  EXPECT_THAT(*visible_gpus("0, 1"), ElementsAre("0", "1"));
  EXPECT_THAT(*visible_gpus("0,-1,1"), ElementsAre("0"));
  EXPECT_THAT(*visible_gpus("none"), IsEmpty());
  EXPECT_THAT(*visible_gpus("NoDevFiles"), IsEmpty());
  EXPECT_THAT(*visible_gpus("GPU-1a2b,MIG-GPU-1a2b/1/0,MIG-5c"),
              ElementsAre("GPU-1a2b", "MIG-GPU-1a2b/1/0", "MIG-5c"));
}

TEST(VisibleGpus, RecognizesAnIndex) {
  EXPECT_TRUE(is_gpu_index("0"));
  EXPECT_FALSE(is_gpu_index("-1"));
  EXPECT_FALSE(is_gpu_index("GPU-0"));
}

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

using Visible = std::optional<std::vector<std::string>>;

Visible sees(std::vector<std::string> gpus) { return gpus; }

/// `count` × hgx-h100 with UUIDs.
std::vector<Host> hosts(int count = 1) {
  Host host = reference_host(*find_reference_machine("hgx-h100"));
  for (std::size_t i = 0; i < host.gpus.size(); ++i)
    host.gpus[i].uuid.value = "GPU-" + std::string(8, static_cast<char>('a' + i));
  return std::vector<Host>(static_cast<std::size_t>(count), host);
}

/// The ranks of one host with what each sees.
std::vector<RankHostView> ranks(const std::vector<Visible>& visible, int node = 0) {
  std::vector<RankHostView> views;
  for (const Visible& gpus : visible) {
    const int index = static_cast<int>(views.size());
    views.push_back({{.rank = index, .host = "n", .node = node, .local_rank = index}, gpus});
  }
  return views;
}

std::vector<int> gpus(const std::vector<RankPlacement>& placed) {
  std::vector<int> found;
  for (const RankPlacement& each : placed) found.push_back(each.gpu.value_or(-1));
  return found;
}

MATCHER(is_guess, "") { return arg.guess; }

TEST(Placement, AUuidIsCertain) {
  const auto placed = placement(hosts(), ranks({sees({"GPU-cccccccc"}), sees({"GPU-bbb"})}));
  EXPECT_THAT(gpus(placed), ElementsAre(2, 1));
  EXPECT_FALSE(placed[0].guess);
  EXPECT_THAT(placed[0].nic, Optional(2));
  EXPECT_THAT(placed[0].numa_node, Optional(0));
  EXPECT_EQ(placed[0].note, "");
}

TEST(Placement, APciAddressIsCertain) {
  const std::vector<Host> all = hosts();
  const auto placed = placement(all, ranks({sees({*all[0].gpus[5].pci_address.value})}));
  EXPECT_THAT(gpus(placed), ElementsAre(5));
  EXPECT_FALSE(placed[0].guess);
  EXPECT_THAT(placed[0].numa_node, Optional(1));
}

TEST(Placement, RanksThatSeeAllTakeThemInTurn) {  // srun --gpus-per-node=4
  const Visible four = sees({"0", "1", "2", "3"});
  const auto placed = placement(hosts(), ranks({four, four, four, four}));
  EXPECT_THAT(gpus(placed), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(placed, Each(is_guess()));
}

TEST(Placement, OneGpuPerTask) {  // srun --gpus-per-task=1, and --gpu-bind=map_gpu:3,2,1,0
  EXPECT_THAT(gpus(placement(hosts(), ranks({sees({"0"}), sees({"1"})}))), ElementsAre(0, 1));
  EXPECT_THAT(gpus(placement(hosts(), ranks({sees({"3"}), sees({"2"}), sees({"1"}), sees({"0"})}))),
              ElementsAre(3, 2, 1, 0));
}

TEST(Placement, SeveralGpusPerTask) {  // srun --gpus-per-task=2: each its own first
  EXPECT_THAT(gpus(placement(hosts(), ranks({sees({"0", "1"}), sees({"2", "3"})}))), ElementsAre(0, 2));
}

TEST(Placement, NoWordOfItMeansAll) {  // --gpu-bind=none
  const auto placed = placement(hosts(), ranks({std::nullopt, std::nullopt}));
  EXPECT_THAT(gpus(placed), ElementsAre(0, 1));
  EXPECT_THAT(placed, Each(is_guess()));
}

TEST(Placement, SharingIsSaid) {  // salloc --gpus-per-task=1 and mpirun: 0 for every rank
  const auto placed = placement(hosts(), ranks({sees({"0"}), sees({"0"}), sees({"0"}), sees({"0"})}));
  EXPECT_THAT(gpus(placed), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(placed[3].note, "4 ranks share this GPU");
}

TEST(Placement, EveryNodeCountsForItself) {
  const Visible two = sees({"GPU-aaaaaaaa", "GPU-bbbbbbbb"});
  std::vector<RankHostView> views = ranks({two, two});
  for (RankHostView view : ranks({two, two}, 1)) {
    view.identity.rank += 2;
    views.push_back(view);
  }
  const auto placed = placement(hosts(2), views);
  EXPECT_THAT(gpus(placed), ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(placed[2].note, "") << "the same GPU of another node is another one";
}

TEST(Placement, Mig) {
  const auto placed = placement(hosts(), ranks({sees({"MIG-GPU-bbbbbbbb/1/0"}), sees({"MIG-5c0f"})}));
  EXPECT_THAT(gpus(placed), ElementsAre(1, -1));
  EXPECT_FALSE(placed[0].guess);
  EXPECT_THAT(placed[1].note, HasSubstr("MIG-5c0f does not tell which GPU it belongs to"));
}

TEST(Placement, WhatIsNotThereIsSaid) {
  const auto placed = placement(
      hosts(), ranks({sees({"8"}), sees({"GPU-x"}), sees({"GPU-"}), sees({}), sees({"0000:ff:00.0"})}));
  EXPECT_THAT(gpus(placed), Each(-1));
  EXPECT_THAT(placed[0].note, HasSubstr("GPU 8 is not among the 8"));
  EXPECT_THAT(placed[1].note, HasSubstr("GPU-x is not among"));
  EXPECT_THAT(placed[2].note, HasSubstr("GPU- is not among")) << "the start of several UUIDs names none";
  EXPECT_THAT(placed[3].note, HasSubstr("no GPU of its host is visible"));
  EXPECT_THAT(placed[4].note, HasSubstr("0000:ff:00.0"));
}

TEST(Placement, AHostWithoutGpusNeedsNoNote) {
  const auto placed = placement({Host{}}, ranks({std::nullopt}));
  EXPECT_FALSE(placed.at(0).gpu.has_value());
  EXPECT_EQ(placed[0].note, "");
}

TEST(Placement, AnIndexGoesByPciAddressWhereTheGraphHasNone) {
  std::vector<Host> all = hosts();
  for (Gpu& gpu : all[0].gpus) gpu.index = {};
  std::swap(all[0].gpus[0], all[0].gpus[7]);
  EXPECT_THAT(gpus(placement(all, ranks({sees({"0"})}))), ElementsAre(7));
}

TEST(Placement, EquallyNearNicsAreDealtOut) {
  // Two GPUs and two NICs on each switch.
  const std::vector<Host> all{reference_host(*find_reference_machine("hgx-a100"))};
  const auto placed = placement(all, ranks({sees({"0"}), sees({"1"}), sees({"2"}), sees({"3"})}));
  std::vector<int> nics;
  for (const RankPlacement& each : placed) nics.push_back(each.nic.value_or(-1));
  EXPECT_THAT(nics, ElementsAre(0, 1, 2, 3));
}

TEST(Placement, IsRecordedByName) {
  std::vector<Host> all = hosts();
  all[0].nics[3].name.value = "mlx5_3";
  const auto placed = placement(all, ranks({sees({"3"}), sees({"8"})}));
  const PlacedRank first = placement_record(placed[0], all[0]);
  EXPECT_EQ(first.gpu, "GPU3");
  EXPECT_EQ(first.gpu_address, *all[0].gpus[3].pci_address.value);
  EXPECT_EQ(first.nic, "mlx5_3");
  EXPECT_THAT(first.numa_node, Optional(0));
  EXPECT_TRUE(first.guess);
  const PlacedRank second = placement_record(placed[1], all[0]);
  EXPECT_EQ(second.rank, 1);
  EXPECT_EQ(second.gpu + second.gpu_address + second.nic, "");
  EXPECT_THAT(second.note, HasSubstr("GPU 8 is not among"));
}

}  // namespace

}  // namespace collbench::topology::placement_test
