#pragma once
#include <string>

#include "src/lab01.hpp"
#include "src/run_options.hpp"

namespace collbench {

/// `collbench report RECORD`.
struct ReportOptions {
  std::string record;  ///< "-": stdin
  std::string format = "text";
  When colour = When::automatic;
  Lab01Request lab01;
};

/// A saved record as tables. Throws Error (usage) for a file that is none.
[[nodiscard]] std::string report_command(const ReportOptions& options);

}  // namespace collbench
