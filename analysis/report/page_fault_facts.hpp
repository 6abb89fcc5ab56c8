#pragma once
#include "analysis/report/fact.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// Below it page faults are not reported.
inline constexpr double kMinReportedPageFaultShare = 0.05;

/// What one page fault takes by the calibration; null where it does not say.
[[nodiscard]] const CalibrationPoint* page_fault_point(const Run& run);

/// The part of a call's time that page faults take on the rank where that is most, at what one takes by the
/// run's calibration, at most 1. 0 where either is not known, as on GPUs and in SimGrid.
[[nodiscard]] double page_fault_share(const Run& run, const Row& row);

/// Where page faults take a twentieth of a row's time or more, how much, a line per operation and algorithm;
/// then what usually ends them, where that was not tried. The models leave them out (docs/model.md).
[[nodiscard]] ReportFacts page_fault_facts(const Run& run);

}  // namespace collbench::analysis
