#include "analysis/models/nccl/gpu_cluster.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"

namespace collbench::analysis::gpu_cluster_test {
namespace {

TEST(GpuCluster, KnowsTheLinksOfReferenceMachines) {
  const GpuCluster h100 = cluster_of("hgx-h100", 2);
  EXPECT_EQ(h100.ranks(), 16);
  EXPECT_EQ(h100.domains(), 2);
  EXPECT_EQ(h100.nvlinks, 18);
  EXPECT_TRUE(h100.nvswitch);
  EXPECT_EQ(h100.nics, 8);
  EXPECT_DOUBLE_EQ(h100.nic_line_rate, 50);
  EXPECT_EQ(h100.transport, Transport::infiniband);
}

TEST(GpuCluster, EveryReferenceMachineMakesOne) {
  for (const topology::ReferenceMachine& machine : topology::reference_machines()) {
    const GpuCluster one = gpu_cluster(machine, 1, 0);
    EXPECT_TRUE(one.nvlinks > 0 || one.host_path > 0) << machine.name;
    EXPECT_EQ(one.domains(), 1) << machine.name;
  }
}

/// What `nvidia-smi nvlink -s` alone tells of a machine.
topology::Host listed(const char* model, int gpus, int links) {
  topology::Host host;
  for (int i = 0; i < gpus; ++i) {
    topology::Gpu& gpu = host.gpus.emplace_back();
    gpu.index.value = i;
    gpu.model.value = model;
    gpu.nvlinks_active.value = links;
  }
  return host;
}

TEST(GpuCluster, LinksOfSxmModulesThatAreListedLeadToTheOthers) {
  const GpuCluster a100 = gpu_cluster(listed("NVIDIA A100-SXM4-80GB", 8, 12), 1, 0, "");
  EXPECT_EQ(a100.nvlinks, 12);
  EXPECT_TRUE(a100.nvswitch);
  EXPECT_EQ(a100, gpu_cluster(listed("NVIDIA A100-SXM4-80GB", 8, 12), 1, 8, ""));
  const GpuCluster v100 = gpu_cluster(listed("Tesla V100-SXM2-32GB", 8, 6), 1, 0, "");
  EXPECT_EQ(v100.nvlinks, 6);
  EXPECT_FALSE(v100.nvswitch);
  topology::Host fewer = listed("NVIDIA H100 80GB HBM3", 8, 18);
  fewer.gpus[5].nvlinks_active.value = 14;
  EXPECT_EQ(gpu_cluster(fewer, 1, 0, "").nvlinks, 14);
}

TEST(GpuCluster, ABridgeReachesOneOtherCard) {
  EXPECT_EQ(gpu_cluster(listed("NVIDIA H100 NVL", 2, 12), 1, 0, "").nvlinks, 12);
  EXPECT_EQ(gpu_cluster(listed("NVIDIA H100 NVL", 4, 12), 1, 0, "").nvlinks, 0);
}

TEST(GpuCluster, AnUnknownGpuWithoutNvLinkHasTheHostsBound) {
  const GpuCluster unknown = gpu_cluster(listed("NVIDIA Future 9000", 4, 0), 1, 0, "");
  EXPECT_EQ(unknown.gpu, "unknown GPU (NVIDIA Future 9000)");
  EXPECT_GT(unknown.host_path, 0);
  topology::Host nameless = listed("", 2, 0);
  for (topology::Gpu& gpu : nameless.gpus) gpu.model.value.reset();
  EXPECT_EQ(gpu_cluster(nameless, 1, 0, "").gpu, "unknown GPU");
  EXPECT_THROW(static_cast<void>(gpu_cluster(listed("NVIDIA Future 9000", 4, 12), 1, 0, "")), Error);
}

TEST(GpuCluster, TheGpusOfAnotherMakerAreNotModeled) {
  const auto refused = [](const topology::Host& host) {
    try {
      static_cast<void>(gpu_cluster(host, 1, 0, "amd.xml"));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_THAT(refused(listed("AMD Instinct MI300X", 8, 0)),
              testing::HasSubstr("its GPUs are AMD's, and only NCCL on NVIDIA's is modeled"));
  topology::Host nameless = listed("", 2, 0);
  for (topology::Gpu& gpu : nameless.gpus) {
    gpu.model.value.reset();
    topology::PciDevice& pci = nameless.pci_devices.emplace_back();
    pci.address = fmt::format("0000:{:02x}:00.0", nameless.pci_devices.size());
    pci.vendor.value = "0x1002";
    gpu.pci_address.value = pci.address;
  }
  EXPECT_THAT(refused(nameless), testing::HasSubstr("AMD's"));
}

TEST(GpuCluster, AnNvlinkRackIsOneDomainAndNeedsNoNics) {
  EXPECT_EQ(cluster_of("gb200-nvl72", 18).domains(), 1);
  const GpuCluster two = cluster_of("gb200-nvl72", 36);
  EXPECT_EQ(two.domains(), 2);
  EXPECT_EQ(two.ranks_per_domain(), 72);
}

TEST(GpuCluster, BridgedPairsReachEachOtherOverNvlinkAndOthersThroughTheHost) {
  EXPECT_EQ(cluster_of("h100-nvl", 1, 2).nvlinks, 12);
  const GpuCluster all = cluster_of("h100-nvl", 1);
  EXPECT_EQ(all.nvlinks, 0);
  EXPECT_DOUBLE_EQ(all.host_path, 16);  // two EPYC, by NCCL's table
  EXPECT_EQ(all.host_path_name, "the path between the sockets");
}

TEST(GpuCluster, ACubeMeshUsesTheLinksToItsOwnRanksOnly) {
  EXPECT_EQ(cluster_of("dgx-1v", 1).nvlinks, 6);
  EXPECT_EQ(cluster_of("dgx-1v", 1, 4).nvlinks, 4);  // GPU 0 to 3: 1 + 1 + 2
}

TEST(GpuCluster, IsThatOfTheReferenceMachineWhereItsNameResolved) {
  EXPECT_EQ(gpu_cluster(topology::resolve_machine("gb200-nvl72"), 2, 0), cluster_of("gb200-nvl72", 2));
  topology::ResolvedMachine file = topology::resolve_machine("gb200-nvl72");
  file.reference = nullptr;  // what a file of that name gives
  EXPECT_EQ(gpu_cluster(file, 2, 0), gpu_cluster(file.first_host(), 2, 0, "gb200-nvl72"));
  // A file does not say that 18 trays are one NVLink domain.
  EXPECT_NE(gpu_cluster(file, 2, 0), cluster_of("gb200-nvl72", 2));
}

TEST(GpuCluster, RefusesWhatCannotCarryIt) {
  const topology::Host nothing;
  EXPECT_THROW((void)gpu_cluster(nothing, 1, 0, "file"), Error);
  const topology::Host alone = topology::reference_host(*topology::find_reference_machine("a100-pcie"));
  EXPECT_NO_THROW((void)gpu_cluster(alone, 1, 0, "file"));
  EXPECT_THROW((void)gpu_cluster(alone, 2, 0, "file"), Error);  // no NIC
  EXPECT_THROW((void)gpu_cluster(alone, 1, 9, "file"), Error);  // eight GPUs
  EXPECT_THROW((void)gpu_cluster(alone, 0, 1, "file"), Error);
}

}  // namespace
}  // namespace collbench::analysis::gpu_cluster_test
