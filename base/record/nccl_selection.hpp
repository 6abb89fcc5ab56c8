#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/fields.hpp"

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

/// As many CTAs, a channel each, as NCCL runs a call by at most (MAXCHANNELS, src/include/device.h).
inline constexpr int kMaxCtas = 64;

/// What --algo, --proto and --ctas ask for together: "ring", "ring/ll128", "auto/8", "ring/ll128/8".
struct AskedAlgorithm {
  std::string algorithm;  ///< "auto" where it is left to NCCL
  std::string protocol;   ///< empty: left to NCCL
  int ctas = 0;           ///< 0: left to NCCL
};

[[nodiscard]] AskedAlgorithm asked_algorithm(std::string_view name);

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

/// The steps of NCCL's init that a rank does without the others; in bootstrap, allgathers and connections it
/// waits for them. kernels, topo and graphs are printed by 2.22.3 and newer, alloc by 2.23.4 and newer
/// (init.cc).
inline constexpr std::array<std::string_view, 4> kNcclStepsAlone{"kernels", "alloc", "topo", "graphs"};

/// A step of making the first communicator, as NCCL (2.23.4 and newer) times it to 10 ms: "bootstrap",
/// "topo".
struct NcclInitStep {
  std::string name;
  double seconds = 0;         ///< on the slowest rank
  int rank = 0;               ///< which that is
  double median_seconds = 0;  ///< over all ranks

  bool operator==(const NcclInitStep&) const = default;
};

void each_field(auto& visit, Either<NcclExpectation> auto& expected) {
  visit("algorithm", expected.algorithm);
  visit("protocol", expected.protocol);
  visit("seconds", expected.seconds);
}

void each_field(auto& visit, Either<NcclSelection> auto& selection) {
  visit("algorithm", selection.algorithm);
  visit("protocol", selection.protocol);
  visit("channels", selection.channels);
  visit("expected", selection.expected, Columns{"three arrays of one length"});
}

void each_field(auto& visit, Either<NcclObserverStatus> auto& status) {
  visit("use", status.use);
  visit("expectation", status.expectation);
}

void each_field(auto& visit, Either<NcclNetworks> auto& networks) {
  visit("used", networks.used);
  visit("unknown_reason", networks.unknown_reason);
}

void each_field(auto& visit, Either<NcclInitStep> auto& step) {
  visit("name", step.name);
  visit("seconds", step.seconds, kSeconds);
  visit("rank", step.rank);
  visit("median_seconds", step.median_seconds, kSeconds);
}

}  // namespace collbench
