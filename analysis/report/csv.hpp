#pragma once
#include <string>

#include "base/record/run.hpp"

namespace collbench::analysis {

/// One line per row of the run (RFC 4180, LF line ends, a header with units in the names); an empty field is
/// a value that is not known. docs/formats.md lists the columns.
[[nodiscard]] std::string report_csv(const Run& run);

}  // namespace collbench::analysis
