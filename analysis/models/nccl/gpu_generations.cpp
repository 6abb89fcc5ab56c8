#include "analysis/models/nccl/gpu_generations.hpp"

#include <iterator>

namespace collbench::analysis {
namespace {

// NCCL 2.30.7 src/graph/search.cc.
constexpr auto kOlderNode = std::to_array<double>({40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3});
constexpr auto kOlderNetwork =
    std::to_array<double>({48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12});
constexpr auto kHopperNode = std::to_array<double>({60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3});
constexpr auto kHopperNetwork =
    std::to_array<double>({48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12});
constexpr auto kBlackwellNode = std::to_array<double>({90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18});
constexpr auto kBlackwellNetwork = std::to_array<double>(
    {96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12});

// Up to the efficiency of NVLS: NCCL 2.30.7 src/graph/tuning.cc.
// To one peer: SendRecv of 1 and 2 GiB (published): 8 A100 0.84 (195 GB/s, each further byte at 197), 8 H100
// 0.81 (292, where AllGather of the same GPUs reaches 352). Two GPUs alone fill theirs (H100 365); of
// Blackwell the channels' copies hold.
// Copies while a GPU sends and receives within a domain. By Simple: SendRecv of 8 B200, 650 GB/s over 32
// channels (published). By LL: openxla's tables, 8 H100 5.0 and 72 GB200 5.2, where Simple has 19.7 and 22.9.
// clang-format off
constexpr std::array<NcclGeneration, 4> kGenerations{{
    {GpuGeneration::unknown, kOlderNode, kOlderNetwork, {39, 39, 20.4}, {20, 20, 20}, {20, 20, 20},
     {26.5, 18.5, 10}, {26.5, 18.5, 10}, 0, 1, 0, 0, false},
    {GpuGeneration::ampere, kOlderNode, kOlderNetwork, {87.7, 22.5, 19}, {20, 20, 20}, {20, 20, 20},
     {24, 23.6, 17.8}, {24, 23.6, 17.8}, 0, 0.82, 0, 0, false},
    {GpuGeneration::hopper, kHopperNode, kHopperNetwork, {141, 45, 35}, {36.7, 36.7, 36.7}, {36.7, 36.7, 29},
     {38.7, 41.4, 36}, {0, 57.7, 45.5}, 0.85, 0.82, 20.3, 5.1, false},
    {GpuGeneration::blackwell, kBlackwellNode, kBlackwellNetwork, {282, 90, 70}, {40, 40, 40}, {55.6, 31.67, 20},
     {70, 42.8, 24}, {0, 96, 80}, 0.74, 1, 20.3, 5.1, true},
}};
// clang-format on

}  // namespace

const NcclGeneration& nccl_generation(GpuGeneration generation) {
  return *std::prev(std::ranges::upper_bound(kGenerations, generation, {}, &NcclGeneration::from));
}

}  // namespace collbench::analysis
