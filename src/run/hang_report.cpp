#include "src/run/hang_report.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "analysis/hang/hang.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "launch/flight/flight_folder.hpp"
#include "launch/flight/hang_watch.hpp"
#include "launch/launcher.hpp"
#include "launch/real_machine.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/run/outcome.hpp"

namespace collbench::program {
namespace {

using launch::HangAction;

/// What the user reads, and how this process ends.
class HangReport {
 public:
  HangReport(const RunOptions& options, const std::atomic<bool>& begun, int local_ranks,
             launch::FlightRecorder& flight)
      : options_(options), begun_(begun), local_ranks_(local_ranks), flight_(flight) {}

  void act(const launch::HangWatch::Look& look) {
    switch (look.action) {
      case HangAction::none:
        return;
      case HangAction::report_gone:
        print(lost(analysis::find_hang(look.ranks, local_ranks_)));
        return;
      case HangAction::end_gone:
      case HangAction::end_silently:
        end();
        return;
      case HangAction::end_timeout:
        print(timed_out(analysis::find_hang(look.ranks, local_ranks_)));
        end();
        return;
    }
  }

 private:
  [[nodiscard]] Error lost(const analysis::HangFinding& found) const {
    return {ExitStatus::rank_lost, step(), found.text, next_step(found)};
  }

  [[nodiscard]] Error timed_out(const analysis::HangFinding& found) const {
    return {ExitStatus::rank_lost, step(),
            fmt::format("timed out after {} without progress: {}", format_seconds(options_.timeout_seconds),
                        found.text),
            next_step(found) + "; -T sets the timeout"};
  }

  [[nodiscard]] std::string step() const { return flight_.step_name(); }

  [[nodiscard]] std::string next_step(const analysis::HangFinding& found) const {
    std::string look;
    if (!flight_.folder().empty())
      look = fmt::format("; collbench flight {} shows all ranks of this host", flight_.folder().string());
    // A connection that fails leaves Open MPI waiting; it says so itself, and no more.
    const bool is_start = step() == kStartOfMpi && found.ranks.empty();
    return (is_start ? "check that the hosts reach each other (Open MPI: --mca btl_tcp_if_include INTERFACE)"
                     : kept_results(options_, begun_)) +
           look;
  }

  static void print(const Error& error) { print_message("\n" + describe(error)); }

  /// mpirun ends the others. Nothing else may run here: the main thread is inside the library.
  [[noreturn]] void end() {
    flight_.finish();
    std::_Exit(static_cast<int>(ExitStatus::rank_lost));
  }

  const RunOptions& options_;
  const std::atomic<bool>& begun_;
  int local_ranks_;
  launch::FlightRecorder& flight_;
};

}  // namespace

std::filesystem::path flight_folder(const launch::FlightIdentity& identity) {
  if (launch::time_is_simulated() || !launch::launched_rank()) return {};
  if (identity.rank == 0) launch::remove_old_flights();
  return launch::make_flight_folder();
}

launch::Watchdog watch_for_hangs(const RunOptions& options, const std::atomic<bool>& begun,
                                 const launch::FlightIdentity& identity, launch::FlightRecorder& flight) {
  if (launch::time_is_simulated()) return {0, {}};
  const bool sees_all = identity.ranks > 0 && identity.ranks == identity.local_ranks;
  auto watch = std::make_shared<launch::HangWatch>(flight, options.timeout_seconds, identity.rank, sees_all);
  auto report = std::make_shared<HangReport>(options, begun, identity.local_ranks, flight);
  return {launch::HangWatch::kLookSeconds,
          [watch, report] { report->act(watch->look(launch::interrupted())); }};
}

}  // namespace collbench::program
