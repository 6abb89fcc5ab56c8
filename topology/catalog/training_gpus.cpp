#include "topology/catalog/training_gpus.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/text_input.hpp"

namespace collbench::topology {
namespace {

// Peaks: NVIDIA's data sheets, and dgxc-benchmarking README "Peak Theoretical Throughput" for GB200 and
// GB300. GEMM and HBM: "maximum achievable matmul FLOPS" and BabelStream's copy in stas00/ml-engineering,
// compute/accelerator, and Azure/AI-benchmarking-guide. Attention: the FlashAttention-2 and -3 papers (A100,
// H100: causal, heads of 128, 8,192 tokens); Blackwell: cuDNN's release notes, scaled by its GEMM rate where
// none is given. HBM of Blackwell: 8 TB/s of the data sheet × the part that H200 reaches. FlashAttention-2:
// Azure, 8,192 tokens, heads of 128. GEMM overhead: what Azure's 1,024³ and 2,048³ take beyond 8,192³'s rate,
// 10 µs on A100 and 5 µs on H100. What a server takes beside each board: data sheets of DGX A100 (6.5 kW for
// eight), H100 and H200 (10.2), B200 (14.3) and B300 (14), of GB200 NVL72 (120 for 72) and GB300 NVL72 (132).
constexpr std::array<TrainingGpu, 11> kGpus{{
    {"GB300", GpuGeneration::blackwell_ultra, 2450e12, 4900e12, 14700e12, 2126e12, 4218e12, 1400e12, 1050e12,
     374e12, 6.9e12, 288e9, 1400, 433, 5e-6, 152,
     "GB200 by the boards' limits, 1,400 W for 1,200: no measurement at hand"},
    {"GB200", GpuGeneration::blackwell, 2450e12, 4900e12, 9800e12, 1822e12, 3615e12, 1400e12, 1050e12, 374e12,
     6.9e12, 189e9, 1200, 467, 5e-6, 152, "stas00/ml-engineering"},
    {"B300", GpuGeneration::blackwell_ultra, 2250e12, 4500e12, 13500e12, 1769e12, 3353e12, 1350e12, 1000e12,
     374e12, 6.9e12, 288e9, 1100, 650, 5e-6, 148, "stas00/ml-engineering"},
    {"B200", GpuGeneration::blackwell, 2250e12, 4500e12, 9000e12, 1745e12, 3432e12, 1350e12, 1000e12, 374e12,
     6.9e12, 180e9, 1000, 788, 5e-6, 148, "stas00/ml-engineering"},
    {"GH200", GpuGeneration::hopper, 989e12, 1979e12, 0, 828.6e12, 1535e12, 600e12, 500e12, 329e12, 3.4e12,
     96e9, 900, 0, 5e-6, 132, "stas00/ml-engineering"},
    {"H200 SXM", GpuGeneration::hopper, 989e12, 1979e12, 0, 794.5e12, 1402.6e12, 600e12, 500e12, 329e12,
     4.01e12, 141e9, 700, 575, 5e-6, 132, "stas00/ml-engineering; Azure/AI-benchmarking-guide"},
    {"H100 SXM", GpuGeneration::hopper, 989e12, 1979e12, 0, 794.5e12, 1402.6e12, 600e12, 500e12, 328e12,
     2.9e12, 80e9, 700, 575, 5e-6, 132, "stas00/ml-engineering; Azure/AI-benchmarking-guide"},
    {"H800 SXM", GpuGeneration::hopper, 989e12, 1979e12, 0, 794.5e12, 1402.6e12, 600e12, 500e12, 328e12,
     2.9e12, 80e9, 700, 575, 5e-6, 132, "as H100 SXM: the same chip with fewer NVLinks"},
    {"H20", GpuGeneration::hopper, 148e12, 296e12, 0, 140e12, 280e12, 130e12, 110e12, 110e12, 3.4e12, 96e9,
     400, 575, 5e-6, 78, "data sheet, at 95 % of its peak"},
    {"A800 SXM", GpuGeneration::ampere, 312e12, 0, 0, 271.2e12, 0, 200e12, 170e12, 200e12, 1.61e12, 80e9, 400,
     412, 10e-6, 108, "as A100 SXM: the same chip with fewer NVLinks"},
    {"A100 SXM", GpuGeneration::ampere, 312e12, 0, 0, 271.2e12, 0, 200e12, 170e12, 200e12, 1.61e12, 80e9, 400,
     412, 10e-6, 108, "stas00/ml-engineering; Azure/AI-benchmarking-guide"},
}};

}  // namespace

std::span<const TrainingGpu> training_gpus() { return kGpus; }

const TrainingGpu& find_training_gpu(std::string_view name, std::string_view where) {
  const std::string wanted = lower(name);
  const TrainingGpu* only = nullptr;
  int near = 0;
  for (const TrainingGpu& gpu : kGpus) {
    const std::string known = lower(gpu.name);
    if (known == wanted) return gpu;
    if (!known.starts_with(wanted + " ")) continue;
    only = &gpu;
    ++near;
  }
  if (near == 1) return *only;
  std::vector<std::string_view> names;
  for (const TrainingGpu& gpu : kGpus) names.push_back(gpu.name);
  throw usage_error(std::string(where), fmt::format("no training rates are known of the GPU '{}'", name),
                    fmt::format("give --gpu with one of: {}", fmt::join(names, ", ")));
}

}  // namespace collbench::topology
