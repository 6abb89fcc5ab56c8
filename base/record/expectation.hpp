#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace collbench {

/// What a row should take by the models (docs/model.md). Times of one operation in seconds; none where the
/// model does not exist for the operation.
struct Expectation {
  std::optional<double> ring_seconds;
  std::optional<double> tree_seconds;
  std::optional<double>
      expected_seconds;     ///< the algorithm that ran, or the cheapest one where that is not known
  std::string expected_by;  ///< the formula behind expected_seconds: "ring", "recursive_doubling", …
  /// The band around all algorithms that may have run, with the models' uncertainty; none on host memory.
  std::optional<double> fastest_seconds = std::nullopt;
  std::optional<double> slowest_seconds = std::nullopt;
  /// The link that limits the algorithm of expected_by, by name.
  // An initializer, so that the members before it can be given alone.
  std::string limited_by{};

  bool operator==(const Expectation&) const = default;
};

/// What the comparison of measured and expected says (analysis/verdict/verdict.hpp).
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
