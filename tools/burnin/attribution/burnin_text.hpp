#pragma once
#include <string>

#include "tools/burnin/attribution/burnin_record.hpp"

namespace collbench::analysis {

/// For people, `width` columns wide: a line for each node that is not good, the findings with their evidence
/// and the next step, and what was not measured.
[[nodiscard]] std::string burnin_text(const BurninRecord& record, int width);

/// "from,to,rail,gigabytes_per_second,alone,repeat", a line each.
[[nodiscard]] std::string burnin_csv(const BurninRecord& record);

}  // namespace collbench::analysis
