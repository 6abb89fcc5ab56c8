#include "tools/burnin/command/launches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/record/measurement.hpp"
#include "collectives/mpi/mpi_library.hpp"
#include "launch/interruption.hpp"
#include "launch/launcher.hpp"
#include "src/cli/tools.hpp"

namespace collbench::program {
namespace {

constexpr double kCounterSeconds = 30;  // for a host to print its counters

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

std::string with_value(std::string text, std::string_view name, const std::string& value) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
    text.replace(at, name.size(), value);
  return text;
}

/// The launcher's words with a setting in the environment that its ranks get. Open MPI's launcher hands on to
/// other hosts what -x says, and nothing else; srun and Hydra (MPICH's mpiexec) hand on all that they have.
std::vector<std::string> with_setting(std::vector<std::string> words, const std::string& setting) {
  if (setting.empty()) return words;
  const auto launcher = open_mpi_launcher(words);
  if (launcher == words.end())
    words.insert(words.begin(), {"env", setting});
  else
    words.insert(launcher + 1, {"-x", setting});
  return words;
}

/// What keeps a launch on its rail; empty: nothing.
std::string rail_setting(const BurninOptions& options, int rail) {
  return rail < 0 ? std::string() : with_value(options.rail_setting, "{rail}", std::to_string(rail));
}

/// Adds this program and its arguments. The record comes on stdout, for rank 0 need not be on a host whose
/// files are seen here.
std::vector<std::string> measuring(std::vector<std::string> words, const BurninOptions& options,
                                   const std::string& what, double seconds) {
  const std::vector<std::string> own =
      words_of(fmt::format("{} --sizes {} -c 0 --time {:g} --calibration none --no-nodes-alone --progress "
                           "never --color never --format json",
                           what, options.bytes, seconds));
  words.push_back(core_program_path());
  words.insert(words.end(), own.begin(), own.end());
  return words;
}

ChildLimits limits_of(double seconds) { return {.seconds = seconds, .interrupted = launch::interrupted}; }

/// What a launch may take that measures for `seconds`.
double launch_seconds(double seconds) { return 30 + 5 * seconds; }

/// Throws Error where it gives none.
topology::ErrorCounters counters_of(const BurninOptions& options, int node) {
  const std::string& host = options.hosts[static_cast<std::size_t>(node)];
  const ChildLimits limits = limits_of(kCounterSeconds);
  std::vector<std::string> command = group_words(options, {node}, 1);
  command.insert(command.end(), {core_program_path(), "counters", "--format", "json"});
  const ChildResult result = run_child(command, limits);
  if (!result.succeeded()) throw usage_error(host, why_failed(result, limits), "");
  const std::size_t begin = std::min(result.out.find('{'), result.out.size());  // a launcher may say more
  topology::ErrorCounters found = topology::error_counters_from_json(
      result.out.substr(begin, result.out.find('\n', begin) - begin), "its counters");
  if (!is_same_host(found.host, host)) throw usage_error(host, "they were read on " + found.host, "");
  return found;
}

/// By the MPI that ranks started here would load; none is no Open MPI.
bool uses_open_mpi() {
  try {
    return collectives::mpi_library().abi == collectives::MpiAbi::open_mpi;
  } catch (const Error& error) {
    if (error.status() == ExitStatus::usage) throw;
    return false;
  }
}

}  // namespace

MisplacedRanks::MisplacedRanks(const char* option, const char* words, const std::vector<std::string>& hosts,
                               const std::string& how)
    : Error(ExitStatus::usage, option,
            fmt::format("{}, and {} asked for", how,
                        hosts.size() == 1 ? hosts.front() + " was"
                                          : fmt::format("{} to {} were", hosts.front(), hosts.back())),
            fmt::format("under Slurm give \"{}\" (without -N srun takes the nodes of its environment); name "
                        "hosts in --hosts as they call themselves",
                        words)) {}

std::string core_program_path() { return beside_this_program("collbench"); }

std::vector<std::string>::const_iterator open_mpi_launcher(const std::vector<std::string>& words) {
  // Another MPI library's launchers have the same names, and this program needs that of its own library.
  if (!uses_open_mpi()) return words.end();
  return std::ranges::find_if(words, [](const std::string& word) {
    return launch::is_open_mpi_launcher(std::filesystem::path(word).filename().string());
  });
}

std::vector<std::string> group_words(const BurninOptions& options, const std::vector<int>& nodes,
                                     int ranks_per_host) {
  std::vector<std::string> hosts;
  std::vector<std::string> slots;
  for (const int node : nodes) {
    hosts.push_back(options.hosts[static_cast<std::size_t>(node)]);
    slots.push_back(fmt::format("{}:{}", hosts.back(), ranks_per_host));
  }
  std::vector<std::string> words =
      words_of(options.group_launcher.empty() ? kGroupLauncher : options.group_launcher);
  for (std::string& word : words) {
    word = with_value(word, "{hosts}", fmt::format("{}", fmt::join(hosts, ",")));
    word = with_value(word, "{slots}", fmt::format("{}", fmt::join(slots, ",")));
    word = with_value(word, "{nodes}", std::to_string(nodes.size()));
    word =
        with_value(word, "{ranks}", std::to_string(nodes.size() * static_cast<std::size_t>(ranks_per_host)));
  }
  return words;
}

std::string why_failed(const ChildResult& result, const ChildLimits& limits) {
  const std::string said = analysis::first_words(result.err);
  return fmt::format("{}{}{}", describe_end(result, limits), said.empty() ? "" : ": ", said);
}

std::vector<std::string> pair_command(const BurninOptions& options, int a, int b, int rail) {
  std::vector<std::string> words;
  for (const std::string& word : words_of(options.launcher)) {
    words.push_back(with_value(with_value(word, "{a}", options.hosts[static_cast<std::size_t>(a)]), "{b}",
                               options.hosts[static_cast<std::size_t>(b)]));
  }
  // A broadcast to one other rank is a message one way; each of the two is the root in turn. The quickest
  // pass counts, so that many short ones say more than a few long ones.
  return measuring(with_setting(std::move(words), rail_setting(options, rail)), options,
                   "--ops broadcast --root all -n 1 -w 0 --rank-use", options.pair_seconds);
}

std::vector<std::string> group_command(const BurninOptions& options, const analysis::GroupLaunch& launch,
                                       const std::vector<std::string>& algorithms) {
  // A host by itself has nobody to talk to with one rank. Along a rail each host has one, with its NIC.
  const int ranks = launch.phase == analysis::BurninPhase::nodes ? std::max(2, options.ranks_per_host)
                    : launch.rail                                ? 1
                                                                 : options.ranks_per_host;
  std::vector<std::string> words = with_setting(group_words(options, launch.nodes, ranks),
                                                rail_setting(options, launch.rail.value_or(-1)));
  return measuring(with_setting(std::move(words), launch.without_nvlink ? "NCCL_MNNVL_ENABLE=0" : ""),
                   options,
                   fmt::format("--ops all_reduce,all_to_all --algo {}{}{} -n 2", kLibraryChoice,
                               algorithms.empty() ? "" : ",", fmt::join(algorithms, ",")),
                   group_seconds(options, algorithms.size()));
}

std::vector<std::string> forced_algorithms(const BurninOptions& options, const analysis::BurninRecord& record,
                                           const analysis::GroupLaunch& launch) {
  using analysis::BurninPhase;
  if (launch.phase != BurninPhase::groups && launch.phase != BurninPhase::whole) return {};
  if (!options.group_algorithms.empty()) return options.group_algorithms;
  std::set<int> on_gpus;
  for (const analysis::GroupRate& rate : record.groups) {
    if (!rate.host_memory) on_gpus.insert(rate.launch.nodes.begin(), rate.launch.nodes.end());
  }
  const bool all = std::ranges::all_of(launch.nodes, [&on_gpus](int node) { return on_gpus.contains(node); });
  return all ? std::vector<std::string>{"ring", "tree"} : std::vector<std::string>{};
}

double group_seconds(const BurninOptions& options, std::size_t algorithms) {
  // AllReduce and AllToAll take half of it each, and another algorithm is as a rule one more row.
  return options.pair_seconds * (1 + static_cast<double>(algorithms) / 2);
}

analysis::PairOutcome launch_pair(const BurninOptions& options, int a, int b, int rail) {
  const ChildLimits limits = limits_of(launch_seconds(options.pair_seconds));
  const std::string& first = options.hosts[static_cast<std::size_t>(a)];
  const std::string& second = options.hosts[static_cast<std::size_t>(b)];
  const ChildResult result = run_child(pair_command(options, a, b, rail), limits);
  analysis::PairOutcome outcome;
  if (result.succeeded())
    outcome = analysis::pair_outcome(result.out, first, second, rank_uses_in(result.err));
  else
    outcome.why = why_failed(result, limits);
  if (!outcome.misplaced.empty())
    throw MisplacedRanks("--launcher", kSrunPairs, {first, second}, outcome.misplaced);
  if (!outcome.why.empty()) outcome.why = fmt::format("{} with {}: {}", first, second, outcome.why);
  return outcome;
}

analysis::GroupOutcome launch_group(const BurninOptions& options, const analysis::GroupLaunch& launch,
                                    const std::vector<std::string>& algorithms) {
  const ChildLimits limits = limits_of(launch_seconds(group_seconds(options, algorithms.size())));
  std::vector<std::string> hosts;
  for (const int node : launch.nodes) hosts.push_back(options.hosts[static_cast<std::size_t>(node)]);
  const ChildResult result = run_child(group_command(options, launch, algorithms), limits);
  const bool is_refused =
      result.end == ChildEnd::exited && (result.code == static_cast<int>(ExitStatus::usage) ||
                                         result.code == static_cast<int>(ExitStatus::not_here));
  analysis::GroupOutcome outcome;
  if (is_refused && !algorithms.empty()) {  // the library's choice is worth having without them
    outcome = launch_group(options, launch, {});
    outcome.why = fmt::format("with {} forced (--group-algos): {}", fmt::join(algorithms, ", "),
                              why_failed(result, limits));
  } else if (result.succeeded())
    outcome = analysis::group_outcome(result.out, launch, hosts);
  else
    outcome.why = why_failed(result, limits);
  if (!outcome.misplaced.empty())
    throw MisplacedRanks("--group-launcher", kSrunGroups, hosts, outcome.misplaced);
  return outcome;
}

CounterLook look_at_counters(const BurninOptions& options) {
  CounterLook look;
  std::vector<int> nodes(options.hosts.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  for (const std::vector<int>& batch : analysis::in_batches(nodes, options.parallel)) {
    auto found = launch_all(batch, [&options](int node) { return counters_of(options, node); });
    for (std::size_t i = 0; i < batch.size(); ++i) {
      try {
        look.hosts.push_back(found[i].get());
      } catch (const Error& error) {
        look.without.emplace(options.hosts[static_cast<std::size_t>(batch[i])], error.what());
      }
    }
  }
  return look;
}

}  // namespace collbench::program
