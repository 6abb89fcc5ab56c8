#pragma once
#include "analysis/report_fact.hpp"
#include "base/record/run.hpp"

namespace collbench {

/// Below it page faults are not worth a word.
inline constexpr double kPageFaultShareSaid = 0.05;

/// The part of a row's time that page faults take: as many as the rank with the most has in a call, at what
/// one takes by the run's calibration. 0 where either is not known, as on GPUs and in SimGrid.
[[nodiscard]] double page_fault_share(const Run& run, const Row& row);

/// Where page faults take a twentieth of a row's time or more: how much of it, and what lets the library keep
/// its memory. The models leave them out (docs/model.md). A line per operation.
[[nodiscard]] ReportFacts page_fault_facts(const Run& run);

}  // namespace collbench
