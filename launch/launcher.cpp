#include "launch/launcher.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/environment.hpp"
#include "base/host_name.hpp"
#include "base/secrets/secrets.hpp"
#include "launch/flight/process_stat.hpp"

namespace collbench::launch {
namespace {

// Open MPI's frameworks that a user tunes. orte, ess, pmix and the like are what mpirun tells its own
// daemons.
constexpr std::array<std::string_view, 15> kPrefixes{
    "NCCL_",         "UCX_",         "FI_",           "OMPI_MCA_btl",   "OMPI_MCA_coll",
    "OMPI_MCA_pml",  "OMPI_MCA_mtl", "OMPI_MCA_mpi_", "OMPI_MCA_hwloc", "OMPI_MCA_rmaps",
    "OMPI_MCA_topo", "OMPI_MCA_op",  "OMPI_MCA_osc",  "MALLOC_",        "COLLBENCH_"};
constexpr std::array<std::string_view, 9> kNames{
    "CUDA_VISIBLE_DEVICES",  "CUDA_DEVICE_MAX_CONNECTIONS", "SLURM_JOB_ID",       "SLURM_JOB_NODELIST",
    "SLURM_NTASKS_PER_NODE", "SLURM_GPUS_PER_TASK",         "SLURM_GPUS_ON_NODE", "OMP_NUM_THREADS",
    "GLIBC_TUNABLES"};

bool is_recorded(std::string_view name) {
  // mpirun's own words to its ranks, and start_ranks'
  if (name == "OMPI_MCA_mpi_oversubscribe" || name == "OMPI_MCA_rmaps_base_oversubscribe" ||
      name == "COLLBENCH_STARTED_RANKS") {
    return false;
  }
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

struct LauncherVariables {
  MpiLauncher launcher;
  const char* rank;
  const char* size;        ///< empty: it has none
  const char* local_size;  ///< likewise
};

constexpr std::array<LauncherVariables, 3> kMpiLaunchers{{
    {MpiLauncher::open_mpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {MpiLauncher::pmix, "PMIX_RANK", "", ""},
    {MpiLauncher::pmi, "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
}};

std::optional<int> number_in(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::nullopt : std::optional(std::atoi(value));
}

/// Whether a launcher's variables are those of a shell that it started, with another launcher in it: PMIx's
/// where PMI started several ranks. The one rank of PMI is such a shell itself.
bool is_outer(MpiLauncher launcher) {
  return launcher == MpiLauncher::pmix && number_in("PMI_RANK") && number_in("PMI_SIZE").value_or(1) > 1;
}

std::optional<int> number_of_launcher(const char* LauncherVariables::* which) {
  const auto launcher = mpi_launcher();
  if (!launcher) return std::nullopt;
  return number_in(kMpiLaunchers.at(static_cast<std::size_t>(*launcher)).*which);
}

/// The next process above this one whose name `is_wanted`.
std::optional<MpirunProcess> process_above(const auto& is_wanted) {
  constexpr int kLevels = 32;  // wrappers such as numactl or a shell script stand between
  int pid = ::getppid();
  for (int level = 0; level < kLevels && pid > 1; ++level) {
    const auto above = process_stat(pid);
    if (!above) return std::nullopt;
    if (is_wanted(above->name)) return MpirunProcess{.pid = pid, .start_ticks = above->start_ticks};
    pid = above->parent;
  }
  return std::nullopt;
}

}  // namespace

std::optional<MpiLauncher> mpi_launcher() {
  for (const LauncherVariables& each : kMpiLaunchers)
    if (number_in(each.rank) && !is_outer(each.launcher)) return each.launcher;
  return std::nullopt;
}

std::optional<int> launched_rank() { return number_of_launcher(&LauncherVariables::rank); }

std::optional<int> launched_size() { return number_of_launcher(&LauncherVariables::size); }

std::optional<int> launched_local_size() { return number_of_launcher(&LauncherVariables::local_size); }

std::vector<std::string> as_no_rank(const std::vector<std::string>& command) {
  std::vector<std::string> words{"env"};
  for (const LauncherVariables& each : kMpiLaunchers) words.insert(words.end(), {"-u", each.rank});
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

bool is_open_mpi_launcher(std::string_view name) {
  constexpr std::string_view kOfDebian = ".openmpi";
  if (name.ends_with(kOfDebian)) name.remove_suffix(kOfDebian.size());
  constexpr std::array<std::string_view, 5> kLaunchers{"mpirun", "mpiexec", "orterun", "prterun", "prun"};
  return std::ranges::find(kLaunchers, name) != kLaunchers.end();
}

std::optional<MpirunProcess> find_mpirun() { return process_above(is_open_mpi_launcher); }

std::optional<std::filesystem::path> libmpi_of_launcher() {
  const auto launcher = process_above([](std::string_view name) {
    constexpr std::array<std::string_view, 3> kDaemons{"orted", "prted", "prte"};  // mpirun's, on other hosts
    return is_open_mpi_launcher(name) || std::ranges::find(kDaemons, name) != kDaemons.end();
  });
  if (!launcher) return std::nullopt;
  std::error_code unknown;  // of another user, or gone
  const auto program = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", launcher->pid), unknown);
  if (unknown || !program.is_absolute()) return std::nullopt;
  for (const char* const folder : {"lib", "lib64"}) {
    std::filesystem::path file = program.parent_path().parent_path() / folder / "libmpi.so.40";
    if (std::filesystem::exists(file, unknown)) return file;
  }
  return std::nullopt;
}

FlightIdentity flight_identity(const std::optional<Rendezvous>& rendezvous) {
  return {.rank = rendezvous ? rendezvous->rank : launched_rank().value_or(0),
          .ranks = rendezvous ? rendezvous->ranks : launched_size().value_or(0),
          .local_ranks = rendezvous ? rendezvous->local_ranks : launched_local_size().value_or(0),
          .host = own_host_name(),
          .gpu = variable_value("CUDA_VISIBLE_DEVICES"),
          .meeting = rendezvous && !rendezvous->has_launcher
                         ? fmt::format("{}-{}", rendezvous->host, rendezvous->port)
                         : ""};
}

bool inside_slurm() { return std::getenv("SLURM_JOB_ID") != nullptr; }

std::map<std::string, std::string> recorded_environment() {
  std::map<std::string, std::string> recorded;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view line(*entry);
    const std::size_t equals = line.find('=');
    const std::string_view name = line.substr(0, equals);
    if (equals == std::string_view::npos || !is_recorded(name)) continue;
    recorded.emplace(name, recorded_value(name, line.substr(equals + 1)));
  }
  return recorded;
}

}  // namespace collbench::launch
