#include <fmt/format.h>

#include <string>

#include "analysis/report/lab01/lab01.hpp"
#include "analysis/verdict/fitting_machines.hpp"

namespace collbench::analysis {

std::string lab01_suggestion(const Run& run) {
  if (!run.log) return fmt::format("The machine is not known; {}.", kHowToSaveMachine);
  return fmt::format("No topology is given{} {}", run.log->gpu ? ";" : ", and", suggested_topology(*run.log));
}

}  // namespace collbench::analysis
