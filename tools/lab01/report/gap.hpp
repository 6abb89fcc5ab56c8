#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/record/run.hpp"
#include "tools/lab01/report/lab01.hpp"

namespace collbench::analysis {

/// How long the call takes with everything up to this term; what this term adds is the difference to the
/// level before. Times add up and rates do not: 132 GB/s less of 750 is 12 % of a large call and half a
/// percent of a small one.
struct GapLevel {
  std::string term;  ///< "protocol efficiency"; of the first level "line rate"
  double seconds = 0;

  bool operator==(const GapLevel&) const = default;
};

/// The way from the line rate to what was measured (without a measurement: to what is expected) of one row.
/// Its terms are the differences of neighboring levels, so they add up to the gap by construction.
struct Gap {
  std::string algorithm;         ///< that the levels are of
  std::vector<GapLevel> levels;  ///< at least the line rate and one more
};

// The terms, in their order.
inline constexpr const char* kLineRate = "line rate";
inline constexpr const char* kByNccl = "protocol headers, as NCCL counts the links";
inline constexpr const char* kProtocol = "protocol efficiency";
inline constexpr const char* kFill = "latency and pipeline fill at this size";
inline constexpr const char* kLogLinks = "links that the log does not show";
inline constexpr const char* kCompute = "reduction and copies";
inline constexpr const char* kSteps = "steps and caches at this size";
inline constexpr const char* kLeft = "what is left";

/// On GPUs: the row's algorithm with every link at line rate (where no source gives one, as NCCL counts it),
/// then as NCCL counts them where that lies between, then what the model reaches on large buffers, then at
/// this size, then with the links that the log lists where they are fewer, then as measured. On host memory:
/// the calibrated link at its fastest, then what the calibration gives for the algorithm's messages at this
/// size, then with reduction and copies, then as measured. None without an expectation, or without the links
/// it needs.
[[nodiscard]] std::optional<Gap> gap_of(const Run& run, const Row& row,
                                        const std::optional<Lab01Machine>& machine,
                                        const Lab01Ceilings& ceilings);

/// The gap at one of the page's sizes.
struct SizeGap {
  std::string size;              ///< "1 GB"
  std::uint64_t size_bytes = 0;  ///< of the row
  Gap gap;
};

/// A line for each term, a column for each of `gaps` (one at least) that adds up.
[[nodiscard]] ReportSection gap_section(const Run& run, const Lab01Options& options,
                                        const std::vector<SizeGap>& gaps);

/// "271.94" of 27194 in units of 10^-2.
[[nodiscard]] std::string fixed_point(std::int64_t value, int decimals);

/// The machine as the log shows it, where that is less: NICs and NVLinks that NCCL did not list. None where
/// the log shows all of them, or does not say.
[[nodiscard]] std::optional<GpuCluster> with_links_of_log(const GpuCluster& cluster, const Run& run);

/// The section of the page: what an hour of the run's GPUs costs, the hours that were asked for, the run;
/// then the bill by the terms of the gap, which add up to it to the cent.
[[nodiscard]] ReportSection lab01_price(const Run& run, const Lab01Options& options,
                                        const std::vector<SizeGap>& gaps);

}  // namespace collbench::analysis
