// Which devices of matrices and lists without addresses are missing, unlisted, or have changed places.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "tests/topology/diff/findings.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology::devices_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// topo -m of `gpus` GPUs with `near` NICs beside each; the k-th block of NICs is beside GPU order[k].
std::string matrix(int gpus, int near, const std::vector<int>& order, bool legend = true) {
  std::vector<std::string> labels;
  for (int i = 0; i < gpus; ++i) labels.push_back(fmt::format("GPU{}", i));
  for (int i = 0; i < near * static_cast<int>(order.size()); ++i) labels.push_back(fmt::format("NIC{}", i));
  const auto group = [&](int i) { return i < gpus ? i : order[static_cast<std::size_t>((i - gpus) / near)]; };
  std::string text;
  for (const std::string& label : labels) text += "\t" + label;
  text += "\tCPU Affinity\tNUMA Affinity\n";
  for (int row = 0; row < static_cast<int>(labels.size()); ++row) {
    text += labels[static_cast<std::size_t>(row)];
    for (int column = 0; column < static_cast<int>(labels.size()); ++column) {
      const bool of_gpus = row < gpus && column < gpus;
      text += row == column ? "\t X " : of_gpus ? "\tNV12" : group(row) == group(column) ? "\tPIX" : "\tNODE";
    }
    text += row < gpus ? "\t0-31\t0\n" : "\t\t\n";
  }
  if (legend) {
    text += "\nNIC Legend:\n\n";
    for (int i = 0; i < near * static_cast<int>(order.size()); ++i)
      text += fmt::format("  NIC{0}: mlx5_{0}\n", i);
  }
  return text;
}

std::vector<int> in_order(int count) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Host read(const std::string& text) { return read_nvidia_smi_topo(text, "T.txt"); }

TEST(MatrixDiff, TwoGpusWithEachOthersNicsAreFound) {
  for (const int near : {1, 2, 4}) {
    for (const int gpus : {2, 4, 8}) {
      for (const int with : {1, gpus / 2, gpus - 1}) {
        for (const bool legend : {true, false}) {
          std::vector<int> order = in_order(gpus);
          std::swap(order[0], order[static_cast<std::size_t>(with)]);
          const Host usual = read(matrix(gpus, near, in_order(gpus), legend));
          const Host swapped = read(matrix(gpus, near, order, legend));
          SCOPED_TRACE(fmt::format("{} GPUs with {} NICs, 0 and {}", gpus, near, with));
          EXPECT_THAT(
              findings(usual, swapped),
              ElementsAre(AllOf(
                  Field(&Finding::code, "nic-renumbered"),
                  Field(&Finding::what, HasSubstr(fmt::format("{0}{1} is where {0}0 was",
                                                              legend ? "mlx5_" : "NIC", with * near))))));
          EXPECT_THAT(findings(usual, usual), IsEmpty());
        }
      }
    }
  }
}

/// A container does not see them, so they are not said to be missing; nor is it said that nothing differs.
TEST(MatrixDiff, NicsThatAreNotListedAreSaidNotToBe) {
  const Host with = read(matrix(2, 1, in_order(2)));
  const Host one = read(matrix(2, 1, {0}));
  const Host none = read(matrix(2, 1, {}));
  for (const Host* listed : {&with, &one}) {
    EXPECT_THAT(findings(*listed, none),
                ElementsAre(AllOf(Field(&Finding::code, "nics-unlisted"), Field(&Finding::side, Side::b))));
    EXPECT_THAT(findings(none, *listed),
                ElementsAre(AllOf(Field(&Finding::code, "nics-unlisted"), Field(&Finding::side, Side::a))));
    for (const bool turned : {false, true}) {
      const auto names =
          not_compared(turned ? pair_hosts(none, *listed, false) : pair_hosts(*listed, none, false));
      EXPECT_THAT(names, Contains("NICs"));
      EXPECT_THAT(names, Not(Contains(HasSubstr("NIC rates"))));
    }
  }
  EXPECT_THAT(not_compared(pair_hosts(with, one, false)), Not(Contains("NICs")));
  EXPECT_THAT(findings(with, one), ElementsAre(Field(&Finding::code, "nic-missing")));
  EXPECT_THAT(findings(none, none), IsEmpty());
}

/// nvidia-smi lists RDMA devices only: of interfaces without one it hides none.
TEST(MatrixDiff, NicsThatItNeverListsAreNotSaidToBeUnlisted) {
  const Host none = read(matrix(2, 1, {}));
  Host server = none;
  server.sources.push_back({"sysfs net", "/sys/class/net", ""});
  for (const char* name : {"eno1", "enp65s0f0np0"}) server.nics.emplace_back().interfaces.value = name;
  for (const auto& [a, b] : {std::pair(server, none), std::pair(none, server)}) {
    EXPECT_THAT(findings(a, b), IsEmpty());
    EXPECT_THAT(not_compared(pair_hosts(a, b, false)), Not(Contains("NICs")));
  }
  for (const char* name : {"mlx5_0", "rocep65s0f0", "rdmap79s0", "ibp24s0", "bnxt_re0"}) {
    server.nics[1].name.value = name;
    const auto found = findings(server, none);
    ASSERT_THAT(found, ElementsAre(Field(&Finding::code, "nics-unlisted"))) << name;
    EXPECT_EQ(found[0].what, "none is listed; the other machine has 1");
  }
}

/// Against a machine type, a matrix of a container is no fault; what it does not list is not compared.
TEST(MatrixDiff, AReferenceSaysThatNicsAreNotCompared) {
  const Host reference = reference_host(*find_reference_machine("hgx-a100"));
  const Host none = read(matrix(8, 1, {}));
  EXPECT_THAT(findings(reference, none, true), IsEmpty());
  EXPECT_THAT(not_compared(pair_hosts(reference, none, true)), Contains("NICs"));
}

std::string links_of(int gpus) {
  std::string text;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    text += fmt::format("GPU {0}: NVIDIA A100-SXM4-80GB (UUID: GPU-{0}{0})\n", gpu);
    for (int link = 0; link < 12; ++link) text += fmt::format("\t Link {}: 25 GB/s\n", link);
  }
  return text;
}

/// A list of links and a matrix of NVLinks say nothing of PCIe switches: GPUs are missing, not what they hung
/// on.
TEST(MissingDevices, OfAListWithoutSwitchesAreGpus) {
  const Host reference = reference_host(*find_reference_machine("hgx-a100"));
  Host machine = reference;
  machine.sources = {{"NCCL topology XML", "node.xml", ""}};
  for (const int gpus : {1, 2, 4, 7}) {
    for (const Host& fewer : {read_nvidia_smi_nvlink(links_of(gpus), "N.txt"), read(matrix(gpus, 1, {}))}) {
      for (const bool is_reference : {true, false}) {
        const auto found = findings(is_reference ? reference : machine, fewer, is_reference);
        SCOPED_TRACE(fmt::format("{} GPUs of {}", gpus, fewer.sources[0].reader));
        // The matrix has all of them on one NUMA node.
        EXPECT_THAT(
            found, Each(Field(&Finding::code, testing::AnyOf("gpu-missing", "nics-unlisted", "numa-moved"))));
        std::size_t missing = 0;
        for (const Finding& each : found) missing += each.code == "gpu-missing" ? each.devices.size() : 0;
        EXPECT_EQ(missing, 8U - static_cast<std::size_t>(gpus));
      }
    }
  }
}

}  // namespace
}  // namespace collbench::topology::devices_test
