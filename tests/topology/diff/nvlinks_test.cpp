// What topo diff makes of `nvidia-smi topo -m`, which says less than a tree: NVLinks by pairs, no switches
// below them, no addresses.
#include <gmock/gmock.h>

#include <algorithm>
#include <ostream>

#include "base/text_input.hpp"
#include "tests/topology/diff/matrix_of.hpp"
#include "topology/diff/topology_diff.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {

/// For GoogleTest, which would print the bytes of it, addresses included, as part of a test's name.
/// It finds the function by this name in this namespace.
// NOLINTNEXTLINE(misc-use-anonymous-namespace,readability-identifier-naming)
static void PrintTo(const ReferenceMachine& machine, std::ostream* out) { *out << machine.name; }

}  // namespace collbench::topology

namespace collbench::topology::nvlinks_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> found(const Host& a, const Host& b, bool a_is_reference) {
  std::vector<std::string> words;
  for (const Finding& finding : diff_hosts(pair_hosts(a, b, a_is_reference)).findings)
    words.push_back(fmt::format("{} | {} | {}", finding.code, finding.device, finding.what));
  return words;
}

Host read_matrix(const std::string& text) { return read_nvidia_smi_topo(text, "matrix.txt"); }

/// The text with one cell of the row of `label` replaced.
std::string with_cell(const std::string& text, std::string_view label, std::size_t column,
                      const std::string& cell) {
  std::string changed;
  for (const std::string& line : split_cells(text, '\n')) {
    std::vector<std::string> cells = split_cells(line, '\t');
    if (cells.front() == label) cells.at(column) = cell;
    std::string joined;
    for (std::size_t i = 0; i < cells.size(); ++i) joined += (i == 0 ? "" : "\t") + cells[i];
    changed += joined + "\n";
  }
  return changed;
}

class ReferenceMatrix : public testing::TestWithParam<ReferenceMachine> {};

INSTANTIATE_TEST_SUITE_P(All, ReferenceMatrix,
                         testing::ValuesIn(reference_machines().begin(), reference_machines().end()),
                         [](const auto& machine) {
                           std::string name(machine.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(ReferenceMatrix, OfTheSameMachineIsNoDifference) {
  const Host host = reference_host(GetParam());
  const Host matrix = read_matrix(matrix_of(host));
  EXPECT_THAT(found(host, matrix, true), IsEmpty());
  EXPECT_THAT(found(host, matrix, false), IsEmpty());
  EXPECT_THAT(found(matrix, matrix, false), IsEmpty());
}

TEST_P(ReferenceMatrix, AGpuWithoutAnyLinkIsFound) {
  if (GetParam().nvlinks_per_gpu == 0) GTEST_SKIP() << "no NVLink";
  const Host host = reference_host(GetParam());
  for (int gpu = 0; gpu < static_cast<int>(host.gpus.size()); ++gpu) {
    Host without = host;
    std::erase_if(without.nvlinks, [gpu](const NvLinkBundle& bundle) {
      return bundle.from == Device{DeviceKind::gpu, gpu} || bundle.to == Device{DeviceKind::gpu, gpu};
    });
    const Host matrix = read_matrix(matrix_of(without));
    const std::string name = fmt::format("| GPU{} |", gpu);
    // Of a bridged pair both ends lose the link: which one is at fault no file says.
    const std::string code = GetParam().name == "h100-nvl" ? "nvlink-fewer" : "nvlink-off";
    EXPECT_THAT(found(host, matrix, true), ElementsAre(HasSubstr(code)));
    EXPECT_THAT(found(read_matrix(matrix_of(host)), matrix, false),
                ElementsAre(AllOf(HasSubstr(code), HasSubstr(code == "nvlink-off" ? name : "GPU"))));
  }
}

TEST_P(ReferenceMatrix, ANicThatIsTakenAwayIsNamed) {
  const Host host = reference_host(GetParam());
  const Host whole = read_matrix(matrix_of(host));
  for (int nic = 0; nic < static_cast<int>(host.nics.size()); ++nic) {
    const std::string name = fmt::format("mlx5_{}", nic);
    EXPECT_THAT(found(whole, read_matrix(matrix_of(host, {name})), false),
                ElementsAre("nic-missing | " + name + " | missing"));
  }
}

TEST_P(ReferenceMatrix, AGpuThatIsTakenAwayIsOneOfThoseOfItsSlots) {
  const Host host = reference_host(GetParam());
  const Host whole = read_matrix(matrix_of(host));
  for (int gpu = 0; gpu < static_cast<int>(host.gpus.size()); ++gpu) {
    const auto words = found(whole, read_matrix(matrix_of(host, {fmt::format("GPU{}", gpu)})), false);
    ASSERT_THAT(words, ElementsAre(HasSubstr("gpu-missing")));
    // The matrix tells GPUs of one switch apart by nothing.
    const int named = std::stoi(words.front().substr(words.front().find("GPU", 12) + 3));
    const auto nearest = [&](int index) { return nics_by_nearness(host, {DeviceKind::gpu, index}); };
    EXPECT_EQ(nearest(named), nearest(gpu)) << words.front();
  }
}

TEST(MatrixDiff, OneChangedNumaCellIsOneFinding) {
  for (const char* name : {"hgx-h100", "dgx-1v", "ndv4"}) {
    const std::string text = matrix_of(reference_host(*find_reference_machine(name)));
    const Host whole = read_matrix(text);
    const std::size_t numa = split_cells(text.substr(0, text.find('\n')), '\t').size() - 1;
    const Host changed = read_matrix(with_cell(text, "GPU1", numa, "1"));
    EXPECT_THAT(found(whole, changed, false),
                ElementsAre(AllOf(HasSubstr("numa-moved | GPU1"), HasSubstr("NUMA 1 instead of 0"))))
        << name;
  }
}

TEST(MatrixDiff, ACellOfNvLinksSaysNothingOfThePcieBelowIt) {
  const Host host = reference_host(*find_reference_machine("hgx-a100"));
  const Host matrix = read_matrix(matrix_of(host));
  EXPECT_THAT(found(host, matrix, true), IsEmpty());
  EXPECT_THAT(found(matrix, host, false), IsEmpty());
}

TEST(MatrixDiff, FewerLinksThanTheReferenceAreSaidOnceForAllPeers) {
  const Host host = reference_host(*find_reference_machine("hgx-h100"));
  Host fewer = host;
  for (NvLinkBundle& bundle : fewer.nvlinks) {
    if (bundle.from == Device{DeviceKind::gpu, 3} && bundle.to.index == 0) bundle.count.value = 1;
  }
  EXPECT_THAT(found(host, read_matrix(matrix_of(fewer)), true),
              ElementsAre(AllOf(HasSubstr("nvlink-fewer | GPU3 | 14 NVLinks instead of 18 with each of GPU0"),
                                Not(HasSubstr("NVSwitch")))));
}

TEST(MatrixDiff, AFindingOfTheMatrixIsInjectedIntoTheList) {
  const Host host = reference_host(*find_reference_machine("hgx-h100"));
  Host fewer = host;
  for (NvLinkBundle& bundle : fewer.nvlinks) {
    if (bundle.from == Device{DeviceKind::gpu, 3} && bundle.to.index == 0) bundle.count.value = 1;
  }
  const Host matrix = read_matrix(matrix_of(fewer));
  const HostPair pair = pair_hosts(host, matrix, true);
  const Host injected = inject_fault(pair, diff_hosts(pair).findings.at(0));
  EXPECT_EQ(nvlinks_of(injected, {DeviceKind::gpu, 3}), 14);
  EXPECT_EQ(nvlinks_of(injected, {DeviceKind::gpu, 2}), 18);
  EXPECT_EQ(nvlinks_between(injected, {DeviceKind::gpu, 3}, {DeviceKind::gpu, 2}), 14);
}

}  // namespace
}  // namespace collbench::topology::nvlinks_test
