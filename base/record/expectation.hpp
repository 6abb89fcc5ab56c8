#pragma once
#include <optional>
#include <string>

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

}  // namespace collbench
