#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/record/run.hpp"

// What the commands that launch runs themselves have in common: repeat and ab.

namespace collbench::program {

/// Throws Error (usage) when this process was started as a rank, or when `command` has an option that
/// `subcommand` gives to each launch itself. `keeps` says how the user keeps the results.
void require_launchable(std::string_view subcommand, const std::vector<std::string>& command,
                        std::string_view keeps);

/// What a launch ended with.
struct LaunchEnd {
  std::optional<Run> run;      ///< where its record is complete
  std::optional<Error> error;  ///< that ends the series: also of a run with wrong data
  bool has_record = false;     ///< some, complete or not
  bool was_interrupted = false;
};

/// Launches `command` with its record in `record`, a file that is replaced, and waits. `--time 20` is added
/// where the command bounds nothing. `name` stands before what failed ("launch 3"), `next_step` behind it,
/// but behind wrong data, which the record shows.
[[nodiscard]] LaunchEnd supervised_launch(const std::vector<std::string>& command, const std::string& record,
                                          const ChildLimits& limits, const std::string& name,
                                          const std::function<std::string(bool has_record)>& next_step);

}  // namespace collbench::program
