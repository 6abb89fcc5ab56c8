#include "src/run/start.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/text_layout.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "collectives/mpi/open_mpi/algorithm_control.hpp"
#include "launch/agreement.hpp"
#include "launch/flight/flight_recorder.hpp"
#include "launch/interruption.hpp"
#include "launch/launcher.hpp"
#include "launch/mpi_session.hpp"
#include "launch/real_machine.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/run/hang_report.hpp"
#include "src/run/host_findings.hpp"
#include "src/run/incident.hpp"
#include "src/run/outcome.hpp"

namespace collbench::program {
namespace {

constexpr const char* kStartedRanks = "COLLBENCH_STARTED_RANKS";

/// Whether this process is one of the ranks that start_ranks started.
bool started_by_start_ranks() { return std::getenv(kStartedRanks) != nullptr; }

/// Replaces this process by `mpirun -np N` of the same command line (-g N without a launcher). Returns only
/// by throwing Error (not_here) when there is no mpirun.
[[noreturn]] void start_ranks(int ranks, bool on_gpus, int argc, char** argv) {
  std::vector<std::string> words{"mpirun", "-np", std::to_string(ranks), "--oversubscribe"};
  // Bound to one core, a rank would share it with the threads of NCCL.
  if (on_gpus) words.insert(words.end(), {"--bind-to", "none"});
  if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
  words.emplace_back("/proc/self/exe");
  std::string program(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", program.data(), program.size());
  if (length > 0) words.back() = program.substr(0, static_cast<std::size_t>(length));
  words.insert(words.end(), argv + 1, argv + argc);
  ::setenv(kStartedRanks, "1", 1);  // the ranks see the same -g, and must not start ranks of their own
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::signal(SIGPIPE, SIG_DFL);  // which a program is started with
  ::execvp(arguments[0], arguments.data());
  const int why = errno;
  std::signal(SIGPIPE, SIG_IGN);  // as it was: who reads what this says may be gone
  throw Error(ExitStatus::not_here, "-g", fmt::format("mpirun cannot be started: {}", std::strerror(why)),
              "install Open MPI (apt-get install openmpi-bin), or put its mpirun on PATH");
}

Error not_connected(const launch::UnconnectedTask& task) {
  constexpr const char* kWhat = "it started tasks that cannot find each other";
  if (task.by_srun) {
    return {
        ExitStatus::not_here, "srun", fmt::format("{} (--mpi=none)", kWhat),
        "use srun --mpi=pmix, or mpirun inside salloc or sbatch; srun --mpi=list shows what is available"};
  }
  return {ExitStatus::not_here, "torchrun", fmt::format("{} by MPI", kWhat),
          "start collbench by itself with -g N on one host, or with mpirun, which the bundle has, on several "
          "(collbench launch writes the line); alone, with env -u LOCAL_RANK"};
}

/// MPICH's mpirun, or srun with another PMI, starts N programs that each believe to be alone. Thrown where
/// only the launcher's rank 0 reports.
void require_own_launcher(const RunOptions& options, int ranks) {
  if (options.launched_ranks.value_or(ranks) == ranks) return;
  throw Error(ExitStatus::not_here, "launcher",
              fmt::format("it started {}, but MPI sees {}: it is not the launcher of this MPI library",
                          counted(static_cast<std::size_t>(*options.launched_ranks), "rank"), ranks),
              "start collbench with the mpirun of " + launch::MpiSession::library_version() +
                  ", or with srun --mpi=pmix");
}

/// Whether the user knows of `error` by what another rank of this host reported. An error of a library comes
/// to all when a rank is lost.
bool is_reported(const IncidentLog& incidents, const Error& error) {
  const std::optional<Incident> reported = incidents.known();
  if (!reported) return false;
  return reported->kind == IncidentKind::error
             ? reported->sentence.ends_with(fmt::format(": {}", error.what()))
             : error.status() == ExitStatus::rank_lost;
}

/// What this rank alone failed with: once, if others of this host fail likewise.
void tell(const Error& error, IncidentLog& incidents, const RankActivity& own) {
  const std::string rank = fmt::format("rank {} ({})", own.rank, own.host);
  const std::string pass = own.pass > 0 ? fmt::format(", pass {}", own.pass) : "";
  // A call that failed was entered and never left.
  const bool in_call = own.calls.inside();
  const std::string call = in_call ? fmt::format(", call {}", own.call_of_step()) : "";
  const std::string during = fmt::format("{}{}{}", own.step, call, pass);
  const std::string where =
      error.where().empty() ? during : fmt::format("{} {} {}", error.where(), in_call ? "of" : "in", during);
  const std::string what = fmt::format("{}: {}", where, error.what());
  const Incident incident =
      incident_of(IncidentKind::error, fmt::format("{}: {}", rank, what), error.status(), {own}, own);
  if (!incidents.claim(incident) && is_reported(incidents, error)) return;
  const std::string next = fmt::format("{}; {}", error.next_step(), incidents.next_step());
  print_message(describe(Error(error.status(), rank, what, next)));
  incidents.write(incident);
}

}  // namespace

int start_run(const RunOptions& options, int argc, char** argv) {
  if (options.local_ranks > 1 && options.launched && !started_by_start_ranks()) {
    throw usage_error("-g", "mpirun has already started the ranks",
                      fmt::format("use mpirun -np {} without -g", options.local_ranks));
  }
  if (options.local_ranks > 1 && !options.launched) {
    const bool on_gpus = options.memory ? *options.memory == collectives::MemoryKind::device
                                        : std::filesystem::exists("/dev/nvidiactl");
    start_ranks(options.local_ranks, on_gpus, argc, argv);
  }
  // Alone, Open MPI 4 would start a daemon, in case more processes follow, and end where there is no ssh.
  if (!options.launched) ::setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  if (const auto task = launch::unconnected_task())
    return report_failure(not_connected(*task), task->number == 0);
  if (options.request.algorithms != std::vector<std::string>{kLibraryChoice})
    collectives::allow_forced_algorithms();
  // Before other ranks see this one: whom a launcher ends is then not taken for one that died.
  if (!launch::time_is_simulated()) launch::notice_interruption();
  const launch::FlightIdentity identity = launch::flight_identity();
  launch::FlightRecorder flight(identity, flight_folder(identity));
  const auto incidents = std::make_shared<IncidentLog>(options, flight.folder());
  flight.step(kStartOfMpi);
  RunWatch watch(options, incidents, identity, flight);
  const launch::MpiSession session(&argc, &argv, flight.exchanges());
  const bool root = session.ranks().is_root();
  require_own_launcher(options, session.ranks().size());
  try {
    const ExitStatus status = run_command(options, session, flight, watch, *incidents);
    if (launch::interrupted()) flight.withdraw();
    return root ? static_cast<int>(status) : 0;
  } catch (const launch::AgreedError& error) {
    return report_failure(with_doctors_advice(error), root);
  } catch (const std::exception& failure) {
    // What was not agreed on happened here, and the other ranks wait for this one: it ends all, also where
    // there is no memory left to say why.
    ExitStatus status = ExitStatus::internal;
    try {
      const Error error = as_error(failure);
      status = error.status();
      const bool is_alone = session.ranks().size() == 1;
      if (is_alone && status != ExitStatus::rank_lost && status != ExitStatus::internal)
        return report_failure(error, root);
      tell(error, *incidents, flight.activity());
    } catch (const std::exception&) {  // the status alone says it
    }
    watch.finish();
    launch::MpiSession::abort(static_cast<int>(status));
  }
}

}  // namespace collbench::program
