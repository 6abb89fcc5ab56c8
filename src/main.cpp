#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <type_traits>
#include <variant>

#include "base/error.hpp"
#include "collectives/mpi/open_mpi/algorithm_control.hpp"
#include "launch/agreement.hpp"
#include "launch/launcher.hpp"
#include "launch/mpi_session.hpp"
#include "src/cli/output.hpp"
#include "src/command_line.hpp"
#include "src/commands/import.hpp"
#include "src/commands/judge.hpp"
#include "src/commands/predict.hpp"
#include "src/commands/repeat.hpp"
#include "src/commands/report.hpp"
#include "src/run/run_command.hpp"
#include "src/run/stall_watch.hpp"
#include "src/run/start_ranks.hpp"

namespace {

using namespace collbench;
using namespace collbench::program;

/// Only rank 0 speaks, and only rank 0 leaves with a status, so that mpirun does not report every rank.
int leave(const Error& error, bool speaks) {
  if (!speaks) return 0;
  fmt::print(stderr, "{}\n", describe(error));
  return static_cast<int>(error.status());
}

Error no_pmi() {
  return {ExitStatus::not_here, "srun", "it started tasks that know nothing of each other (--mpi=none)",
          "use srun --mpi=pmix, or mpirun inside salloc or sbatch; srun --mpi=list says what there is"};
}

/// MPICH's mpirun, or srun with another PMI, starts N programs that each believe to be alone. Thrown where
/// only the launcher's rank 0 speaks.
void require_own_launcher(const RunOptions& options, int ranks) {
  if (options.launched_ranks.value_or(ranks) == ranks) return;
  throw Error(
      ExitStatus::not_here, "launcher",
      fmt::format("it started {} ranks, and MPI knows of {} here: it is not this MPI's launcher",
                  *options.launched_ranks, ranks),
      "start it with the mpirun of " + launch::MpiSession::library_version() + ", or with srun --mpi=pmix");
}

int measure(const RunOptions& options, int argc, char** argv) {
  if (options.local_ranks > 1 && options.launched && !started_by_start_ranks()) {
    throw usage_error("-g", "ranks are started by mpirun here already",
                      fmt::format("use mpirun -np {} without -g", options.local_ranks));
  }
  if (options.local_ranks > 1 && !options.launched) start_ranks(options.local_ranks, argc, argv);
  if (const auto task = launch::srun_task_without_pmi()) return leave(no_pmi(), *task == 0);
  if (options.request.algorithms != std::vector<std::string>{kLibraryChoice})
    collectives::allow_forced_algorithms();
  launch::Watchdog watchdog = watch_for_stalls(options, launch::launched_rank().value_or(0) == 0);
  const launch::MpiSession session(&argc, &argv);
  const bool root = session.ranks().is_root();
  require_own_launcher(options, session.ranks().size());
  try {
    const ExitStatus status = run_command(options, session, watchdog);
    return root ? static_cast<int>(status) : 0;
  } catch (const launch::AgreedError& error) {
    return leave(error, root);
  } catch (const Error& error) {
    // A lost rank cannot be agreed on: whoever sees it ends all. Every other Error is the same on all ranks.
    if (error.status() != ExitStatus::rank_lost) return leave(error, root);
    fmt::print(stderr, "{} (rank {} on {})\n", describe(error), session.ranks().rank(), session.host());
  } catch (const std::exception& error) {
    fmt::print(stderr, "collbench: rank {} on {}: {}; please report this\n", session.ranks().rank(),
               session.host(), error.what());
  }
  launch::MpiSession::abort(static_cast<int>(ExitStatus::rank_lost));
}

Answer answer(const Command& command) {
  if (const auto* saved = std::get_if<ReportOptions>(&command)) return {report_command(*saved)};
  if (const auto* repetition = std::get_if<RepeatOptions>(&command)) return repeat_command(*repetition);
  if (const auto* topology = std::get_if<TopologyOptions>(&command)) return topology_command(*topology);
  if (const auto* logs = std::get_if<ImportCommand>(&command)) return import_command(*logs);
  if (const auto* prediction = std::get_if<PredictOptions>(&command)) return {predict_command(*prediction)};
  if (const auto* judged = std::get_if<JudgeOptions>(&command)) return judge_command(*judged);
  return {std::get<TextAnswer>(command).text};
}

}  // namespace

int main(int argc, char** argv) {
  const bool speaks = launch::launched_rank().value_or(0) == 0;
  try {
    Command command = parse_command_line(argc, argv);
    if (auto* run = std::get_if<RunOptions>(&command)) {
      run->environment = launch::recorded_environment();
      run->launched = launch::launched_rank().has_value();
      run->launched_ranks = launch::launched_size();
      start_log(run->verbose && speaks);
      return measure(*run, argc, argv);
    }
    if (!speaks) return 0;
    const Answer said = answer(command);
    print_all(said.text);
    return static_cast<int>(said.status);
  } catch (const Error& error) {
    return leave(error, speaks);
  } catch (const std::exception& error) {
    if (speaks) fmt::print(stderr, "collbench: {}; please report this\n", error.what());
    return speaks ? static_cast<int>(ExitStatus::usage) : 0;
  }
}
