#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/run.hpp"

// What a user calls a failure of a run, beside wrong data: --min-busbw and --fail-on.

namespace collbench::analysis {

enum class FailureKind {
  below,      ///< a series is BELOW or a FAULT
  unclear,    ///< a series is UNCLEAR
  untested,   ///< a resource of a SOUND run that no operation of it tests
  late,       ///< the straggler probe found a rank or a link
  degraded,   ///< a node lacks what the others have
  throttled,  ///< a GPU was throttled or had errors while a row ran
};

inline constexpr std::array<std::string_view, 6> kFailureKindNames{"below", "unclear",  "untested",
                                                                   "late",  "degraded", "throttled"};

[[nodiscard]] constexpr std::string_view name(FailureKind kind) {
  return kFailureKindNames.at(static_cast<std::size_t>(kind));
}

/// A bus bandwidth that rows of an operation must reach.
struct MinBusbw {
  OperationId operation = OperationId::all_reduce;
  std::optional<std::uint64_t> size_bytes;  ///< none: every size of at least 64 MiB
  double bytes_per_second = 0;
  bool mean = false;  ///< of all its rows, as nccl-tests' average; no size then

  bool operator==(const MinBusbw&) const = default;
};

/// Of all its rows, in and out of place; none without any that has one.
[[nodiscard]] std::optional<double> mean_busbw(const Run& run, OperationId operation);

struct Criteria {
  std::vector<MinBusbw> min_busbw;
  std::vector<FailureKind> fail_on{FailureKind::below};
  bool accept = false;  ///< a machine is to be accepted by it: all kinds, and data that nobody checked, too

  [[nodiscard]] bool wants(FailureKind kind) const;
};

/// Something that fails, in one line that stands alone.
struct RunFailure {
  std::vector<std::size_t>
      rows;  ///< indices of the run's rows that it is about; empty: of none in particular
  std::string text;
  bool is_wrong_data = false;
  bool is_verdict = false;  ///< of the series that `rows` are, or without rows of the machine

  bool operator==(const RunFailure&) const = default;
};

struct RunCheck {
  std::vector<RunFailure> failures;
  std::vector<std::string> not_known;  ///< kinds that were asked for and of which the record says nothing
};

/// Holds a run against `criteria`. Wrong data always fails. A row counts for a size that it was rounded down
/// from to whole elements, at most 0.1 % below it; a --min-busbw that no measured row meets or misses is a
/// failure too: nothing was shown. Throws Error (usage) for a record whose machines are damaged.
[[nodiscard]] RunCheck check_run(const Run& run, const Criteria& criteria);

}  // namespace collbench::analysis
