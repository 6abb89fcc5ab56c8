#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/attribution/burnin_record.hpp"
#include "analysis/attribution/failure_verdicts.hpp"
#include "analysis/attribution/pair_outcome.hpp"
#include "analysis/attribution/pair_schedule.hpp"
#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/units.hpp"
#include "launch/interruption.hpp"
#include "launch/launcher.hpp"
#include "src/cli/host_list.hpp"
#include "src/cli/options.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/commands/registry.hpp"

namespace collbench::program {
namespace {

using analysis::BurninRecord;
using analysis::PairOutcome;
using analysis::PairRound;

/// `collbench burnin`.
struct BurninOptions {
  std::vector<std::string> hosts;
  int rails = 1;
  std::string rail_setting;  ///< "NAME=VALUE{rail}": the environment of a rail's launches; empty: none
  std::string launcher = "mpirun -np 2 --host {a}:1,{b}:1 --map-by node";
  std::uint64_t bytes = 64 * kMiB;
  double pair_seconds = 3;
  double expected = 0;  ///< bytes per second of a message one way on a rail; 0: not known
  double seconds = 0;   ///< for the rounds; 0: all of them
  int parallel = 0;     ///< pairs at the same time; 0: all of a round
  int leaf_nodes = 0;
  bool dry_run = false;
  bool resume = false;
  bool overwrite = false;
  std::string record_path;
  std::string format = "text";
};

/// A pair on a rail.
using Work = std::tuple<int, int, int>;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

std::string with_value(std::string text, std::string_view name, const std::string& value) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
    text.replace(at, name.size(), value);
  return text;
}

void require_sensible(const BurninOptions& options) {
  if (launch::launched_rank()) {
    throw usage_error("burnin", "it was started as a rank",
                      "run it without a launcher; it starts one for each pair");
  }
  if (options.hosts.size() <= analysis::slot_of(analysis::kMinPartners)) {
    throw usage_error(
        "--hosts",
        fmt::format("{} cannot be told apart: each needs {} others to be judged",
                    counted(options.hosts.size(), "host"), analysis::kMinPartners),
        fmt::format("name at least {}, joined by commas, as node[01-30] or as @FILE with one a line",
                    analysis::kMinPartners + 1));
  }
  for (const std::string_view slot : {"{a}", "{b}"}) {
    if (options.launcher.find(slot) != std::string::npos) continue;
    throw usage_error("--launcher", fmt::format("'{}' lacks {}", options.launcher, slot),
                      "write {a} and {b} where the two hosts' names go");
  }
  if (options.rails > 1 && options.rail_setting.find("{rail}") == std::string::npos) {
    throw usage_error("--rail-setting", "nothing tells the launches of one rail from those of another",
                      "such as --rail-setting NCCL_IB_HCA=mlx5_{rail}");
  }
  if (options.resume && options.record_path.empty())
    throw usage_error("--resume", "the record to go on with is unknown", "give it with -J");
  if (options.format != "text" && options.dry_run)
    throw usage_error("--format", "a plan is text", "leave --format or --dry-run out");
}

/// By host; empty where nothing is known of them.
std::vector<int> leaves_of(const BurninOptions& options) {
  std::vector<int> leaves;
  for (std::size_t host = 0; options.leaf_nodes > 0 && host < options.hosts.size(); ++host)
    leaves.push_back(static_cast<int>(host) / options.leaf_nodes);
  return leaves;
}

class Burnin {
 public:
  explicit Burnin(const BurninOptions& options)
      : options_(options), started_(std::chrono::steady_clock::now()) {
    record_.table.nodes = options.hosts;
    record_.table.rails = options.rails;
    record_.bytes = static_cast<double>(options.bytes);
    record_.expected = options.expected;
    record_.table.leaf_of_node = leaves_of(options);
    if (!options.record_path.empty())
      require_writable(options.record_path, options.overwrite || options.resume, "-J");
    if (options.resume && std::filesystem::exists(options.record_path)) go_on();
    launch::notice_interruption();
  }

  CommandResult run() {
    const std::vector<PairRound> rounds = analysis::pair_rounds(node_count(), record_.table.leaf_of_node);
    record_.planned = 0;
    record_.left_out = 0;
    for (const PairRound& round : rounds) {
      record_.planned += static_cast<int>(round.size()) * options_.rails;
      for (int rail = 0; rail < options_.rails; ++rail) measure(round, rail);
    }
    // What failed, whoever is suspected, and each slow pair, once more with nothing beside it.
    for (const analysis::PairFailure& failure : analysis::failures_to_retry(record_))
      retest({{failure.a, failure.b}}, failure.rail);
    for (const auto& [pair, rail] : analysis::last_contacts(record_)) retest({pair}, rail);
    for (const auto& [round, rail] : analysis::retests_of(record_)) retest(round, rail);
    const analysis::Attribution found = analysis::attribute(record_);
    return {document(), status(found), options_.format == "text", {}};
  }

 private:
  [[nodiscard]] int node_count() const { return static_cast<int>(options_.hosts.size()); }

  /// Throws Error (usage) for the record of another burn-in.
  void go_on() {
    BurninRecord earlier = analysis::burnin_from_json(read_file(options_.record_path), options_.record_path);
    if (earlier.table.nodes != record_.table.nodes || earlier.table.rails != record_.table.rails ||
        earlier.bytes != record_.bytes || earlier.table.leaf_of_node != record_.table.leaf_of_node) {
      throw usage_error(options_.record_path, "is of other hosts, rails, leaves or sizes",
                        "give the same ones, or another -J");
    }
    earlier.failures.clear();  // they may answer now
    earlier.earlier_times = earlier.table.times.size();
    earlier.expected = record_.expected;
    record_ = std::move(earlier);
    for (const analysis::RailTime& time : record_.table.times)
      done_.emplace(std::min(time.from, time.to), std::max(time.from, time.to), time.rail);
  }

  void measure(const PairRound& round, int rail) {
    PairRound open;
    std::copy_if(round.begin(), round.end(), std::back_inserter(open),
                 [&](const auto& pair) { return !done_.contains(Work{pair.first, pair.second, rail}); });
    const std::size_t at_once =
        options_.parallel > 0 ? static_cast<std::size_t>(options_.parallel) : open.size();
    for (std::size_t start = 0; start < open.size(); start += at_once) {
      if (!fits()) {
        record_.left_out += static_cast<int>(open.size() - start);
        return;
      }
      const auto begin = open.begin() + static_cast<std::ptrdiff_t>(start);
      const auto count = static_cast<std::ptrdiff_t>(std::min(at_once, open.size() - start));
      measure_now({begin, begin + count}, rail, false);
    }
  }

  void retest(const PairRound& pairs, int rail) {
    if (fits())
      measure_now(pairs, rail, true);
    else
      record_.retests_left_out += 1;
  }

  /// Throws Error (rank_lost): of a burn-in that was cut nobody is said to be good.
  void stop_if_interrupted() const {
    if (!launch::interrupted()) return;
    throw Error(
        ExitStatus::rank_lost, "interrupted",
        fmt::format("{} measured, and nobody judged", counted(record_.table.times.size(), "direction")),
        options_.record_path.empty() ? "with -J it could be resumed"
                                     : "run the same command with --resume to continue");
  }

  void measure_now(const PairRound& pairs, int rail, bool alone) {
    stop_if_interrupted();
    std::vector<std::future<PairOutcome>> outcomes;
    for (const auto& [a, b] : pairs) {
      outcomes.push_back(std::async(std::launch::async, &Burnin::launch, this, a, b, rail));
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto [a, b] = pairs[i];
      const PairOutcome outcome = outcomes[i].get();
      if (!outcome.why.empty() && launch::interrupted()) continue;  // it was killed, or may have been
      std::erase_if(record_.failures, [&](const auto& failure) {
        return failure.a == a && failure.b == b && failure.rail == rail;
      });
      if (!outcome.why.empty()) {
        record_.failures.push_back({a, b, rail, outcome.why, alone});
        continue;
      }
      record_.table.times.push_back({a, b, rail, outcome.from_a, alone});
      record_.table.times.push_back({b, a, rail, outcome.from_b, alone});
    }
    if (!options_.record_path.empty())
      write_file_by_rename(options_.record_path, analysis::burnin_json(record_));
    stop_if_interrupted();
  }

  [[nodiscard]] std::vector<std::string> command(int a, int b, int rail) const {
    std::vector<std::string> words;
    for (const std::string& word : words_of(options_.launcher)) {
      words.push_back(with_value(with_value(word, "{a}", options_.hosts[static_cast<std::size_t>(a)]), "{b}",
                                 options_.hosts[static_cast<std::size_t>(b)]));
    }
    if (!options_.rail_setting.empty()) {
      const std::string setting = with_value(options_.rail_setting, "{rail}", std::to_string(rail));
      const bool is_mpirun =
          std::filesystem::path(words.front()).filename() == "mpirun";  // hands on what -x says
      words.insert(words.begin() + (is_mpirun ? 1 : 0), {is_mpirun ? "-x" : "env", setting});
    }
    // A broadcast to one other rank is a message one way; each of the two is the root in turn. The record
    // comes on stdout, for rank 0 need not be on a host whose files are seen here.
    const std::vector<std::string> own =
        words_of(fmt::format("--ops broadcast --root all --sizes {} -c 0 -n 2 --time {:g} --progress never "
                             "--color never --format json",
                             options_.bytes, options_.pair_seconds));
    words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
    words.insert(words.end(), own.begin(), own.end());
    return words;
  }

  [[nodiscard]] PairOutcome launch(int a, int b, int rail) const {
    const ChildLimits limits{.seconds = 30 + 5 * options_.pair_seconds, .interrupted = launch::interrupted};
    const std::string& first = options_.hosts[static_cast<std::size_t>(a)];
    const std::string& second = options_.hosts[static_cast<std::size_t>(b)];
    PairOutcome outcome;
    const ChildResult result = run_child(command(a, b, rail), limits);
    if (result.succeeded()) {
      outcome = analysis::pair_outcome(result.out, first, second);
    } else {
      const std::string said = analysis::first_words(result.err);
      outcome.why = fmt::format("{}{}{}", describe_end(result, limits), said.empty() ? "" : ": ", said);
    }
    if (!outcome.why.empty()) outcome.why = fmt::format("{} with {}: {}", first, second, outcome.why);
    return outcome;
  }

  /// Whether another pair fits into --time.
  [[nodiscard]] bool fits() const {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started_;
    return options_.seconds <= 0 || elapsed.count() + options_.pair_seconds <= options_.seconds;
  }

  [[nodiscard]] std::string document() const {
    if (options_.format == "json") return analysis::burnin_json(record_);
    if (options_.format == "csv") return analysis::burnin_csv(record_);
    if (options_.format == "hostfile") return analysis::good_nodes(record_, "\n");
    if (options_.format == "nodelist") return analysis::good_nodes(record_, ",");
    return analysis::burnin_text(record_, text_options(When::never, false).columns);
  }

  [[nodiscard]] ExitStatus status(const analysis::Attribution& found) const {
    if (analysis::lost_a_host(record_, found)) return ExitStatus::rank_lost;
    const bool all_good = std::all_of(found.nodes.begin(), found.nodes.end(),
                                      [](const auto& node) { return node.bucket == analysis::Bucket::good; });
    const bool no_finding = found.blames.empty() && found.doubt.empty() && record_.failures.empty();
    return all_good && no_finding ? ExitStatus::ok : ExitStatus::low;
  }

  const BurninOptions& options_;
  std::chrono::steady_clock::time_point started_;
  BurninRecord record_{};
  std::set<Work> done_{};
};

/// Rounds, pairs and minutes, without measuring.
CommandResult plan_of(const BurninOptions& options) {
  const int hosts = static_cast<int>(options.hosts.size());
  std::vector<PairRound> rounds = analysis::pair_rounds(hosts, leaves_of(options));
  const std::size_t all_rounds = rounds.size();
  const int at_once = options.parallel > 0 ? std::min(options.parallel, hosts / 2) : hosts / 2;
  const int batches = (hosts / 2 + at_once - 1) / at_once;
  const double a_round = options.pair_seconds * options.rails * batches;
  if (options.seconds > 0) rounds = analysis::fitting(std::move(rounds), options.seconds, a_round);
  const analysis::PairCoverage covered = analysis::coverage(rounds, hosts);
  std::string text = fmt::format(
      "{} of {} pairs on {} in {}, about {} at {:g} s a pair and rail, and retests of whoever is slow\n",
      covered.pairs, covered.all_pairs, counted(static_cast<std::size_t>(options.rails), "rail"),
      counted(rounds.size(), "round"), format_seconds(a_round * static_cast<double>(rounds.size())),
      options.pair_seconds);
  if (rounds.size() < all_rounds) {
    text += fmt::format(
        "{} are left out for want of time; a node needs {} partners to be judged, and the least "
        "here has {}\n",
        counted(all_rounds - rounds.size(), "round"), analysis::kMinPartners, covered.fewest_partners);
  }
  for (std::size_t i = 0; i < rounds.size() && options.hosts.size() <= 16; ++i) {
    text += fmt::format("round {}:", i + 1);
    for (const auto& [a, b] : rounds[i]) {
      text += fmt::format(" {}-{}", options.hosts[static_cast<std::size_t>(a)],
                          options.hosts[static_cast<std::size_t>(b)]);
    }
    text += '\n';
  }
  return {text};
}

CommandResult burnin(const BurninOptions& options) {
  require_sensible(options);
  if (options.dry_run) return plan_of(options);
  return Burnin(options).run();
}

void add_burnin(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<BurninOptions>();
  const auto add = [&](const std::string& names, const std::string& value, const std::string& help,
                       const std::function<void(const std::string&)>& take) {
    return add_option(command, "Options", names, value, help, take);
  };
  add("--hosts", "LIST|@FILE", "the hosts, joined by commas, node[01-30] or a file with one a line",
      [options](const std::string& text) { options->hosts = parse_hosts(text, "--hosts"); })
      ->required();
  add("--launcher", "WORDS",
      "starts two ranks on {a} and {b} (mpirun -np 2 --host {a}:1,{b}:1 --map-by node)",
      [options](const std::string& text) { options->launcher = text; });
  add("--rails", "N", "rails, each measured by launches of its own (1)",
      [options](const std::string& text) { options->rails = parse_number(text, "--rails", 1, 64); });
  add("--rail-setting", "NAME=VALUE", "what keeps a launch on its rail, such as NCCL_IB_HCA=mlx5_{rail}",
      [options](const std::string& text) { options->rail_setting = text; });
  add("--leaf-nodes", "N", "hosts below one leaf switch, in the order of --hosts (not known)",
      [options](const std::string& text) {
        options->leaf_nodes = parse_number(text, "--leaf-nodes", 1, 1'000'000);
      });
  add("--bytes", "SIZE", "of a message (64M)", [options](const std::string& text) {
    const std::vector<std::uint64_t> sizes = parse_size_list(text, "--bytes");
    if (sizes.size() != 1 || sizes.front() == 0)
      throw usage_error("--bytes", "'" + text + "' is not one size", "give one, such as 64M");
    options->bytes = sizes.front();
  });
  add("--pair-seconds", "SECONDS", "for each pair and rail (3)", [options](const std::string& text) {
    options->pair_seconds = parse_number(text, "--pair-seconds", 0.1, 1000.0);
  });
  add("--expected", "GB/S",
      "of a message one way on a rail; without it hosts are only compared with each other",
      [options](const std::string& text) {
        options->expected = kGigabyte * parse_number(text, "--expected", 1e-6, 1e6);
      });
  add("--parallel", "N", "pairs measured at the same time (all of a round)",
      [options](const std::string& text) {
        options->parallel = parse_number(text, "--parallel", 1, 100'000);
      });
  add("--time", "SECONDS", "for rounds and retests; what does not fit is left out, and said (no bound)",
      [options](const std::string& text) { options->seconds = parse_number(text, "--time", 1.0, 1e7); });
  command.add_flag("--dry-run", options->dry_run, "print rounds and minutes, and measure nothing")
      ->group("Options");
  add("-J,--record", "FILE", "the record as JSON, written after each round",
      [options](const std::string& text) { options->record_path = text; });
  command.add_flag("--resume", options->resume, "go on with the record of -J")->group("Options");
  command.add_flag("--overwrite", options->overwrite, "replace the record of -J")->group("Options");
  add("--format", "NAME", "text, json, csv (the pairs), hostfile or nodelist (of the good) (text)",
      [options](const std::string& text) {
        options->format = parse_name(text, "--format", {"text", "json", "csv", "hostfile", "nodelist"});
      });
  command.callback([options, &chosen] { chosen = [options] { return burnin(*options); }; });
}

}  // namespace

Subcommand burnin_subcommand() {
  return {"burnin", "pairs of hosts on each rail: which node, NIC or path is slow, and who is good",
          "collbench burnin --hosts @hosts.txt   which of these hosts is slow, and what of it", add_burnin};
}

}  // namespace collbench::program
