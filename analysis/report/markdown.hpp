#pragma once
#include <string>

#include "base/record/run.hpp"

namespace collbench::analysis {

/// The facts and tables of report_text as GitHub-flavoured Markdown.
[[nodiscard]] std::string report_markdown(const Run& run);

}  // namespace collbench::analysis
