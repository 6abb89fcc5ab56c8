#include "src/run/stall_watch.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "analysis/report/text_layout.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "launch/real_machine.hpp"
#include "src/run/outcome.hpp"

namespace collbench::program {
namespace {

constexpr double kRootSpeaksFirstSeconds = 10;

std::string next_step(const std::string& step, const RunOptions& options) {
  // A connection that fails leaves Open MPI waiting; it says so itself, and no more.
  if (step.empty())
    return "check that the hosts reach each other (Open MPI: --mca btl_tcp_if_include INTERFACE)";
  return what_was_kept(options);
}

}  // namespace

launch::Watchdog watch_for_stalls(const RunOptions& options, bool is_root) {
  const double seconds = launch::time_is_simulated() ? 0 : options.timeout_seconds;
  const double patience = seconds > 0 && !is_root ? kRootSpeaksFirstSeconds : 0;
  return {seconds + patience, [&options, seconds](const std::string& step) {
            const Error error(ExitStatus::rank_lost, step.empty() ? "start of MPI" : step,
                              fmt::format("timed out after {} without progress: a rank or a link hangs",
                                          format_seconds(seconds)),
                              next_step(step, options) + "; -T sets the timeout");
            fmt::print(stderr, "\n{}\n", describe(error));
            // mpirun ends the others. Nothing else may run here: the main thread is inside the library.
            std::_Exit(static_cast<int>(error.status()));
          }};
}

}  // namespace collbench::program
