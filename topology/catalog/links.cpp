#include "topology/catalog/links.hpp"

#include <array>
#include <cmath>

namespace collbench::topology {
namespace {

constexpr std::string_view kNccl = "NCCL 2.30 src/graph/topo.h";

struct PcieStep {
  int generation;
  double gigatransfers_per_second;
  double nccl_units;  ///< NCCL's speed per lane; width × this / 80 = GB/s
};

constexpr std::array<PcieStep, 6> kPcie{
    {{1, 2.5, 15}, {2, 5, 30}, {3, 8, 60}, {4, 16, 120}, {5, 32, 240}, {6, 64, 480}}};

const PcieStep* pcie_step(double gigatransfers_per_second) {
  for (const PcieStep& step : kPcie) {
    if (std::fabs(step.gigatransfers_per_second - gigatransfers_per_second) < 0.01) return &step;
  }
  return nullptr;
}

}  // namespace

LinkRate nvlink_rate(int sm) {
  if (sm >= 100) return {40.1, kNccl};
  if (sm >= 90) return {20.6, kNccl};
  if (sm == 86) return {12, kNccl};
  if (sm >= 70) return {20, kNccl};
  return {18, kNccl};
}

LinkRate nvlink_achieved_rate(int sm) {
  constexpr std::string_view kRatio = "0.98 of NCCL's rate, the ratio seen on A100";
  if (sm >= 100) return {39.3, kRatio};
  if (sm >= 90) return {20.2, kRatio};
  if (sm >= 80 && sm != 86) return {19.6, "published log: 8 × A100, 235.3 GB/s over 12 links"};
  if (sm >= 70 && sm != 86) return {22.4, "published log: 8 × V100, 134.6 GB/s over 6 links"};
  return {nvlink_rate(sm).gigabytes_per_second * 0.98, kRatio};
}

int max_nvlinks(int sm) {
  if (sm < 70) return 4;
  if (sm < 80) return 6;
  if (sm < 90) return 12;
  return 18;
}

LinkRate pcie_rate(double gigatransfers_per_second, int width) {
  const PcieStep* step = pcie_step(gigatransfers_per_second);
  const double units = step != nullptr ? step->nccl_units : 60;
  return {units * (width > 0 ? width : 16) / 80, kNccl};
}

LinkRate pcie_rate_of_coded(double gigabytes_per_second) {
  // NCCL's 12 GB/s for Gen3 x16, which carries 8 GT/s × 16 × 128/130 / 8 = 15.754 GB/s after coding.
  constexpr double kNcclOfCoded = 12 / (8.0 * 16 * 128 / 130 / 8);
  return {gigabytes_per_second * kNcclOfCoded, kNccl};
}

int pcie_generation(double gigatransfers_per_second) {
  const PcieStep* step = pcie_step(gigatransfers_per_second);
  return step != nullptr ? step->generation : 0;
}

double pcie_gigatransfers(int generation) {
  for (const PcieStep& step : kPcie) {
    if (step.generation == generation) return step.gigatransfers_per_second;
  }
  return 0;
}

LinkRate cpu_interconnect_rate(std::string_view architecture, std::string_view vendor, int model) {
  if (architecture == "ppc64" || architecture == "ppc64le" || vendor == "IBM") return {32, kNccl};
  if (architecture == "arm64" || architecture == "aarch64") return {6, kNccl};
  if (vendor == "AuthenticAMD") return {16, kNccl};
  if (vendor == "GenuineIntel") {
    if (model >= 0xCF) return {40, kNccl};  // Emerald Rapids
    if (model >= 0x8F) return {22, kNccl};  // Sapphire Rapids
    if (model >= 0x55) return {10, kNccl};  // Skylake
    return {6, kNccl};                      // Broadwell
  }
  return {16, "no figure for this CPU; NCCL's for AMD"};
}

LinkRate nic_rate(double gigabits_per_second) { return {gigabits_per_second / 8, "line rate"}; }

}  // namespace collbench::topology
