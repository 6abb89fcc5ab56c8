#include "topology/catalog/gpus.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace collbench::topology {
namespace {

constexpr double kReached = 0.98;
constexpr std::string_view kRatio = "0.98 of NCCL's rate, the ratio seen on A100";
constexpr LinkRate kVoltaLink{22.4, "published log: 8 × V100, 134.6 GB/s over 6 links"};
constexpr LinkRate kAmpereLink{19.6, "published log: 8 × A100, 235.3 GB/s over 12 links"};

constexpr std::array<GenerationTraits, 13> kGenerations{{
    {GpuGeneration::unknown, 0, {18, kNcclRates}, {18 * kReached, kRatio}, 4},
    {GpuGeneration::kepler, 30, {18, kNcclRates}, {18 * kReached, kRatio}, 4},
    {GpuGeneration::pascal, 60, {18, kNcclRates}, {18 * kReached, kRatio}, 4},
    {GpuGeneration::volta, 70, {20, kNcclRates}, kVoltaLink, 6},
    {GpuGeneration::turing, 75, {20, kNcclRates}, kVoltaLink, 6},
    {GpuGeneration::ampere, 80, {20, kNcclRates}, kAmpereLink, 12},
    {GpuGeneration::ampere_card, 86, {12, kNcclRates}, {12 * kReached, kRatio}, 12},
    {GpuGeneration::orin, 87, {20, kNcclRates}, kAmpereLink, 12},
    {GpuGeneration::ada, 89, {20, kNcclRates}, kAmpereLink, 12},
    {GpuGeneration::hopper, 90, {20.6, kNcclRates}, {20.2, kRatio}, 18},
    {GpuGeneration::blackwell, 100, {40.1, kNcclRates}, {39.3, kRatio}, 18},
    {GpuGeneration::blackwell_ultra, 103, {40.1, kNcclRates}, {39.3, kRatio}, 18},
    {GpuGeneration::blackwell_card, 120, {40.1, kNcclRates}, {39.3, kRatio}, 18},
}};

// Compute capability, NVLinks and their rate: NVIDIA's data sheets and the CUDA list of compute capabilities.
// A rate is the data sheet's total both ways, over two, over the links: H100 900 GB/s / 2 / 18 = 25. PCI ids:
// pci.ids of 2023-04-10 up to H800; lspci of machines that have them for H20, H200 and B200; the README of
// NVIDIA's open-gpu-kernel-modules for H100 NVL and L40S; Linux, drivers/vfio/pci/nvgrace-gpu/main.c for
// GH200 (120 GB, 480 GB, 144G HBM3e) and GB200. RTX cards, A40 and L20 by the table of products in that
// README; their NVLinks by the data sheets of the A6000, A40 and RTX 3090: 112.5 GB/s over four links of a
// bridge, none without one. RTX 50 and RTX PRO Blackwell have no NVLink (their data sheets). Special forms
// stand before the plain ones that their names contain.
constexpr std::array<GpuModel, 41> kModels{{
    {"GB300", "GB300", "", 103, 18, 50},
    {"GB200", "GB200", "0x2941", 100, 18, 50},
    {"B300", "B300", "", 103, 18, 50},
    {"B200", "B200", "0x2901", 100, 18, 50},
    {"GH200", "GH200", "0x2342 0x2345 0x2348", 90, 18, 25},
    {"H200 NVL", "H200 NVL", "0x233b", 90, 18, 25},
    {"H200 SXM", "H200", "0x2335", 90, 18, 25},
    {"H20", "H20", "0x2329", 90, 18, 25},
    {"H800 PCIe", "H800 PCIe", "0x2322", 90, 0, 25},
    {"H800 SXM", "H800", "0x2324", 90, 8, 25},
    {"H100 NVL", "H100 NVL", "0x2321", 90, 12, 25},
    {"H100 PCIe", "H100 PCIe", "0x2331", 90, 0, 25},
    {"H100 SXM", "H100", "0x2330", 90, 18, 25},
    {"A800 PCIe", "A800-PCI", "0x20f6", 80, 0, 25},
    {"A800 PCIe", "A800 80GB PCIe", "0x20f5", 80, 0, 25},
    {"A800 SXM", "A800", "0x20f3", 80, 8, 25},
    {"A100 PCIe", "A100-PCI", "0x20f1", 80, 0, 25},
    {"A100 PCIe", "A100 80GB PCIe", "0x20b5", 80, 0, 25},
    {"A100 SXM", "A100", "0x20b0 0x20b2 0x20b3", 80, 12, 25},
    {"A30", "A30", "0x20b7", 80, 0, 25},
    {"RTX PRO 6000", "RTX PRO 6000 Blackwell", "", 120, 0, 0},
    {"RTX 5090", "RTX 5090", "", 120, 0, 0},
    {"RTX 6000 Ada", "RTX 6000 Ada", "0x26b1", 89, 0, 0},
    {"RTX 4090", "RTX 4090", "0x2684", 89, 0, 0},
    {"L20", "L20", "0x26ba", 89, 0, 0},
    {"RTX A6000", "RTX A6000", "0x2230", 86, 0, 14.0625},
    {"A40", "A40", "0x2235", 86, 0, 14.0625},
    {"L40S", "L40S", "0x26b9", 89, 0, 0},
    {"L40", "L40", "0x26b5", 89, 0, 0},
    {"L4", "L4", "0x27b8", 89, 0, 0},
    {"A10G", "A10G", "0x2237", 86, 0, 0},
    {"A10", "A10", "0x2236", 86, 0, 0},
    {"RTX 4080", "RTX 4080", "0x2704", 89, 0, 0},
    {"RTX 3090", "RTX 3090", "0x2204", 86, 0, 14.0625},
    {"RTX 3080", "RTX 3080", "0x2206", 86, 0, 0},
    {"T4", "T4", "0x1eb8", 75, 0, 0},
    {"V100 PCIe", "V100-PCI", "0x1db4 0x1db6", 70, 0, 0},
    {"V100 SXM", "V100", "0x1db1 0x1db5 0x1db8", 70, 6, 25},
    {"P100 PCIe", "P100-PCI", "0x15f8", 60, 0, 0},
    {"P100 SXM", "P100", "0x15f9", 60, 4, 20},
    {"K80", "K80", "0x102d", 37, 0, 0},
}};

/// Not as the start of a longer number: "A40" is not in "RTX A4000".
bool holds(std::string_view text, std::string_view pattern) {
  for (std::size_t at = text.find(pattern); at != std::string_view::npos; at = text.find(pattern, at + 1)) {
    const std::size_t end = at + pattern.size();
    if (end == text.size() || text[end] < '0' || text[end] > '9') return true;
  }
  return false;
}

}  // namespace

const GenerationTraits& traits(GpuGeneration generation) {
  return kGenerations.at(static_cast<std::size_t>(generation));
}

GpuGeneration generation_of(int sm) {
  const auto* const later =
      std::ranges::upper_bound(kGenerations, std::max(sm, 0), {}, &GenerationTraits::sm);
  return std::prev(later)->generation;
}

const GpuModel* find_gpu_model(std::string_view product_name) {
  const auto* found = std::ranges::find_if(
      kModels, [product_name](const GpuModel& model) { return holds(product_name, model.pattern); });
  return found == kModels.end() ? nullptr : found;
}

bool is_slice_of_gpu(std::string_view product_name) {
  if (product_name.find(" MIG ") != std::string_view::npos ||
      product_name.find("GRID ") != std::string_view::npos)
    return true;
  // A profile of vGPU: "-10C", "-48Q".
  const std::size_t dash = product_name.rfind('-');
  if (dash == std::string_view::npos || product_name.size() - dash < 3) return false;
  const std::string_view digits = product_name.substr(dash + 1, product_name.size() - dash - 2);
  return digits.find_first_not_of("0123456789") == std::string_view::npos &&
         std::string_view("QCAB").find(product_name.back()) != std::string_view::npos;
}

bool is_wired_on_board(const GpuModel& model) {
  return model.nvlinks > 0 && model.name.find("NVL") == std::string_view::npos;
}

const GpuModel* find_gpu_model_by_pci(std::string_view vendor, std::string_view device) {
  if (vendor != "0x10de" || device.size() != 6) return nullptr;
  const auto* found = std::ranges::find_if(kModels, [device](const GpuModel& model) {
    return model.pci_devices.find(device) != std::string_view::npos;
  });
  return found == kModels.end() ? nullptr : found;
}

std::string_view other_gpu_maker(std::string_view product_name, std::string_view pci_vendor) {
  struct Maker {
    std::string_view name;
    std::string_view pci_vendor;
    std::array<std::string_view, 3> words;  ///< of rocm-smi, rccl-tests, pci.ids and oneCCL
  };
  constexpr std::array<Maker, 2> kMakers{{{"AMD", "0x1002", {"AMD", "Instinct", "Radeon"}},
                                          {"Intel", "0x8086", {"Intel", "Ponte Vecchio", "Gaudi"}}}};
  for (const Maker& maker : kMakers) {
    const bool named = std::ranges::any_of(maker.words, [product_name](std::string_view word) {
      return product_name.find(word) != std::string_view::npos;
    });
    if (named || pci_vendor == maker.pci_vendor) return maker.name;
  }
  return {};
}

}  // namespace collbench::topology
