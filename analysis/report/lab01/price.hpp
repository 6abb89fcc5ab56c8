#pragma once
#include <string>
#include <vector>

#include "analysis/report/lab01/gap.hpp"
#include "analysis/report/lab01/lab01.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// The section of the page: what an hour of the run's GPUs costs, the hours that were asked for, the run;
/// then the bill by the terms of the gap, which add up to it to the cent.
[[nodiscard]] ReportSection lab01_price(const Run& run, const Lab01Options& options,
                                        const std::vector<SizeGap>& gaps);

}  // namespace collbench::analysis
