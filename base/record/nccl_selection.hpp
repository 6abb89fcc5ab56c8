#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"

namespace collbench {

/// What NCCL expects of one algorithm and protocol for a row, by its own model.
struct NcclExpectation {
  std::string algorithm;  ///< as --algo has it
  std::string protocol;   ///< as --proto has it
  double seconds = 0;

  bool operator==(const NcclExpectation&) const = default;
};

/// What NCCL told of a row through the observer (docs/gpu.md).
struct NcclSelection {
  std::string algorithm;                  ///< that it used; "p2p" for sends and receives; empty: not told
  std::string protocol;                   ///< that it used; empty: not told, or none
  int channels = 0;                       ///< that it used (before 2.27 the most that it might); 0: not told
  std::vector<NcclExpectation> expected;  ///< of all that it considered

  bool operator==(const NcclSelection&) const = default;
};

/// What NCCL expected of what it used, or of the cheapest where it did not tell what that was, in seconds.
/// None where it told no expectation.
[[nodiscard]] std::optional<double> nccl_expected_seconds(const NcclSelection& selection);

/// What ran where `asked` was asked for (--algo): just that when NCCL used it, "tree/ll" when it was left to
/// NCCL or NCCL used another, and `asked` when NCCL did not tell.
[[nodiscard]] std::string algorithm_ran(const std::string& asked, const NcclSelection& selection);

/// Why NCCL does not tell, in words; empty where it does, and for runs without NCCL.
struct NcclObserverStatus {
  std::string use;
  std::string expectation;

  bool operator==(const NcclObserverStatus&) const = default;
};

/// The networks that NCCL chose to carry data between hosts by: "IB", "Socket", a plugin's name.
struct NcclNetworks {
  std::vector<std::string> used;  ///< each once, in the order of their first use: the first is the start's
  std::string unknown_reason;     ///< why that is not known; empty where it is, and for runs without NCCL

  bool operator==(const NcclNetworks&) const = default;
};

/// In a run record (docs/formats.md). What is none is null.
[[nodiscard]] Json nccl_selection_to_json(const std::optional<NcclSelection>& selection);
[[nodiscard]] Json nccl_observer_status_to_json(const NcclObserverStatus& status);
[[nodiscard]] Json nccl_networks_to_json(const NcclNetworks& networks);

/// The members `nccl` of a row, `nccl_untold` and `nccl_networks` of a run, which older records lack. Throw
/// Error (usage) that names the place in the file.
[[nodiscard]] std::optional<NcclSelection> nccl_selection_in(const JsonReader& row);
[[nodiscard]] NcclObserverStatus nccl_observer_status_in(const JsonReader& run);
[[nodiscard]] NcclNetworks nccl_networks_in(const JsonReader& run);

}  // namespace collbench
