#include "src/run/start.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/child_process.hpp"
#include "base/environment.hpp"
#include "base/units.hpp"
#include "collectives/mpi/mpi_library.hpp"
#include "launch/agreement.hpp"
#include "launch/interruption.hpp"
#include "launch/launcher.hpp"
#include "launch/real_machine.hpp"
#include "launch/socket_session.hpp"
#include "launch/sockets/rank_link.hpp"
#include "launch/thread_session.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/run/host_findings.hpp"

namespace collbench::program {
namespace {

constexpr const char* kStartedRanks = "COLLBENCH_STARTED_RANKS";

bool started_by_start_ranks() { return std::getenv(kStartedRanks) != nullptr; }

/// Replaces this process by `mpirun -np N` of the same command line (-g N without a launcher). Returns only
/// by throwing Error (not_here) when there is no mpirun.
[[noreturn]] void start_ranks(int ranks, bool on_gpus, int argc, char** argv) {
  std::vector<std::string> words{"mpirun", "-np", std::to_string(ranks)};
  // Hydra, which is MPICH's, puts any number of ranks on a host, and knows none of Open MPI's words for it.
  const std::string version = run_child({"mpirun", "--version"}).out;
  const bool is_open_mpi = !version.starts_with("HYDRA") && !version.starts_with("Intel(R) MPI");
  if (is_open_mpi) words.emplace_back("--oversubscribe");
  // Bound to one core, a rank would share it with the threads of NCCL.
  if (on_gpus) words.insert(words.end(), {is_open_mpi ? "--bind-to" : "-bind-to", "none"});
  if (is_open_mpi && geteuid() == 0) words.emplace_back("--allow-run-as-root");
  const std::string program = own_program().string();
  words.push_back(program.empty() ? "/proc/self/exe" : program);
  words.insert(words.end(), argv + 1, argv + argc);
  ::setenv(kStartedRanks, "1", 1);  // the ranks see the same -g, and must not start ranks of their own
  const int why = replace_process(std::move(words));
  throw Error(ExitStatus::not_here, "-g", fmt::format("mpirun cannot be started: {}", std::strerror(why)),
              "install Open MPI (apt-get install openmpi-bin), or put its mpirun on PATH");
}

/// Another MPI's mpirun, or srun with another PMI, starts N programs that each believe to be alone. Thrown
/// where only the launcher's rank 0 reports.
void require_own_launcher(const RunOptions& options, const launch::Session& session) {
  const int ranks = session.ranks().size();
  if (options.launched_ranks.value_or(ranks) == ranks) return;
  const collectives::MpiLibrary& mpi = collectives::mpi_library();
  const bool is_open_mpi = mpi.abi == collectives::MpiAbi::open_mpi;
  const std::string own = fmt::format("start collbench with the mpirun of {}", session.library());
  throw Error(ExitStatus::not_here, "launcher",
              fmt::format("it started {}, but MPI sees {}: it is not the launcher of {}{}",
                          counted(*options.launched_ranks, "rank"), ranks, session.library(),
                          mpi.passed_over.empty() ? "" : "; not used: " + mpi.passed_over),
              mpi.passed_over.empty()
                  ? fmt::format("{}, or with srun --mpi={}; COLLBENCH_MPI={} where the launcher is {}'s", own,
                                is_open_mpi ? "pmix" : "pmi2", is_open_mpi ? "mpich" : "openmpi",
                                is_open_mpi ? "MPICH" : "Open MPI")
                  : fmt::format("let the launcher's own MPI be found (LD_LIBRARY_PATH), or {}", own));
}

/// By MPI, or where the launcher knows of none, by sockets.
std::unique_ptr<launch::Session> connect_ranks(const RunOptions& options, int& argc, char**& argv,
                                               launch::CallCounter& exchanges) {
  if (!options.rendezvous) return collectives::mpi_library().functions->start(&argc, &argv, exchanges);
  const launch::Rendezvous& at = *options.rendezvous;
  spdlog::debug("ranks meet without MPI, as {} says: rank {} of {}, rank 0 at {}, ports {} to {}{}", at.by,
                at.rank, at.ranks, at.host, at.port, at.port + at.ports - 1,
                at.passed_over.empty() ? "" : "; " + at.passed_over);
  if (!at.is_secret)
    spdlog::debug(
        "COLLBENCH_SECRET is not set: until all ranks are there, whoever reaches that port could take "
        "a rank's place");
  return launch::make_socket_session(
      at,
      {.seconds = options.timeout_seconds,
       .waits =
           [&](const std::string& what) { print_message(fmt::format("collbench: {}: {}", at.by, what)); }},
      exchanges);
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

/// Of this rank, unless another one of its host said the same.
void tell_once(const Error& error, const std::string& what, const std::string& next, IncidentLog& incidents,
               const RankActivity& own) {
  const std::string rank = fmt::format("rank {} ({})", own.rank, own.host);
  const Incident incident =
      incident_of(IncidentKind::error, fmt::format("{}: {}", rank, what), error.status(), {own}, own);
  if (!incidents.claim(incident) && is_reported(incidents, error)) return;
  print_message(describe(Error(error.status(), rank, what, next)));
  incidents.write(incident);
}

/// What this rank alone failed with: once, if others of this host fail likewise.
void tell(const Error& error, IncidentLog& incidents, const RankActivity& own) {
  const std::string pass = own.pass > 0 ? fmt::format(", pass {}", own.pass) : "";
  // A call that failed was entered and never left.
  const bool in_call = own.calls.inside();
  const std::string call = in_call ? fmt::format(", call {}", own.call_of_step()) : "";
  const std::string during = fmt::format("{}{}{}", own.step, call, pass);
  const std::string where =
      error.where().empty() ? during : fmt::format("{} {} {}", error.where(), in_call ? "of" : "in", during);
  tell_once(error, fmt::format("{}: {}", where, error.what()),
            fmt::format("{}; {}", error.next_step(), incidents.next_step()), incidents, own);
}

/// Ranks that did not meet: what rank 0 knows, or a signal to all, is said by rank 0, and what one of a host
/// found by itself once for it. Who was started by hand has a terminal of its own. Rethrows where nobody else
/// was started.
int did_not_meet(const RunOptions& options, const Error& error, IncidentLog& incidents,
                 const RankActivity& own) {
  if (!options.rendezvous && !options.launched) throw;
  if (!options.rendezvous) {  // MPI cannot be loaded, perhaps on this host alone
    tell_once(error, fmt::format("{}: {}", error.where(), error.what()), error.next_step(), incidents, own);
    return static_cast<int>(error.status());
  }
  if (!options.rendezvous->has_launcher || own.rank == 0) return report_failure(error, true);
  const bool is_said = dynamic_cast<const launch::LastWord*>(&error) != nullptr || launch::interrupted();
  if (is_said) return report_failure(error, false);
  tell(error, incidents, own);
  return static_cast<int>(error.status());
}

/// As `launch::flight_identity` has the process; its ranks are its threads.
launch::FlightIdentity identity_of_thread(const RunOptions& options, int thread) {
  launch::FlightIdentity identity = launch::flight_identity(options.rendezvous);
  const int threads = options.process.gpus;
  if (threads > 1 && !options.launched && !options.rendezvous) {
    identity.ranks = identity.local_ranks = 1;
    identity.meeting = fmt::format("process-{}", ::getpid());
  }
  identity.rank = identity.rank * threads + thread;
  identity.ranks *= threads;
  identity.local_ranks *= threads;
  return identity;
}

/// A rank of this process, a thread of it: what others see it do, what cut it short, and who looks after it.
struct OwnRank {
  OwnRank(const RunOptions& options, int number, const std::filesystem::path& folder, std::mutex& last_word)
      : thread(number),
        identity(identity_of_thread(options, number)),
        flight(identity, folder),
        incidents(std::make_shared<IncidentLog>(options, flight.folder())),
        watch(options, incidents, identity, flight, last_word) {}

  int thread;
  launch::FlightIdentity identity;
  launch::FlightRecorder flight;
  std::shared_ptr<IncidentLog> incidents;
  RunWatch watch;
};

/// The run of one rank, from where it has met the others to the exit status of its process. Does not return
/// where the others cannot know that it failed.
int run_rank(const RunOptions& options, const launch::Session& session, OwnRank& own,
             collectives::NcclProcess& process, std::mutex& last_word) {
  const bool root = session.ranks().is_root();
  try {
    const ExitStatus status = run_command(options, session, own.flight, own.watch, *own.incidents, process);
    if (launch::interrupted()) own.flight.withdraw();
    return root ? static_cast<int>(status) : 0;
  } catch (const launch::AgreedError& error) {
    // Where ranks hang, a watchdog of this host may come to its end at the same time: the first is heard.
    const std::lock_guard lock(last_word);
    if (root && error.status() == ExitStatus::rank_lost &&
        !own.incidents->claim(agreed_incident(error, own.flight.activity())) &&
        is_reported(*own.incidents, error))
      return static_cast<int>(error.status());
    return report_failure(with_doctors_advice(error), root);
  } catch (const std::exception& failure) {
    // What was not agreed on happened here, and the other ranks wait for this one: it ends all, also where
    // there is no memory left to say why. Other threads may fail alike.
    const std::lock_guard lock(last_word);
    ExitStatus status = ExitStatus::internal;
    try {
      const Error error = as_error(failure);
      status = error.status();
      const bool is_alone = session.ranks().size() == 1;
      if (is_alone && status != ExitStatus::rank_lost && status != ExitStatus::internal)
        return report_failure(error, root);
      tell(error, *own.incidents, own.flight.activity());
    } catch (const std::exception& other) {  // the status says that it ended
      spdlog::debug("what happened could not be said: {}", other.what());
    }
    own.watch.finish();
    session.abort(static_cast<int>(status));
    std::abort();  // GCC does not see that a virtual function never returns
  }
}

/// All ranks of this process, this thread the first of them. Its exit status.
int run_threads(const RunOptions& options, const launch::Session& connected, OwnRank& first,
                collectives::NcclProcess& process, std::mutex& last_word) {
  launch::ThreadSessions sessions(connected, options.process.gpus);
  std::deque<OwnRank> ranks;
  for (int thread = 1; thread < options.process.gpus; ++thread)
    ranks.emplace_back(options, thread, first.flight.folder(), last_word);
  std::vector<std::thread> others;
  try {
    for (OwnRank& each : ranks) {
      others.emplace_back([&] {
        const auto session = sessions.session(each.thread, each.flight.exchanges());
        run_rank(options, *session, each, process, last_word);
      });
    }
  } catch (const std::system_error& error) {  // those that run wait for it
    std::_Exit(report_failure(Error(ExitStatus::not_here, "--gpus-per-process",
                                    fmt::format("a thread for each GPU cannot be started: {}", error.what()),
                                    "raise the limit of processes (ulimit -u, or pids.max of the container)"),
                              true));
  }
  const auto session = sessions.session(0, first.flight.exchanges());
  const int status = run_rank(options, *session, first, process, last_word);
  for (std::thread& each : others) each.join();
  return status;
}

/// Throws Error (usage) where -g would start ranks that something else has started.
void require_one_start(const RunOptions& options) {
  if (options.local_ranks > 1 && options.rendezvous && !options.rendezvous->has_launcher)
    throw usage_error("-g", "with --rendezvous each process is one rank",
                      "start one for each GPU, with a --rank of its own, without -g");
  if (options.local_ranks > 1 && options.launched && !started_by_start_ranks()) {
    const std::string by = options.rendezvous ? options.rendezvous->by : "mpirun";
    throw usage_error("-g", fmt::format("{} has already started the ranks", by),
                      options.rendezvous
                          ? fmt::format("let it start {} of them, without -g", options.local_ranks)
                          : fmt::format("use mpirun -np {} without -g", options.local_ranks));
  }
}

}  // namespace

void find_launch(RunOptions& options) {
  options.launched = launch::launched_rank().has_value();
  options.launched_ranks = launch::launched_size();
  if (started_by_start_ranks() || launch::time_is_simulated()) return;
  options.rendezvous = launch::find_rendezvous(options.given_rendezvous);
  // srun -n1 collbench -g 8: the one task starts the ranks.
  if (options.rendezvous && options.rendezvous->ranks == 1 && options.local_ranks > 1)
    options.rendezvous.reset();
  if (!options.rendezvous) return;
  options.launched = options.rendezvous->has_launcher;
  options.launched_ranks = options.rendezvous->ranks;
}

int start_run(const RunOptions& options, int argc, char** argv) {
  require_one_start(options);
  if (options.process.gpus > 1 && launch::time_is_simulated())
    throw Error(ExitStatus::not_here, "--gpus-per-process", "there are no GPUs in simulated time",
                "leave it and --threads out");
  if (options.local_ranks > 1 && !options.launched) {
    const bool on_gpus = options.memory ? *options.memory == collectives::MemoryKind::device
                                        : std::filesystem::exists("/dev/nvidiactl");
    start_ranks(options.local_ranks, on_gpus, argc, argv);
  }
  // Alone, Open MPI 4 would start a daemon, in case more processes follow, and end where there is no ssh.
  if (!options.launched) ::setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  if (!options.rendezvous && options.request.algorithms != std::vector<std::string>{kLibraryChoice})
    collectives::mpi_library().functions->allow_forced_algorithms();
  // Before other ranks see this one: whom a launcher ends is then not taken for one that died.
  if (!launch::time_is_simulated()) launch::notice_interruption();
  const bool has_others = options.launched || options.rendezvous || options.process.gpus > 1;
  std::mutex last_word;
  OwnRank own(options, 0, flight_folder(identity_of_thread(options, 0), has_others), last_word);
  if (options.rendezvous) {
    own.flight.step_without_limit("meeting the ranks");  // it has one of its own
  } else {
    own.flight.step(kStartOfMpi);
  }
  std::unique_ptr<launch::Session> connected;
  try {
    connected = connect_ranks(options, argc, argv, own.flight.exchanges());
  } catch (const Error& error) {
    return did_not_meet(options, error, *own.incidents, own.flight.activity());
  }
  require_own_launcher(options, *connected);
  collectives::NcclProcess process(options.process);
  return options.process.gpus > 1 ? run_threads(options, *connected, own, process, last_word)
                                  : run_rank(options, *connected, own, process, last_word);
}

}  // namespace collbench::program
