// Published listings of healthy machines that are in no file at hand, written down by what they say: which
// devices share a PCIe switch, a CPU or neither. A reference machine of their type finds nothing degraded or
// broken.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/topology/diff/findings.hpp"
#include "tests/topology/fixture.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::paths_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

/// Where a device hangs: devices of one switch are PIX, of one CPU NODE, else SYS.
struct At {
  int pcie_switch;
  int cpu;
};

struct Listing {
  std::string nvlinks;  ///< the cell of two GPUs
  std::vector<At> gpus;
  std::vector<At> nics;
};

std::string cell(const Listing& listing, std::size_t from, std::size_t to) {
  const std::size_t gpus = listing.gpus.size();
  if (from == to) return " X ";
  if (from < gpus && to < gpus) return listing.nvlinks;
  const auto at = [&](std::size_t i) { return i < gpus ? listing.gpus[i] : listing.nics[i - gpus]; };
  if (at(from).pcie_switch == at(to).pcie_switch) return "PIX";
  return at(from).cpu == at(to).cpu ? "NODE" : "SYS";
}

Host read(const Listing& listing) {
  const std::size_t count = listing.gpus.size() + listing.nics.size();
  const auto label = [&](std::size_t i) {
    return i < listing.gpus.size() ? fmt::format("GPU{}", i) : fmt::format("NIC{}", i - listing.gpus.size());
  };
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "\t" + label(i);
  text += "\tCPU Affinity\tNUMA Affinity\n";
  for (std::size_t row = 0; row < count; ++row) {
    text += label(row);
    for (std::size_t column = 0; column < count; ++column) text += "\t" + cell(listing, row, column);
    text += row < listing.gpus.size() ? fmt::format("\t{0}-{1}\t{2}\n", 16 * listing.gpus[row].cpu,
                                                    16 * listing.gpus[row].cpu + 15, listing.gpus[row].cpu)
                                      : "\t\t\n";
  }
  text += "\nNIC Legend:\n\n";
  for (std::size_t i = 0; i < listing.nics.size(); ++i) text += fmt::format("  NIC{0}: mlx5_{0}\n", i);
  return read_nvidia_smi_topo(text, "published.txt");
}

auto code(std::string_view text) { return Field(&Finding::code, text); }

std::vector<Finding> against(std::string_view reference, const Listing& listing) {
  return findings(reference_host(*find_reference_machine(reference)), read(listing), true);
}

/// Two GPUs and two NICs below each switch, two switches to a CPU: Google's A4 (kubernetes-sigs/dranet).
const std::vector<At> kTwoToASwitch{{0, 0}, {0, 0}, {1, 0}, {1, 0}, {2, 1}, {2, 1}, {3, 1}, {3, 1}};

TEST(PublishedMachines, SwitchesThatAreSharedAreNoFault) {
  for (const char* reference : {"hgx-b200", "hgx-h200", "hgx-h100"}) {
    const auto found = against(reference, {"NV18", kTwoToASwitch, kTwoToASwitch});
    ASSERT_THAT(found, ElementsAre(code("exceeds-reference"))) << reference;
    EXPECT_EQ(
        found[0].what,
        "12 pairs of devices are closer than on the reference machine; the first: GPU0 and mlx5_1 through "
        "one PCIe switch instead of through one CPU");
  }
}

TEST(PublishedMachines, NicsForStorageAreNotTakenForThoseOfTheRails) {
  // 8 × H100 with two ports of a storage card beside each four NICs; 8 × H20 with three NICs more
  // (sgl-project/sglang#28893).
  const std::vector<At> with_storage{{0, 0}, {0, 0}, {1, 0}, {1, 0}, {8, 0}, {8, 0},
                                     {2, 1}, {2, 1}, {3, 1}, {3, 1}, {9, 1}, {9, 1}};
  const std::vector<At> three_more{{0, 0}, {0, 0}, {1, 0}, {1, 0}, {2, 1}, {2, 1},
                                   {3, 1}, {3, 1}, {3, 1}, {8, 1}, {9, 1}};
  for (const auto& [nics, extra] : {std::pair(with_storage, "mlx5_4, mlx5_5, mlx5_10 and mlx5_11"),
                                    {three_more, "mlx5_8, mlx5_9 and mlx5_10"}}) {
    EXPECT_THAT(
        against("hgx-h100", {"NV18", kTwoToASwitch, nics}),
        ElementsAre(AllOf(code("extra-device"), Field(&Finding::device, extra)), code("exceeds-reference")));
  }
}

TEST(PublishedMachines, ANodeForEachSwitchIsASettingAndNoFault) {
  // NVIDIA/nccl#1505: NPS4, so that two GPUs and two NICs are a NUMA node; two NICs for storage.
  const std::vector<At> gpus{{0, 3}, {0, 3}, {1, 1}, {1, 1}, {2, 7}, {2, 7}, {3, 5}, {3, 5}};
  std::vector<At> nics = gpus;
  nics.push_back({8, 0});
  nics.push_back({9, 4});
  for (const char* reference : {"dgx-a100", "hgx-a100"}) {
    EXPECT_THAT(against(reference, {"NV12", gpus, nics}), ElementsAre(code("extra-device"))) << reference;
  }
}

TEST(PublishedMachines, OnGraceTheMatrixSaysSysOfAll) {
  // sgl-project/sglang#11208 and kubernetes-sigs/dranet's example of OCI's GB200: every GPU and every NIC SYS
  // of each other, though two GPUs and half of the NICs are of one CPU.
  const std::vector<At> gpus{{0, 0}, {1, 0}, {2, 1}, {3, 1}};
  std::vector<At> nics;
  for (int i = 0; i < 6; ++i) nics.push_back({10 + i, 100 + i});
  EXPECT_THAT(against("gb200-nvl72", {"NV18", gpus, nics}), ElementsAre(code("extra-device")));
  // Two ports of a card of BlueField share it: those are no NICs of the reference.
  nics[2] = nics[3] = {20, 100};
  EXPECT_THAT(against("gb200-nvl72", {"NV18", gpus, nics}),
              ElementsAre(AllOf(code("extra-device"), Field(&Finding::device, HasSubstr("mlx5_")))));
  nics.resize(4);
  nics[2] = {12, 102};
  nics[3] = {13, 103};
  EXPECT_THAT(against("gb200-nvl72", {"NV18", gpus, nics}), IsEmpty());
}

TEST(PublishedMachines, ANicThatWentToTheOtherCpuIsStillFound) {
  std::vector<At> nics = kTwoToASwitch;
  nics[3] = {9, 1};
  EXPECT_THAT(against("hgx-b200", {"NV18", kTwoToASwitch, nics}),
              testing::Contains(AllOf(code("devices-apart"), Field(&Finding::device, HasSubstr("mlx5_3")))));
}

TEST(PublishedMachines, EachReferenceSaysWhatItWasCheckedAgainst) {
  std::vector<std::string_view> unchecked;
  for (const ReferenceMachine& machine : reference_machines()) {
    const Host host = reference_host(machine);
    EXPECT_THAT(texts(host.notes), testing::Contains(how_checked(machine))) << machine.name;
    if (checked_against(machine).empty()) unchecked.push_back(machine.name);
  }
  EXPECT_THAT(unchecked, ElementsAre("p5", "a3-mega", "a100-pcie", "hgx-h200", "h100-nvl", "l40s", "ndv5",
                                     "a3-ultra", "alps", "polaris", "hgx-b300", "gb300-nvl72"));
}

}  // namespace
}  // namespace collbench::topology::paths_test
