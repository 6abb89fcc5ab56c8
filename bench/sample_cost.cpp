// What one sample costs beside reading the clock: the goal is at most 50 ns (docs/notes/benchmarks.md).
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <cstdint>

#include "collectives/engine/block_timer.hpp"

namespace {

constexpr std::uint64_t kSamples = 256;  // the most that a block has

void clock_read(benchmark::State& state) {
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < kSamples; ++i) benchmark::DoNotOptimize(MPI_Wtime());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kSamples));
}
BENCHMARK(clock_read);

void sample(benchmark::State& state) {
  for (auto _ : state) {
    const collbench::collectives::Block block =
        collbench::collectives::time_block(MPI_Wtime, kSamples, 1, [] { benchmark::ClobberMemory(); });
    benchmark::DoNotOptimize(block.samples.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kSamples));
}
BENCHMARK(sample);

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  MPI_Finalize();
  return 0;
}
