#include "src/stall_watch.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "analysis/text_layout.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "launch/real_machine.hpp"
#include "src/run_outcome.hpp"

namespace collbench {
namespace {

constexpr double kRootSpeaksFirstSeconds = 10;

}  // namespace

Watchdog watch_for_stalls(const RunOptions& options, const Ranks& ranks) {
  const double seconds = time_is_simulated() ? 0 : options.timeout_seconds;
  const double patience = seconds > 0 && !ranks.is_root() ? kRootSpeaksFirstSeconds : 0;
  return {seconds + patience, [&options, seconds](const std::string& step) {
            const Error error(
                ExitStatus::rank_lost, step,
                fmt::format("no progress for {}: a rank or a link hangs", format_seconds(seconds)),
                what_was_kept(options) + "; -T sets how long to wait");
            fmt::print(stderr, "\n{}\n", describe(error));
            // mpirun ends the others. Nothing else may run here: the main thread is inside the library.
            std::_Exit(static_cast<int>(error.status()));
          }};
}

}  // namespace collbench
