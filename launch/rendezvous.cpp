#include "launch/rendezvous.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/text_input.hpp"
#include "launch/launcher.hpp"

namespace collbench::launch {
namespace {

constexpr std::uint16_t kPorts = 8;
constexpr std::uint16_t kPortsOfSlurm = 15000;  // and a job's last digits, below the kernel's own ports
constexpr int kMaxRanks = 1 << 20;

int number_of(std::string_view name, std::string_view text, int minimum, int maximum) {
  const auto number = whole_number<int>(text);
  if (number && *number >= minimum && *number <= maximum) return *number;
  throw usage_error(std::string(name),
                    fmt::format("\"{}\" is not a number from {} to {}", text, minimum, maximum),
                    "it comes from the launcher, or from --rank, --ranks and --rendezvous HOST:PORT");
}

/// Of a variable that has to be there.
int number_in(const char* name, int minimum, int maximum = kMaxRanks) {
  return number_of(name, variable_value(name), minimum, maximum);
}

/// In one word of a line, another one for each text: ranks with different ones do not meet.
std::string as_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    word += byte > ' ' && byte < 0x7f && c != '%' ? std::string(1, c) : fmt::format("%{:02x}", byte);
  }
  return word;
}

Rendezvous with_job(Rendezvous found, const std::string& job) {
  const std::string secret = variable_value("COLLBENCH_SECRET");
  found.is_secret = !secret.empty();
  constexpr std::size_t kMaxSecret = 256;
  if (secret.size() > kMaxSecret)
    throw usage_error("COLLBENCH_SECRET", fmt::format("it has {} bytes", secret.size()),
                      fmt::format("give at most {}", kMaxSecret));
  found.job = as_word(fmt::format("{}:{}:{}", found.by, job, secret));
  return found;
}

Rendezvous given_by_user(const GivenRendezvous& given) {
  const std::string address = given.address.empty() ? variable_value("COLLBENCH_RENDEZVOUS") : given.address;
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0)
    throw usage_error("--rendezvous", fmt::format("\"{}\" is not HOST:PORT", address),
                      "give rank 0's host and a free port there: --rendezvous node1:29600");
  Rendezvous found;
  found.host = address.substr(0, colon);
  found.by = "--rendezvous";
  found.has_launcher = false;
  const bool is_bracketed = found.host.starts_with('[') && found.host.ends_with(']');
  if (is_bracketed) found.host = found.host.substr(1, found.host.size() - 2);
  if (found.host.empty() || (!is_bracketed && found.host.find_first_of(":[]") != std::string::npos))
    throw usage_error("--rendezvous", fmt::format("\"{}\" is not HOST:PORT", address),
                      "an IPv6 address stands in brackets: [fd00::1]:29600");
  found.port =
      static_cast<std::uint16_t>(number_of("--rendezvous", std::string_view(address).substr(colon + 1), 1,
                                           std::numeric_limits<std::uint16_t>::max()));
  const char* const rank =
      variable_value("COLLBENCH_RANK").empty() ? "JOB_COMPLETION_INDEX" : "COLLBENCH_RANK";
  if ((!given.rank && variable_value(rank).empty()) ||
      (!given.ranks && variable_value("COLLBENCH_RANKS").empty()))
    throw usage_error("--rendezvous", "it needs this rank's number and the number of ranks",
                      "add --rank R and --ranks N, or set COLLBENCH_RANK and COLLBENCH_RANKS");
  found.ranks = given.ranks ? *given.ranks : number_in("COLLBENCH_RANKS", 1);
  found.rank = given.rank ? *given.rank : number_in(rank, 0);
  if (found.rank >= found.ranks)
    throw usage_error("--rank", fmt::format("there is no rank {} among {}", found.rank, found.ranks),
                      "ranks are counted from 0");
  return with_job(found, std::to_string(found.port));  // hosts may spell rank 0's name differently
}

Rendezvous of_torchrun() {
  Rendezvous found;
  found.host = variable_value("MASTER_ADDR");
  found.ports = kPorts;
  found.by = "torchrun";
  if (found.host.empty())
    throw usage_error("MASTER_ADDR", "torchrun's RANK and WORLD_SIZE are set, and it is not",
                      "start collbench with torchrun --no-python, or give --rendezvous HOST:PORT");
  const int agents = number_in("MASTER_PORT", 1, std::numeric_limits<std::uint16_t>::max() - kPorts);
  found.port = static_cast<std::uint16_t>(agents + 1);
  found.ranks = number_in("WORLD_SIZE", 1);
  found.rank = number_in("RANK", 0, found.ranks - 1);
  if (!variable_value("LOCAL_WORLD_SIZE").empty())
    found.local_ranks = number_in("LOCAL_WORLD_SIZE", 1, found.ranks);
  return with_job(found, fmt::format("{}:{}", agents, variable_value("TORCHELASTIC_RUN_ID")));
}

Rendezvous of_srun() {
  Rendezvous found;
  found.host = first_slurm_host(variable_value("SLURM_STEP_NODELIST"));
  if (found.host.empty())
    throw usage_error("SLURM_STEP_NODELIST", "it is not set, and srun's other variables are",
                      "start collbench with srun --mpi=none, or give --rendezvous HOST:PORT");
  found.ports = kPorts;
  found.by = "srun";
  found.ranks = number_in("SLURM_STEP_NUM_TASKS", 1);
  found.rank = number_in("SLURM_PROCID", 0, found.ranks - 1);
  const std::string job = variable_value("SLURM_JOB_ID");
  constexpr std::size_t kDigits = 4;
  constexpr int kMaxDigits = 9999;
  const std::string last = job.substr(job.size() - std::min(job.size(), kDigits));
  found.port = static_cast<std::uint16_t>(kPortsOfSlurm + number_of("SLURM_JOB_ID", last, 0, kMaxDigits));
  return with_job(found, fmt::format("{}.{}", job, variable_value("SLURM_STEP_ID")));
}

bool is_started_by_torchrun() {
  // A pod of a PyTorchJob has RANK and WORLD_SIZE, of pods, and no LOCAL_RANK.
  return !variable_value("RANK").empty() && !variable_value("LOCAL_RANK").empty() &&
         std::atoi(variable_value("WORLD_SIZE").c_str()) > 1;
}

bool is_started_by_srun() {
  // Of srun --pty the first task is a shell, in which somebody starts collbench by itself.
  return !variable_value("SLURM_PROCID").empty() && !variable_value("SLURM_STEP_ID").empty() &&
         variable_value("SLURM_PTY_PORT").empty();
}

}  // namespace

std::string first_slurm_host(std::string_view list) {
  const std::string_view first = list.substr(0, list.find_first_of(",["));
  if (first.size() == list.size() || list[first.size()] == ',') return std::string(first);
  const std::string_view numbers = list.substr(first.size() + 1);
  const std::size_t end = std::min(numbers.find(']'), numbers.size());
  const std::string_view rest =
      numbers.substr(std::min(end + 1, numbers.size()));  // "node[0-3]" of "rack[0-1]node[0-3]"
  return fmt::format("{}{}{}", first, numbers.substr(0, numbers.find_first_of(",-]")),
                     rest.empty() || rest.starts_with(',') ? "" : first_slurm_host(rest));
}

std::optional<Rendezvous> find_rendezvous(const GivenRendezvous& given) {
  const bool under_mpi = launched_rank().has_value();
  const bool by_torchrun = is_started_by_torchrun();
  if (!given.address.empty() || !variable_value("COLLBENCH_RENDEZVOUS").empty()) {
    Rendezvous found = given_by_user(given);
    if (under_mpi || by_torchrun)
      found.passed_over = fmt::format("{}'s variables are set too, and --rendezvous is what was asked for",
                                      under_mpi ? "MPI" : "torchrun");
    return found;
  }
  if (given.rank || given.ranks)
    throw usage_error(given.rank ? "--rank" : "--ranks", "there is no --rendezvous",
                      "add --rendezvous HOST:PORT, rank 0's host and a free port there");
  // A script's RANK and WORLD_SIZE for PyTorch are not torchrun's, whose agents set a run ID.
  if (by_torchrun && under_mpi && launched_size() && !variable_value("TORCHELASTIC_RUN_ID").empty() &&
      std::atoi(variable_value("WORLD_SIZE").c_str()) > *launched_size()) {
    // Of two launchers, one inside the other, the inner one has more processes.
    Rendezvous found = of_torchrun();
    found.passed_over = "MPI's variables are set too, for fewer processes: those of torchrun's agents";
    return found;
  }
  if (under_mpi) return std::nullopt;
  if (by_torchrun) return of_torchrun();
  if (is_started_by_srun()) return of_srun();
  return std::nullopt;
}

}  // namespace collbench::launch
