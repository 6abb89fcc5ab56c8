#include "collectives/compute/fma_loop.hpp"

#include <array>
#include <cstddef>

namespace collbench::collectives {
namespace {

// GCC's and clang's vectors: the compiler makes a register of each, and one instruction of a multiplication
// and an addition where the function's target has one.
template <typename Number, int kBytes>
struct VectorOf {
  using Type [[gnu::vector_size(kBytes)]] = Number;
};

/// A multiply-add takes 4 cycles, and a core begins 2 of them in each on x86-64 (Intel's Optimization
/// Reference Manual; AMD's for families 19h and 1Ah) and 4 on a Neoverse V2 (Arm's Software Optimization
/// Guide): so many chains of them have to run beside each other, and their registers have to fit.
using ChainsOfX86 = std::make_index_sequence<12>;   // of 16 registers, with two for the factors
using ChainsOfNeon = std::make_index_sequence<20>;  // of 32

/// The chains are written out one by one (`kChain`): an array that a loop walks through would lie in memory.
template <typename Number, int kBytes, std::size_t... kChain>
[[gnu::always_inline]] inline FmaWork multiply_add(std::int64_t rounds,
                                                   std::index_sequence<kChain...> /*chains*/) {
  using Vector = typename VectorOf<Number, kBytes>::Type;
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(Number));
  constexpr Number kStep = Number{1} / 1024;
  // Through volatile, so that no compiler knows the factors and works the result out.
  volatile Number start = 2;
  volatile Number factor_value = 1 - kStep;
  volatile Number addend_value = kStep;
  const Vector factor = Vector{} + factor_value;
  const Vector addend = Vector{} + addend_value;
  std::array<Vector, sizeof...(kChain)> chains{};
  ((chains[kChain] = Vector{} + start), ...);
  for (std::int64_t round = 0; round < rounds; ++round) {
    ((chains[kChain] = chains[kChain] * factor + addend), ...);
  }
  double sum = 0;
  for (int lane = 0; lane < kLanes; ++lane) sum += (static_cast<double>(chains[kChain][lane]) + ...);
  constexpr double kAllLanes = kLanes * static_cast<double>(sizeof...(kChain));
  return {2 * kAllLanes * static_cast<double>(rounds), sum / kAllLanes};
}

#if defined(__x86_64__)
[[gnu::target("avx512f")]] FmaWork avx512_fp64(std::int64_t rounds) {
  return multiply_add<double, 64>(rounds, ChainsOfX86{});
}
[[gnu::target("avx512f")]] FmaWork avx512_fp32(std::int64_t rounds) {
  return multiply_add<float, 64>(rounds, ChainsOfX86{});
}
[[gnu::target("avx2,fma")]] FmaWork avx2_fp64(std::int64_t rounds) {
  return multiply_add<double, 32>(rounds, ChainsOfX86{});
}
[[gnu::target("avx2,fma")]] FmaWork avx2_fp32(std::int64_t rounds) {
  return multiply_add<float, 32>(rounds, ChainsOfX86{});
}
#endif

#if defined(__aarch64__)
using PortableChains = ChainsOfNeon;
constexpr std::string_view kPortableName = "NEON";
#else
using PortableChains = ChainsOfX86;
constexpr std::string_view kPortableName = "portable";
#endif

FmaWork portable_fp64(std::int64_t rounds) { return multiply_add<double, 16>(rounds, PortableChains{}); }
FmaWork portable_fp32(std::int64_t rounds) { return multiply_add<float, 16>(rounds, PortableChains{}); }

}  // namespace

std::vector<FmaLoop> fma_loops() {
  std::vector<FmaLoop> loops;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) loops.push_back({"AVX-512", avx512_fp64, avx512_fp32});
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    loops.push_back({"AVX2", avx2_fp64, avx2_fp32});
#endif
  loops.push_back({kPortableName, portable_fp64, portable_fp32});
  return loops;
}

}  // namespace collbench::collectives
