#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/run.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::analysis {

/// The ceilings that bound all of an algorithm's rows.
inline constexpr std::string_view kRingCeiling = "ring AllReduce, busbw";
inline constexpr std::string_view kTreeCeiling = "tree AllReduce, busbw";

/// An upper bound of busbw and how it comes about.
struct Ceiling {
  std::string what;        ///< "NVLink of a GPU"
  std::string arithmetic;  ///< "18 links × 20.6 GB/s"
  double bytes_per_second = 0;
  std::string source;

  bool operator==(const Ceiling&) const = default;
};

/// Something that is looked at before a number is believed.
struct PrecedingCheck {
  std::string question;
  std::string answer;
  bool good = true;  ///< false: not as it should be, or not known

  bool operator==(const PrecedingCheck&) const = default;
};

struct Lab01Options {
  std::vector<PrecedingCheck> checks;        ///< analysis/report/lab01/checks.hpp
  std::vector<Ceiling> ceilings;             ///< analysis/report/lab01/ceilings.hpp
  std::optional<double> price_per_gpu_hour;  ///< in whatever currency; none: no price
};

/// Lab 01 as Markdown, to hand in: the hardware as found, the checks that precede, the theoretical ceilings
/// with their arithmetic, AllReduce at 1 MB, 100 MB and 1 GB (the nearest sizes of the run, within a factor
/// of 1.5; out of place) expected by ring and tree and measured, an explanation each, and the price. Works
/// for host memory, and says so.
[[nodiscard]] std::string report_lab01(const Run& run, const Lab01Options& options);

/// What bounds AllReduce's busbw for a run: on host memory the calibrated links, reduction and copies; on
/// GPUs the NVLinks and NICs of `host` (one node of the run's machine), or without it those that the log's
/// own lines tell; then the ring and the tree made from them (docs/lab01.md). Empty where nothing is known.
[[nodiscard]] std::vector<Ceiling> lab01_ceilings(const Run& run, const std::optional<topology::Host>& host);

/// Is the network up at its rate, is it RDMA or sockets, does the NIC reach GPU memory itself, are the
/// NVLinks even, was the data checked; on host memory: has every rank a core. By the log's own lines and by
/// `host`.
[[nodiscard]] std::vector<PrecedingCheck> lab01_checks(const Run& run,
                                                       const std::optional<topology::Host>& host);

/// Why a row of the run (an element of run.rows) is as it is, made of what the record holds: its own
/// explanation where it was judged; else how much of the run's own peak it reaches (below half: its steps
/// cost more than its bytes), what it is of the expectation, and what the log says that bears on it.
[[nodiscard]] std::string lab01_explanation(const Run& run, const Row& row);

/// "FAULT: 3.2 GB/s at 8 GiB is ...": on the sweep that `row` is part of; empty where it was not judged.
[[nodiscard]] std::string lab01_verdict(const Run& run, const Row& row);

}  // namespace collbench::analysis
