#pragma once
#include <array>
#include <string>
#include <string_view>

namespace collbench::analysis {

/// A kind of parallelism by which ranks are numbered.
enum class Dimension { tp, cp, ep, dp, pp };

/// How ranks are numbered: ranks that differ in the first one only follow each other.
using RankOrder = std::array<Dimension, 5>;

/// Megatron-Core's (parallel_state.py, `order`).
inline constexpr RankOrder kUsualOrder{Dimension::tp, Dimension::cp, Dimension::ep, Dimension::dp,
                                       Dimension::pp};

[[nodiscard]] std::string_view name(Dimension dimension);

/// "tp-cp-ep-dp-pp".
[[nodiscard]] std::string words(const RankOrder& order);

/// All five, each once, with '-' between; cp and ep may be left out, which says that they are where the usual
/// order has them: after the one before them there. Throws Error (usage), naming `option`.
[[nodiscard]] RankOrder parse_rank_order(std::string_view text, const std::string& option);

}  // namespace collbench::analysis
