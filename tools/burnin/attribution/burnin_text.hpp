#pragma once
#include <string>

#include "analysis/report/sections.hpp"
#include "base/document/document.hpp"
#include "tools/burnin/attribution/burnin_record.hpp"

namespace collbench::analysis {

/// "rail 0: 12 directions, median 11.9 GB/s, slowest 5.9 (host2 to host0)": of each rail; in a mixed fleet of
/// each kind of hosts that is compared.
[[nodiscard]] ReportLines rail_lines(const BurninRecord& record);

/// What went up while phases ran, `max` counters at most, and how many more.
[[nodiscard]] ReportLines rise_lines(const BurninRecord& record, std::size_t max);

/// What was not measured or read, and what of it is not known: a warning or an alarm where it keeps the
/// burn-in from having said all that it was asked for.
[[nodiscard]] ReportLines missing_lines(const BurninRecord& record, const Attribution& found);

/// For people: a line for each node that is not good, the findings with their evidence and the next step, and
/// what was not measured.
[[nodiscard]] Document document_of(const BurninRecord& record, const Attribution& found);
[[nodiscard]] std::string burnin_text(const BurninRecord& record, int width);

/// "from,to,rail,gigabytes_per_second,alone,repeat", a line each.
[[nodiscard]] std::string burnin_csv(const BurninRecord& record);

}  // namespace collbench::analysis
