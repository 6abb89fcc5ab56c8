#pragma once
#include <array>
#include <string>
#include <string_view>

namespace collbench {

/// What the comparison of measured and expected says (analysis/verdict.hpp).
enum class VerdictWord {
  none,                  ///< not judged
  as_expected,           ///< within the band
  low,                   ///< below it
  fault,                 ///< below half of the ring floor
  model_or_ranks_wrong,  ///< above the best algorithm: the machine or the rank count is not what was said
};

inline constexpr std::array<std::string_view, 5> kVerdictNames{"none", "as expected", "LOW", "FAULT",
                                                               "model or rank count wrong"};

[[nodiscard]] constexpr std::string_view name(VerdictWord word) {
  return kVerdictNames.at(static_cast<std::size_t>(word));
}

struct Verdict {
  VerdictWord word = VerdictWord::none;
  std::string explanation;  ///< one or two sentences of facts; may stand without a verdict

  bool operator==(const Verdict&) const = default;
};

}  // namespace collbench
