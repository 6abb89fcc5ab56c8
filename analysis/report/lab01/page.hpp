#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/run.hpp"

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

}  // namespace collbench::analysis
