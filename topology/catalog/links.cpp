#include "topology/catalog/links.hpp"

#include <array>
#include <cmath>

namespace collbench::topology {
namespace {

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

LinkRate pcie_rate(double gigatransfers_per_second, int width) {
  const PcieStep* step = pcie_step(gigatransfers_per_second);
  const double units = step != nullptr ? step->nccl_units : 60;
  return {units * (width > 0 ? width : 16) / 80, kNcclRates};
}

LinkRate pcie_rate_of_coded(double gigabytes_per_second) {
  // NCCL's 12 GB/s for Gen3 x16, which carries 8 GT/s × 16 × 128/130 / 8 = 15.754 GB/s after coding.
  constexpr double kNcclOfCoded = 12 / (8.0 * 16 * 128 / 130 / 8);
  return {gigabytes_per_second * kNcclOfCoded, kNcclRates};
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
  if (architecture == "ppc64" || architecture == "ppc64le" || vendor == "IBM") return {32, kNcclRates};
  if (architecture == "arm64" || architecture == "aarch64") return {6, kNcclRates};
  if (vendor == "AuthenticAMD") return {16, kNcclRates};
  if (vendor == "GenuineIntel") {
    if (model >= 0xCF) return {40, kNcclRates};  // Emerald Rapids
    if (model >= 0x8F) return {22, kNcclRates};  // Sapphire Rapids
    if (model >= 0x55) return {10, kNcclRates};  // Skylake
    return {6, kNcclRates};                      // Broadwell
  }
  return {16, "no figure for this CPU; NCCL's for AMD"};
}

LinkRate nic_rate(double gigabits_per_second) { return {gigabits_per_second / 8, "line rate"}; }

}  // namespace collbench::topology
