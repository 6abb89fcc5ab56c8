// Pairs of recordings of real machines: what a careful reader of both files lists, and why. Skipped when
// COLLBENCH_CORPUS does not name the corpus.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "topology/catalog/finding_kinds.hpp"
#include "topology/diff/topology_diff.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::diff_corpus_test {
namespace {

namespace fs = std::filesystem;

struct ReadPair {
  const char* a;
  const char* b;
  std::vector<std::string> findings;  ///< "code, side, devices"
  const char* reason;
};

const std::vector<ReadPair>& read_pairs() {
  static const std::vector<ReadPair> pairs{
      {"nccl-xml/mew0_2xa100pcie_dump_normal.xml",
       "nccl-xml/mew0_2xa100pcie_dump_fault.xml",
       {"nvlink-fewer, b, GPU0 (0000:17:00.0)"},
       "diff shows two lines: host_hash stands elsewhere in <cpu>, which is order; and the nvlink of 17:00.0 "
       "to "
       "65:00.0 has count 1 instead of 12, in that direction only"},
      {"nccl-xml/mew0_topo_real_input.xml",
       "nccl-xml/mew0_topo_fail_input.xml",
       {"nvlink-fewer, b, GPU0 (0000:17:00.0)"},
       "the hand-edited input of that fault: one count 12 to 1"},
      {"hwloc-xml/hwloc_diff_input1.xml",
       "hwloc-xml/hwloc_diff_input2.xml",
       {},
       "two nodes of one cluster: MAC addresses, GUIDs, LIDs, host name; eth0 has lost its name and eth1 is "
       "eth11, which are names"},
      {"hwloc-xml/conan_2xtesla_ib_wholeio.xml",
       "hwloc-xml/conan_2xtesla_ib_normalio.xml",
       {},
       "one machine under two filters: the second leaves out devices that are neither GPU nor NIC"},
      {"hwloc-xml/sierra_cluster_node0.xml",
       "hwloc-xml/sierra_cluster_node1.xml",
       {},
       "two healthy nodes: host name, GUIDs, LIDs, MAC addresses, a disk's serial number, and which cores of "
       "package 8 share an L2; no GPU, NIC, NUMA node or CPU set of one differs"},
      {"tools/nvlink-s/azure_good.txt",
       "tools/nvlink-s/azure_bad_inactive.txt",
       {"nvlink-off, b, GPU6"},
       "one A100 in each: 12 links at 25 GB/s against \"all links are inactive\"; that they are GPU 7 and "
       "GPU 6 is "
       "a number"},
      {"hwloc-xml/tuolumne_mi300a_spx.xml",
       "hwloc-xml/tuolumne_mi300a_cpx.xml",
       {"partitions, b, GPU0 (0000:02:00.0), GPU1 (0001:02:00.0), GPU2 (0002:02:00.0) and GPU3 "
        "(0003:02:00.0)"},
       "four MI300A, as one device each against six each (rsmi0 to rsmi23); MAC addresses and hive ids are "
       "identities"},
      {"tools/nvsmi-capture/linux-x86_64__nvidia-h100-80gb-hbm3__590.48.01.txt",
       "tools/nvsmi-capture/linux-x86_64__nvidia-h100-mig__590.48.01.txt",
       {"mig-on, b, GPU0 (0000:00:09.0)"},
       "MIG mode is Enabled on the second, which is why its NVLinks cannot be queried"},
  };
  return pairs;
}

std::string corpus() {
  const char* folder = std::getenv("COLLBENCH_CORPUS");  // NOLINT(concurrency-mt-unsafe)
  return folder == nullptr ? "" : folder;
}

Host read(const std::string& file) {
  return read_any_topology(read_file(corpus() + "/" + file), file).hosts.at(0);
}

std::vector<std::string> found(const Host& a, const Host& b) {
  std::vector<std::string> words;
  for (const Finding& finding : diff_hosts(pair_hosts(a, b, false)).findings) {
    words.push_back(std::string(finding.code) + ", " + (finding.side == Side::a ? "a" : "b") + ", " +
                    finding.device);
  }
  return words;
}

TEST(DiffCorpus, EachPairHasTheFindingsOfACarefulReaderAndNoMore) {
  if (corpus().empty()) GTEST_SKIP() << "COLLBENCH_CORPUS is not set";
  for (const ReadPair& pair : read_pairs()) {
    EXPECT_THAT(found(read(pair.a), read(pair.b)), testing::ElementsAreArray(pair.findings)) << pair.reason;
  }
}

TEST(DiffCorpus, APairIsTheSameTheOtherWayRound) {
  if (corpus().empty()) GTEST_SKIP() << "COLLBENCH_CORPUS is not set";
  for (const ReadPair& pair : read_pairs()) {
    EXPECT_EQ(found(read(pair.b), read(pair.a)).size(), pair.findings.size()) << pair.a;
  }
}

/// A file against itself: only what is a fault without any comparison, on both sides.
TEST(DiffCorpus, AMachineDoesNotDifferFromItself) {
  if (corpus().empty()) GTEST_SKIP() << "COLLBENCH_CORPUS is not set";
  int files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(corpus())) {
    if (!entry.is_regular_file()) continue;
    const std::string name = fs::relative(entry.path(), corpus()).string();
    std::vector<Host> hosts;
    try {
      hosts = read_any_topology(read_file(entry.path().string()), name).hosts;
    } catch (const Error&) {
      continue;  // not a description of a machine
    }
    ++files;
    for (const Host& host : hosts) {
      for (const Finding& finding : diff_hosts(pair_hosts(host, host, false)).findings) {
        // x8 where nvidia-smi says that both ends could do x16; an A100 without links.
        EXPECT_THAT(std::string(finding.code), testing::AnyOf("pcie-narrow", "nvlink-off")) << name;
      }
    }
  }
  EXPECT_GT(files, 60);
}

/// A published file of a healthy machine of a reference machine's type, and what a careful reader lists.
struct Published {
  const char* reference;
  const char* file;
  std::vector<std::string> findings;
  const char* reason;
};

const std::vector<Published>& published() {
  static const std::vector<Published> machines{
      {"dgx-1v", "topo-m/dgx1_v100_4mlx5_pystring.txt", {}, "NVIDIA's DGX-1, in the tests of msccl-tools"},
      {"ndv4", "nccl-xml/azure_ndv4-topo.xml", {}, "Azure's own file"},
      {"p4de", "nccl-xml/aws_p4d-24xl-topo.xml", {}, "AWS's own file, of p4d and p4de"},
      {"oci-h100", "nccl-xml/oci_H100-topology.xml", {}, "OCI's own file: 180 Gb/s for ports of 200"},
      {"oci-h100", "nccl-xml/oci_H100-topology-kubernetes.xml", {}, "the same without two NICs of the host"},
      {"oci-h100",
       "topo-m/oci_bm_gpu_h100_8_18nic.txt",
       {"extra-device, b, mlx5_2 and mlx5_11"},
       "two NICs of the host, which are not of the cluster's network"},
      {"hgx-h100",
       "tools/lspci/gpud_lspci_vvv.txt",
       {"extra-device, b, 0000:01:00.0, 0000:01:00.1, 0000:1b:00.0, 0000:1b:00.1, 0000:9d:00.0 and "
        "0000:9d:00.1"},
       "Dell's 8 × H100 SXM: a ConnectX-6 Dx and others beside the eight ConnectX-7"},
      {"hgx-h100", "topo-m/cutlass_doc_8gpu_a.txt", {}, "NV18 between all; it names no model"},
      {"hgx-h800", "tools/nvlink-s/h800_partial.txt", {}, "three of eight GPUs, numbered 0, 1 and 7"},
      {"hgx-a100",
       "nccl-xml/oci_topo-flattened-b4.xml",
       {},
       "OCI's 8 × A100 (BM.GPU4.8): two GPUs and two NICs a switch, in four NUMA nodes"},
  };
  return machines;
}

TEST(DiffCorpus, EveryReferenceMachineMatchesWhatIsPublishedOfIt) {
  if (corpus().empty()) GTEST_SKIP() << "COLLBENCH_CORPUS is not set";
  for (const Published& each : published()) {
    const Host reference = reference_host(*find_reference_machine(each.reference));
    std::vector<std::string> words;
    for (const Finding& finding : diff_hosts(pair_hosts(reference, read(each.file), true)).findings) {
      words.push_back(std::string(finding.code) + ", " + (finding.side == Side::a ? "a" : "b") + ", " +
                      finding.device);
    }
    EXPECT_THAT(words, testing::ElementsAreArray(each.findings)) << each.file << ": " << each.reason;
  }
}

}  // namespace
}  // namespace collbench::topology::diff_corpus_test
