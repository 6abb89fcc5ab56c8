#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace collbench::collectives {

/// What is known of the first visit of a row; 0: nothing.
struct FirstVisit {
  std::uint64_t size_bytes = 0;
  double call_seconds = 0;
  double check_seconds = 0;  ///< making data, calls of their own, looking at every element

  /// With as few calls as there can be, one to warm up and one that is timed.
  [[nodiscard]] double shortest() const { return check_seconds + 2 * call_seconds; }
  /// With those that tell how long a call takes, too, where a call fills a block.
  [[nodiscard]] double usual() const { return check_seconds + 5 * call_seconds; }
};

/// What a visit of `size_bytes` takes, by those of smaller sizes, in ascending order: on the line through the
/// last two of them; with one, what that took, since a larger size takes no less; with none nothing is known.
[[nodiscard]] FirstVisit expected_visit(std::span<const FirstVisit> smaller, std::uint64_t size_bytes);

/// Whether a row whose visit takes `needed` seconds is left out of a run of `run_seconds` with `left` of them
/// left. Not where it takes less than a twentieth of the run, or a second: a first pass is finished.
[[nodiscard]] bool is_left_out(double needed, double left, double run_seconds);

/// "1 GiB left out: it takes about 50 s, and 12 s of the run's time was left".
[[nodiscard]] std::string left_out_reason(std::uint64_t size_bytes, double needed, double left);

}  // namespace collbench::collectives
