#pragma once
#include <string_view>

#include "topology/catalog/links.hpp"

namespace collbench::topology {

/// NVIDIA's generations, older before newer, and of each the chips that facts tell apart.
enum class GpuGeneration {
  unknown,
  kepler,  ///< and Maxwell
  pascal,
  volta,
  turing,
  ampere,       ///< A100, A30
  ampere_card,  ///< A40, A10, RTX 30
  orin,
  ada,
  hopper,
  blackwell,        ///< B200
  blackwell_ultra,  ///< B300
  blackwell_card,   ///< RTX 50, RTX PRO
};

/// What all GPUs of a generation have in common.
struct GenerationTraits {
  GpuGeneration generation{};
  int sm = 0;                ///< compute capability × 10; also of those up to the next one's
  LinkRate nvlink;           ///< one, as NCCL counts it
  LinkRate achieved_nvlink;  ///< one, as copies through it reach it
  int max_nvlinks = 0;       ///< most that a GPU has
};

[[nodiscard]] const GenerationTraits& traits(GpuGeneration generation);

/// By compute capability × 10; 0: not known.
[[nodiscard]] GpuGeneration generation_of(int sm);

/// What is known of a GPU by its model alone.
struct GpuModel {
  std::string_view name;               ///< "H100 SXM"
  std::string_view pattern;            ///< what nvidia-smi's product name holds: "H100 80GB HBM3"
  std::string_view pci_devices;        ///< NVIDIA's PCI device ids, blank-separated; empty where not certain
  int sm;                              ///< compute capability × 10
  int nvlinks;                         ///< links that the model has in use; 0: none, or only with a bridge
  double nvlink_gigabytes_per_second;  ///< data sheet, one link, one direction

  [[nodiscard]] GpuGeneration generation() const { return generation_of(sm); }
};

/// By nvidia-smi's product name; the first pattern that is in it. None for a model that is not listed.
[[nodiscard]] const GpuModel* find_gpu_model(std::string_view product_name);

/// Whether CUDA's name is of a part of a GPU, by MIG ("NVIDIA H100 80GB HBM3 MIG 1g.10gb") or vGPU ("GRID
/// A100-10C", "NVIDIA A40-48Q"): find_gpu_model finds the whole, whose rates are not its own.
[[nodiscard]] bool is_slice_of_gpu(std::string_view product_name);

/// Whether the board wires its NVLinks (SXM modules, superchips): to the other GPUs, or to switches. Those of
/// PCIe cards and of H100 NVL reach as far as a bridge does, if there is one.
[[nodiscard]] bool is_wired_on_board(const GpuModel& model);

/// By PCI ids as "0x10de" and "0x2330".
[[nodiscard]] const GpuModel* find_gpu_model_by_pci(std::string_view vendor, std::string_view device);

/// "AMD" or "Intel", where a product name or a PCI vendor says that a GPU is not NVIDIA's; empty: it is, or
/// nothing says. Their links (Infinity Fabric, Xe Link) and their collective libraries are in no model.
[[nodiscard]] std::string_view other_gpu_maker(std::string_view product_name,
                                               std::string_view pci_vendor = {});

}  // namespace collbench::topology
