// Every file of the shared corpus of real machines: what it holds, counted by other means than our readers,
// or why it is refused. Skipped when COLLBENCH_CORPUS does not name the corpus.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "base/files.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/topology/diff/held.hpp"
#include "tests/topology/diff/one_removed.hpp"
#include "tests/topology/refusal.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/merge.hpp"
#include "topology/graph/path.hpp"
#include "topology/graph/topology_json.hpp"
#include "topology/readers/readers.hpp"
#include "topology/render/render.hpp"

namespace collbench::topology::corpus_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kByElement = "grep -c of <gpu, <net, <cpu, <pci, <nvlink; links: sum of count= by awk";
constexpr const char* kByDev = "by eye: dev= from 0 to 1, and to 3; no <net";
constexpr const char* kByClass = "no <gpu>: grep -c of class=\"0x03, class=\"0x02, <cpu, <pci";
constexpr const char* kByHwlocType =
    "grep -c of pci_type=\"03.. [10de, pci_type=\"(0302|0380|1200) [1002, pci_type=\"02, type=\"NUMANode; "
    "NVLinks: the "
    "entries of NVLinkBandwidth off the diagonal by a script, MB/s over the data sheet's";
constexpr const char* kOneGpu = "by eye: one row";
constexpr const char* kByLink = "grep -c Link";

constexpr Held kHeld[] = {
    {"nccl-xml/3090_8gpu_switchtec_dump.xml", 8, 1, 2, 11, 0, 0, kByElement, Granularity::by_element},
    {"nccl-xml/aws_g5.48xl-topo.xml", 0, 0, 2, 9, 0, 0, kByClass},
    {"nccl-xml/aws_p4d-24xl-topo.xml", 8, 4, 2, 16, 0, 0, kByClass},
    {"nccl-xml/azure_nc48v4-graph.xml", 2, 0, 0, 0, 0, 0, kByDev},
    {"nccl-xml/azure_ncv4-graph.xml", 4, 0, 0, 0, 0, 0, kByDev},
    {"nccl-xml/azure_nc48v4-topo.xml", 2, 1, 2, 2, 2, 24, kByElement, Granularity::by_element},
    {"nccl-xml/azure_ncv4-topo.xml", 4, 1, 4, 4, 4, 48, kByElement, Granularity::by_element},
    {"nccl-xml/azure_ndv2-topo.xml", 8, 1, 2, 9, 0, 0, kByClass},
    {"nccl-xml/azure_ndv4-topo.xml", 8, 8, 4, 20, 0, 0, kByClass},
    {"nccl-xml/mew0_2xa100pcie_dump_fault.xml", 2, 2, 1, 3, 2, 13, kByElement, Granularity::by_element},
    {"nccl-xml/mew0_2xa100pcie_dump_normal.xml", 2, 2, 1, 3, 2, 24, kByElement, Granularity::by_element},
    {"nccl-xml/mew0_topo_fail_input.xml", 2, 1, 1, 3, 2, 13, kByElement, Granularity::by_element},
    {"nccl-xml/mew0_topo_real_input.xml", 2, 1, 1, 3, 2, 24, kByElement, Granularity::by_element},
    {"nccl-xml/oci_H100-topology-kubernetes.xml", 8, 16, 2, 40, 32, 144, kByElement, Granularity::by_element},
    {"nccl-xml/oci_H100-topology.xml", 8, 16, 2, 40, 32, 144, kByElement, Granularity::by_element},
    {"nccl-xml/oci_topo-flattened-b4.xml", 8, 8, 4, 20, 0, 0, kByClass},
    {"nccl-xml/rccl_topo_16p1h_vm.xml", 16, 8, 4, 24, 0, 0, kByElement, Granularity::by_element},
    {"nccl-xml/rccl_topo_3p_pcie.xml", 3, 1, 2, 7, 0, 0, kByElement, Granularity::by_element},
    {"nccl-xml/rccl_topo_4p_940.xml", 4, 4, 4, 8, 0, 0, kByElement, Granularity::by_element},
    {"nccl-xml/rccl_topo_8p1h.xml", 8, 4, 2, 26, 0, 0, kByElement, Granularity::by_element},
    {"hwloc-xml/aws_g4dn.metal_8xt4.xml", 8, 2, 2, kNotCounted, 0, 0, kByHwlocType},
    {"hwloc-xml/chimera_mixed_gpus.xml", 1, 3, 4, kNotCounted, 0, 0, kByHwlocType},
    {"hwloc-xml/conan_2xtesla_ib_normalio.xml", 3, 3, 2, kNotCounted, 0, 0, kByHwlocType},
    {"hwloc-xml/conan_2xtesla_ib_wholeio.xml", 3, 3, 2, kNotCounted, 0, 0, kByHwlocType},
    {"hwloc-xml/corona_8xmi50_ib.xml", 8, 3, 2, kNotCounted, 0, 0, kByHwlocType},
    {"hwloc-xml/dgx2h_16xv100.xml", 16, 0, 2, kNotCounted, 192, 96, kByHwlocType},
    {"hwloc-xml/hwloc_diff_input1.xml", 0, 2, 2, kNotCounted, 0, 0, kByHwlocType},
    {"hwloc-xml/hwloc_diff_input2.xml", 0, 2, 2, kNotCounted, 0, 0, kByHwlocType},
    {"hwloc-xml/ipa20_xe8640_4xh100_4ib.xml", 4, 6, 8, kNotCounted, 12, 72, kByHwlocType},
    {"hwloc-xml/lassen_ac922_4xv100_4ib.xml", 4, 6, 2, kNotCounted, 0, 0, kByHwlocType},
    {"hwloc-xml/mirage_sl390_ib.xml", 3, 2, 2, kNotCounted, 0, 0, kByHwlocType},
    {"hwloc-xml/pascal_2xp100_opa.xml", 2, 3, 2, kNotCounted, 0, 0, kByHwlocType},
    {"hwloc-xml/power8_minsky_4xp100.xml", 4, 0, 2, kNotCounted, 12, 16, kByHwlocType},
    {"hwloc-xml/sierra_cluster_node0.xml", 4, 6, 6, kNotCounted, 0, 0, kByHwlocType},
    {"hwloc-xml/sierra_cluster_node1.xml", 4, 6, 6, kNotCounted, 0, 0, kByHwlocType},
    {"hwloc-xml/tuolumne_mi300a_cpx.xml", 4, 5, 4, kNotCounted, 0, 0, kByHwlocType},
    {"hwloc-xml/tuolumne_mi300a_spx.xml", 4, 5, 4, kNotCounted, 0, 0, kByHwlocType},
    {"tools/lspci/gpud_lspci_vvv.txt", 8, 14, 0, kNotCounted, 0, 0,
     "grep -c of \"3D controller: \", \"Ethernet controller: \""},
    {"topo-m/a800_8gpu_4nic.txt", 8, 4, 0, 0, 0, 64,
     "by eye: NV8 in every row, 8 through switches, × 8 GPUs"},
    {"topo-m/cutlass_doc_8gpu_a.txt", 8, 0, 0, 0, 0, 144, "by eye: NV18 × 8 GPUs, no NIC columns"},
    {"topo-m/dgx1_v100_4mlx5_pystring.txt", 8, 4, 0, 0, 0, 48,
     "by eye: row GPU0 has NV1 NV1 NV2 NV2 = 6, × 8"},
    {"topo-m/oci_bm_gpu_h100_8_18nic.txt", 8, 18, 0, 0, 0, 144, "by eye: NV18 × 8, NIC0 to NIC17"},
    {"topo-m/p2p_or_topo_nccl_doc_8gpu.txt", 8, 0, 0, 0, 0, 0, "by eye: OK in all cells: topo -p2p"},
    {"topo-m/s114_2gpu_4nic.txt", 2, 4, 0, 0, 0, 0, "by eye: SYS between the GPUs"},
    {"topo-m/tf_gdr_4gpu_mlx5_soc.txt", 4, 1, 0, 0, 0, 0, "by eye: SOC and PHB only"},
    {"topo-m/vm_1xh100_mig_drv590.txt", 1, 0, 0, 0, 0, 0, kOneGpu},
    {"topo-m/vm_1xh100_sxm_drv590.txt", 1, 0, 0, 0, 0, 0, kOneGpu},
    {"topo-m/vm_1xl40s_drv595.txt", 1, 0, 0, 0, 0, 0, kOneGpu},
    {"topo-m/ws_1x2080super_drv610.txt", 1, 0, 0, 0, 0, 0, kOneGpu},
    {"topo-m/ws_1x4080super_drv595.txt", 1, 0, 0, 0, 0, 0, kOneGpu},
    {"tools/nvlink-s/azure_bad_inactive.txt", 1, 0, 0, 0, 0, 0, "by eye: all links are inactive"},
    {"tools/nvlink-s/azure_good.txt", 1, 0, 0, 0, 0, 12, kByLink},
    {"tools/nvlink-s/h800_partial.txt", 3, 0, 0, 0, 0, 24,
     "by eye: GPU 0, 1, 7 with 8 links each; 2 to 6 elided"},
    {"tools/nvlink-s/p4de_gpu0.txt", 1, 0, 0, 0, 0, 12, kByLink},
    {"tools/nvlink-s/vm_1xh100_mig_drv590.txt", 1, 0, 0, 0, 0, 0, "by eye: MIG mode, no links listed"},
    {"tools/nvlink-s/vm_1xh100_sxm_drv590.txt", 1, 0, 0, 0, 0, 18, kByLink},
    {"tools/nvlink-s/win_1x2080super_drv591_error.txt", 1, 0, 0, 0, 0, 0, "by eye: all links are inActive"},
    {"tools/nvlink-s/win_1x2080super_drv610.txt", 1, 0, 0, 0, 0, 0, "by eye: all links are inActive"},
    {"tools/nvlink-s/ws_1x2080super_drv610.txt", 1, 0, 0, 0, 0, 0, "by eye: all links are inActive"},
    {"tools/p2p/k80_4gpu_p2p_NS.txt", 4, 0, 0, 0, 0, 0, "by eye: OK in pairs, NS across"},
    {"tools/nvsmi-xml/a100-sxm4-v12.xml", 1, 0, 0, 1, 0, 0, "grep -c '<gpu id'"},
    {"tools/nvsmi-xml/a10g.xml", 1, 0, 0, 1, 0, 0, "grep -c '<gpu id'"},
    {"tools/nvsmi-xml/gtx-1070-ti.xml", 1, 0, 0, 1, 0, 0, "grep -c '<gpu id'"},
    {"tools/nvsmi-xml/quadro-p2000-v12.xml", 1, 0, 0, 1, 0, 0, "grep -c '<gpu id'"},
    {"tools/nvsmi-xml/rtx-3080-v13.xml", 1, 0, 0, 1, 0, 0, "grep -c '<gpu id'"},
    {"tools/nvsmi-xml/rtx-3090-v12.xml", 1, 0, 0, 1, 0, 0, "grep -c '<gpu id'"},
    {"tools/nvsmi-xml/rtx-4000-sff-ada-v13.xml", 1, 0, 0, 1, 0, 0, "grep -c '<gpu id'"},
    {"tools/nvsmi-xml/tesla-t4.xml", 1, 0, 0, 1, 0, 0, "grep -c '<gpu id'"},
    {"tools/nvsmi-capture/linux-x86_64__nvidia-geforce-rtx-2080-super__610.57.04.txt", 1, 0, 0, 1, 0, 0,
     "by eye: one GPU in topo -m, nvlink -s and csv"},
    {"tools/nvsmi-capture/linux-x86_64__nvidia-geforce-rtx-4080-super__595.71.05.txt", 1, 0, 0, 1, 0, 0,
     "by eye: one GPU in topo -m, nvlink -s and csv"},
    {"tools/nvsmi-capture/linux-x86_64__nvidia-h100-80gb-hbm3__590.48.01.txt", 1, 0, 0, 1, 0, 18,
     "by eye: one GPU in topo -m, nvlink -s and csv"},
    {"tools/nvsmi-capture/linux-x86_64__nvidia-h100-mig__590.48.01.txt", 1, 0, 0, 1, 0, 0,
     "by eye: one GPU in topo -m, nvlink -s and csv"},
    {"tools/nvsmi-capture/windows-x86_64__nvidia-geforce-rtx-2080-super__591.86.txt", 1, 0, 0, 1, 0, 0,
     "by eye: one GPU in topo -m, nvlink -s and csv"},
    {"tools/nvsmi-capture/windows-x86_64__nvidia-geforce-rtx-2080-super__610.62.txt", 1, 0, 0, 1, 0, 0,
     "by eye: one GPU in topo -m, nvlink -s and csv"},
};

constexpr UnseenRemoval kTakenAwayUnseen[] = {
    {"nccl-xml/azure_nc", "<graph .*", "a graph is of one algorithm: the others go through the same GPUs"},
    {"tools/nvsmi-capture/", "GPU.*",
     "topo -m, nvlink -s and --query-gpu of one GPU: the others still tell of it"},
};

struct Refused {
  const char* file;
  const char* reason;
};

constexpr Refused kRefused[] = {
    {"hwloc-xml/dgx2h_16xv100.test", "this file does not describe a machine"},
    {"nccl-xml/mew0_NVLINK_FAILURE_SIMULATION.md", "this file does not describe a machine"},
    {"tools/azure_bad_nvsmi8.txt", "the text output of nvidia-smi -q"},
    {"tools/azure_orig_nvsmi8.txt", "the text output of nvidia-smi -q"},
    {"tools/azure_ib_6flap_syslog.txt", "a system log"},
    {"tools/fabricmanager_gpud.log", "a log of the fabric manager"},
    {"tools/lspci/a100_lspci_nn_gpud.txt", "lspci output without details"},
    {"tools/lspci/a10_lspci_nn_gpud.txt", "lspci output without details"},
    {"tools/nvlink-s/a10_gpud_EMPTY.txt", "the file is empty"},
    {"tools/s114_check_env.txt", "s114_check_env.txt:35: 'GPU0GPU1NIC0NIC1NIC2NIC3CPU Affinity"},
    {"tools/superbench_ibstat.txt", "this file does not describe a machine"},
    {"tools/superbench_nvbandwidth.log", "the output of nvbandwidth"},
    {"tools/sysfs_infiniband_h100.tsv", "this file does not describe a machine"},  // read as a tree below
    // The columns of the NICs were lost, and their rows were not.
    {"topo-m/h800_8gpu.txt", "h800_8gpu.txt:10: found row NIC0 where the header has no more devices"},
    {"topo-m/win_1x2080super_drv591_error.txt",
     ":1: nvidia-smi failed: 'ERROR: Option -m is missing its value"},
};

class Corpus : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("COLLBENCH_CORPUS");
    if (folder == nullptr)
      GTEST_SKIP() << "COLLBENCH_CORPUS is not set: the corpus of real machines is not read";
    folder_ = folder;
  }

  [[nodiscard]] Host read(const std::string& file) const {
    return read_any_topology(read_file(folder_ / file), file).hosts.at(0);
  }

  fs::path folder_;
};

TEST_F(Corpus, HoldsWhatWasCounted) {
  for (const Held& row : kHeld) {
    SCOPED_TRACE(std::string(row.file) + ", counted " + row.how);
    const Host host = read(row.file);
    EXPECT_EQ(held(row), held(row, host));
    EXPECT_EQ("", find_inconsistency(host));
  }
}

TEST_F(Corpus, NothingCanBeTakenAwayUnseen) {
  for (const Held& row : kHeld)
    expect_every_removal_is_seen(row, read_file(folder_ / row.file), kTakenAwayUnseen);
}

TEST_F(Corpus, RefusesForTheRightReason) {
  for (const Refused& row : kRefused) {
    const std::string said = refusal([&] { (void)read(row.file); });
    EXPECT_NE(std::string::npos, said.find(row.reason)) << row.file << ": " << said;
  }
  for (const auto& entry : fs::directory_iterator(folder_ / "tools/azure-expected")) {
    const std::string said =
        refusal([&] { (void)read("tools/azure-expected/" + entry.path().filename().string()); });
    EXPECT_NE(std::string::npos, said.find("this file does not describe a machine"))
        << entry.path() << ": " << said;
  }
}

TEST_F(Corpus, EveryFileHasItsRow) {
  std::set<std::string> listed;
  for (const Held& row : kHeld) listed.insert(row.file);
  for (const Refused& row : kRefused) listed.insert(row.file);
  for (const char* kind : {"topo-m", "nccl-xml", "hwloc-xml", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / kind)) {
      const std::string name = fs::relative(entry.path(), folder_).string();
      if (!entry.is_regular_file() || name.starts_with("tools/azure-expected/")) continue;
      EXPECT_EQ(1U, listed.count(name)) << name << " has no row";
    }
  }
}

TEST_F(Corpus, SurvivesSavingAndLoading) {
  for (const Held& row : kHeld) {
    const Topology saved{{read(row.file)}};
    EXPECT_EQ(saved, load_topology(save_topology(saved), row.file)) << row.file;
  }
}

TEST_F(Corpus, NcclXmlWrittenAndReadIsTheSameGraph) {
  for (const Held& row : kHeld) {
    if (!std::string_view(row.file).starts_with("nccl-xml/")) continue;
    if (std::string_view(row.file).ends_with("-graph.xml")) continue;
    Host first = read(row.file);
    Host again = read_nccl_topology_xml(write_nccl_topology_xml(first), row.file);
    first.notes.clear();  // what was left out is not written
    again.notes.clear();
    EXPECT_EQ(first, again) << row.file;
  }
}

TEST_F(Corpus, FaultThatMew0Injected) {
  const Host fault = read("nccl-xml/mew0_2xa100pcie_dump_fault.xml");
  EXPECT_EQ(1, nvlinks_between(fault, {DeviceKind::gpu, 0}, {DeviceKind::gpu, 1}));
  EXPECT_EQ(12, nvlinks_between(fault, {DeviceKind::gpu, 1}, {DeviceKind::gpu, 0}));
  // What both ends agree on is what carries.
  EXPECT_EQ(1, path_between(fault, {DeviceKind::gpu, 0}, {DeviceKind::gpu, 1})->nvlinks);
}

TEST_F(Corpus, RingsOfTheProvidersGraph) {
  const Host host =
      merge_hosts({read("nccl-xml/azure_ncv4-topo.xml"), read("nccl-xml/azure_ncv4-graph.xml")});
  ASSERT_EQ(host.gpus.size(), 4U);
  ASSERT_EQ(host.nccl_graphs.size(), 3U);
  EXPECT_EQ(channel_text(host, host.nccl_graphs[0], host.nccl_graphs[0].channels.at(1)),
            "GPU0 → GPU3 → GPU2 → GPU1 → GPU0");
  EXPECT_EQ(host.nccl_graphs[1].channels.size(), 4U);
  EXPECT_EQ(host.nccl_graphs[2].intra_type.value, PathType::sys);
}

TEST_F(Corpus, SelfLinksOfTheProvidersFileAreSaid) {
  const Host host = read("nccl-xml/azure_ncv4-topo.xml");
  ASSERT_EQ(4U, host.notes.size());
  EXPECT_NE(std::string::npos, host.notes[0].text.find(":5: an NVLink of 0001:00:00.0 loops back to itself"));
}

TEST_F(Corpus, InfinibandTree) {
  // The file lists path TAB value; laid out again it is a tree like /sys/class/infiniband.
  const TemporaryFolder tree;
  const fs::path& root = tree.path();
  std::ifstream in(folder_ / "tools/sysfs_infiniband_h100.tsv");
  for (std::string line; std::getline(in, line);) {
    const std::size_t tab = line.find('\t');
    const fs::path file = root / "class/infiniband" / line.substr(0, tab);
    fs::create_directories(file.parent_path());
    std::ofstream(file) << line.substr(tab + 1) << '\n';
  }
  const Host host = read_sysfs_infiniband(root);
  ASSERT_EQ(9U, host.nics.size());  // grep -c node: 8 × hca_type of mlx5_N, 1 of mlx5_bond_0
  EXPECT_EQ("mlx5_4", host.nics[2].name.value);
  EXPECT_EQ(400, host.nics[2].ports.at(0).gigabits_per_second.value);
  EXPECT_EQ("ACTIVE", host.nics[2].ports[0].state.value);
  EXPECT_EQ("Ethernet", host.nics[8].ports.at(0).link_layer.value);
  EXPECT_EQ(200, host.nics[8].ports[0].gigabits_per_second.value);
}

}  // namespace
}  // namespace collbench::topology::corpus_test
