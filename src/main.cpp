#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <type_traits>
#include <variant>

#include "analysis/report.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/record/run_json.hpp"
#include "collectives/mpi/algorithm_control.hpp"
#include "launch/launcher.hpp"
#include "launch/mpi_session.hpp"
#include "src/command_line.hpp"
#include "src/import_command.hpp"
#include "src/judge_command.hpp"
#include "src/predict_command.hpp"
#include "src/run_command.hpp"
#include "src/start_ranks.hpp"

namespace {

using namespace collbench;

/// Only rank 0 speaks, and only rank 0 leaves with a status, so that mpirun does not report every rank.
int leave(const Error& error, bool speaks) {
  if (!speaks) return 0;
  fmt::print(stderr, "{}\n", describe(error));
  return static_cast<int>(error.status());
}

int measure(const RunOptions& options, int argc, char** argv) {
  if (options.local_ranks > 1 && options.launched && !started_by_start_ranks()) {
    throw usage_error("-g", "ranks are started by mpirun here already",
                      fmt::format("use mpirun -np {} without -g", options.local_ranks));
  }
  if (options.local_ranks > 1 && !options.launched) start_ranks(options.local_ranks, argc, argv);
  if (options.request.algorithms != std::vector<std::string>{kLibraryChoice}) allow_forced_algorithms();
  const MpiSession session(&argc, &argv);
  const bool root = session.ranks().is_root();
  try {
    const ExitStatus status = run_command(options, session);
    return root ? static_cast<int>(status) : 0;
  } catch (const Error& error) {
    // A lost rank cannot be agreed on: whoever sees it ends all. Every other Error is the same on all ranks.
    if (error.status() != ExitStatus::rank_lost) return leave(error, root);
    fmt::print(stderr, "{} (rank {} on {})\n", describe(error), session.ranks().rank(), session.host());
  } catch (const std::exception& error) {
    fmt::print(stderr, "collbench: rank {} on {}: {}; please report this\n", session.ranks().rank(),
               session.host(), error.what());
  }
  MpiSession::abort(static_cast<int>(ExitStatus::rank_lost));
}

}  // namespace

int main(int argc, char** argv) {
  const bool speaks = launched_rank().value_or(0) == 0;
  try {
    Command command = parse_command_line(argc, argv);
    if (auto* run = std::get_if<RunOptions>(&command)) {
      run->launched = launched_rank().has_value();
      return measure(*run, argc, argv);
    }
    if (!speaks) return 0;
    if (const auto* wanted = std::get_if<ReportOptions>(&command)) {
      fmt::print("{}",
                 wanted->lab01.asked
                     ? lab01(run_from_json_text(read_file(wanted->record), wanted->record), wanted->lab01)
                     : render_report(wanted->record, wanted->format));
    } else if (const auto* logs = std::get_if<ImportCommand>(&command)) {
      import_command(*logs);
    } else if (const auto* prediction = std::get_if<PredictOptions>(&command)) {
      fmt::print("{}", predict_command(*prediction));
    } else if (const auto* judged = std::get_if<JudgeOptions>(&command)) {
      const Judgement judgement = judge_command(*judged);
      fmt::print("{}", judgement.text);
      return static_cast<int>(judgement.low ? ExitStatus::low : ExitStatus::ok);
    } else {
      fmt::print("{}", std::get<TextAnswer>(command).text);
    }
    return 0;
  } catch (const Error& error) {
    return leave(error, speaks);
  } catch (const std::exception& error) {
    fmt::print(stderr, "collbench: {}; please report this\n", error.what());
    return static_cast<int>(ExitStatus::usage);
  }
}
