#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace collbench::collectives {

/// What a call of an FmaLoop did.
struct FmaWork {
  double flop = 0;  ///< a multiply-add is two
  double lane =
      0;  ///< the mean of all lanes, each 1 + (1 − 2⁻¹⁰)^rounds: shows that the arithmetic took place
};

/// Multiply-adds on registers, as many beside each other as keep all units of a core busy: what its
/// arithmetic can do when no memory is in the way.
struct FmaLoop {
  std::string_view name;  ///< of its instructions: "AVX-512"
  FmaWork (*fp64)(std::int64_t rounds) = nullptr;
  FmaWork (*fp32)(std::int64_t rounds) = nullptr;
};

/// Those that were compiled in and that this processor can run, the widest first: AVX-512, AVX2 with FMA;
/// NEON. Last a portable one, which may be far from the peak.
[[nodiscard]] std::vector<FmaLoop> fma_loops();

}  // namespace collbench::collectives
