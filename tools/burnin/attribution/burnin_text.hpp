#pragma once
#include <string>

#include "base/document/document.hpp"
#include "tools/burnin/attribution/burnin_record.hpp"

namespace collbench::analysis {

/// What was not measured or read, and what of it is not known: a warning or an alarm where it keeps the
/// burn-in from having said all that it was asked for.
[[nodiscard]] ReportLines missing_lines(const BurninRecord& record, const Attribution& found);

/// For a terminal: what each phase measured, a line for each node that is not good, the findings with their
/// evidence and the next step, and what was not measured.
[[nodiscard]] Document document_of(const BurninRecord& record, const Attribution& found);

/// The same for a browser, where hosts and findings come first, with the map of the pairs.
[[nodiscard]] Document page_of(const BurninRecord& record, const Attribution& found, ReportPicture map);

/// "from,to,rail,gigabytes_per_second,alone,repeat", a line each.
[[nodiscard]] std::string burnin_csv(const BurninRecord& record);

}  // namespace collbench::analysis
