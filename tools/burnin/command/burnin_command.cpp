#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"
#include "launch/interruption.hpp"
#include "src/cli/options.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/tool_main.hpp"
#include "tools/burnin/attribution/burnin_record.hpp"
#include "tools/burnin/attribution/failure_verdicts.hpp"
#include "tools/burnin/attribution/group_verdicts.hpp"
#include "tools/burnin/attribution/halving.hpp"
#include "tools/burnin/attribution/pair_phase.hpp"
#include "tools/burnin/command/documents.hpp"
#include "tools/burnin/command/forecast.hpp"
#include "tools/burnin/command/gpu_phase.hpp"
#include "tools/burnin/command/launches.hpp"
#include "tools/burnin/command/options.hpp"

namespace collbench::program {
namespace {

using analysis::BurninPhase;
using analysis::BurninRecord;

CommandResult reported(const BurninRecord& record, const std::string& format) {
  const analysis::Attribution found = analysis::attribute(record);
  const ExitStatus status = analysis::lost_a_host(record)     ? ExitStatus::rank_lost
                            : analysis::passes(record, found) ? ExitStatus::ok
                                                              : ExitStatus::low;
  // These have no line of their own for who was not reached.
  constexpr std::array<std::string_view, 5> kWithoutHeadline{"csv", "matrix", "hostfile", "nodelist",
                                                             "drain"};
  if (status != ExitStatus::ok && std::ranges::find(kWithoutHeadline, format) != kWithoutHeadline.end())
    print_message("burnin: " + analysis::summary(record, found));
  return {burnin_document(record, found, format, text_options(When::never, false).columns),
          status,
          format == "text",
          {}};
}

/// Of a burn-in that goes on only its phases: which of their launches are left is known as they come. Nor is
/// it known whether there are GPUs.
Forecast forecast_of(const BurninOptions& options) {
  std::vector<PhasePlan> plans = phase_plans(options);
  for (PhasePlan& plan : plans)
    if (options.resume || plan.phase == BurninPhase::gpus) plan = {.phase = plan.phase};
  return Forecast(std::move(plans));
}

std::string words_of(const Error& error) {
  return fmt::format("{}: {}; {}", error.where(), error.what(), error.next_step());
}

class Burnin {
 public:
  explicit Burnin(const BurninOptions& options)
      : options_(options),
        started_(std::chrono::steady_clock::now()),
        forecast_(forecast_of(options)),
        progress_(is_shown(options.progress, ::isatty(STDERR_FILENO) == 1)) {
    record_.table.nodes = options.hosts;
    record_.table.rails = options.rails;
    record_.settings = measuring_settings(options);
    record_.bytes = static_cast<double>(options.bytes);
    record_.expected = options.expected;
    record_.table.leaf_of_node = leaves_of(options);
    record_.nvlink_nodes = options.nvlink_nodes;
    if (!options.record_path.empty())
      require_writable(options.record_path, options.overwrite || options.resume, "-J");
    if (options.resume && std::filesystem::exists(options.record_path)) go_on();
    require_writable_documents(options);
    launch::notice_interruption();
  }

  CommandResult run() {
    record_.planned = 0;
    record_.left_out = 0;
    record_.retests_left_out = 0;
    record_.phases_left_out = phases_left_out(options_);
    std::optional<CounterLook> before = look();
    for (const BurninPhase phase : analysis::burnin_phases()) {
      if (!has_phase(options_, phase)) continue;
      forecast_.begin(phase);
      show_progress();
      unless_misplaced(stage(phase), [this, phase] { measure(phase); });
      // Where no host has GPUs nothing ran in between.
      if (phase == BurninPhase::gpus && record_.probes.empty()) continue;
      before = note_rises(before, name(phase));
    }
    forecast_.end();
    unless_misplaced("retests of hosts and groups", [this] {
      for (const analysis::GroupLaunch& launch : analysis::group_retests(record_))
        if (!is_measured(launch)) measure_batch({launch});
    });
    save();
    say_how_long_it_took();
    CommandResult result = reported(record_, options_.format);
    try {
      write_documents(options_, record_);
    } catch (const Error& error) {  // hours of measuring are worth more than a page: the findings are printed
      result.notes.push_back(words_of(error));
      if (result.status == ExitStatus::ok) result.status = error.status();
    }
    return result;
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
    if (const std::string why = analysis::measured_otherwise(earlier.settings, record_.settings);
        !why.empty()) {
      throw usage_error(options_.record_path, why + ", so its times cannot be compared with those of now",
                        "give the same, or measure all of it into another -J");
    }
    earlier.failures.clear();  // they may answer now
    earlier.group_failures.clear();
    earlier.launcher_errors.clear();
    earlier.without_counters.clear();
    earlier.counter_notes.clear();
    earlier.earlier_times = earlier.table.times.size();
    earlier.expected = record_.expected;
    record_ = std::move(earlier);
  }

  /// Ends `what` where its launcher starts ranks on other hosts.
  void unless_misplaced(const std::string& what, const std::function<void()>& measures) {
    try {
      measures();
    } catch (const MisplacedRanks& error) {
      record_.launcher_errors.emplace(what, words_of(error));
      save();
    }
  }

  void measure(BurninPhase phase) {
    if (phase == BurninPhase::gpus) {
      std::vector<int> nodes(options_.hosts.size());
      std::iota(nodes.begin(), nodes.end(), 0);
      measure_gpus_of(nodes);
    } else if (phase == BurninPhase::halving)
      measure_halving();
    else if (phase == BurninPhase::pairs)
      analysis::measure_pairs(
          record_, {.at_once = options_.parallel},
          [this](const analysis::PairBatch& each) { return measure_batch_of_pairs(each); });
    else
      measure_groups(phase);
  }

  void measure_gpus_of(const std::vector<int>& nodes) {
    measure_gpus(options_, nodes, record_, [this] { return saved_and_fits(); });
    (void)saved_and_fits();
  }

  /// Until nothing is left to halve, or --time ends it; then the GPUs of whoever is slow.
  void measure_halving() {
    analysis::measure_halving(
        record_,
        {options_.parallel, group_seconds(options_, 0),
         [this] {
           progress_.clear();
           print_message("burnin: " + analysis::prediction_words(record_));
         }},
        [this](const analysis::GroupBatch& batch) -> std::optional<std::pair<double, double>> {
          const std::size_t known = record_.groups.size() + record_.group_failures.size();
          const double before = elapsed();
          longest_launch_ = 0;
          measure_batch(batch);
          if (record_.groups.size() + record_.group_failures.size() == known) return std::nullopt;
          return std::pair(elapsed() - before, longest_launch_);
        });
    std::vector<int> on_gpus;
    for (const analysis::HalvingSuspect& suspect : analysis::halving_of(record_).suspects) {
      const bool has_gpus = std::ranges::any_of(record_.groups, [&](const auto& rate) {
        return !rate.host_memory && rate.launch.nodes == std::vector{suspect.node};
      });
      if (has_gpus) on_gpus.push_back(suspect.node);
    }
    if (!on_gpus.empty()) measure_gpus_of(on_gpus);
  }

  /// Of hosts that answer: one that did not, by itself or in pairs, would take its whole group with it.
  void measure_groups(BurninPhase phase) {
    const analysis::Attribution found = analysis::attribute(record_);
    std::vector<int> nodes;
    for (int node = 0; node < node_count(); ++node) {
      const bool failed =
          analysis::works_somewhere(record_, BurninPhase::nodes) &&
          std::ranges::any_of(record_.group_failures, [node](const auto& each) {
            return each.launch.phase == BurninPhase::nodes && each.launch.nodes.front() == node;
          });
      // One whose kind is too small for pairs is not tested, either, and failed in none.
      const bool is_silent =
          found.nodes[static_cast<std::size_t>(node)].bucket == analysis::Bucket::not_tested &&
          !found.nodes[static_cast<std::size_t>(node)].held_back && !record_.table.times.empty() &&
          std::ranges::any_of(record_.failures,
                              [node](const auto& failure) { return failure.a == node || failure.b == node; });
      if (phase == BurninPhase::nodes || (!failed && !is_silent)) nodes.push_back(node);
    }
    if (nodes.size() < 2) {
      record_.phases_left_out.push_back(analysis::left_out(phase, "fewer than two hosts to measure it on"));
      return;
    }
    for (const analysis::GroupBatch& batch :
         analysis::group_batches(phase, nodes, options_.rails, record_.table.leaf_of_node)) {
      analysis::GroupBatch open;
      std::ranges::copy_if(batch, std::back_inserter(open),
                           [this](const analysis::GroupLaunch& launch) { return !is_measured(launch); });
      measure_batch(open);
    }
  }

  [[nodiscard]] bool is_measured(const analysis::GroupLaunch& launch) const {
    return std::ranges::any_of(record_.groups, [&launch](const auto& rate) { return rate.launch == launch; });
  }

  /// As many at the same time as --parallel allows.
  void measure_batch(const analysis::GroupBatch& batch) {
    for (const analysis::GroupBatch& part : analysis::in_batches(batch, options_.parallel))
      measure_jobs(part);
  }

  void measure_jobs(const analysis::GroupBatch& batch) {
    stop_if_interrupted();
    if (!fits()) {
      const analysis::LeftOutPhase left_out = analysis::cut_by_time(batch.front().phase);
      if (record_.phases_left_out.empty() || record_.phases_left_out.back() != left_out)
        record_.phases_left_out.push_back(left_out);
      return;
    }
    std::vector<std::pair<analysis::GroupLaunch, std::vector<std::string>>> jobs;
    for (const analysis::GroupLaunch& launch : batch)
      jobs.emplace_back(launch, forced_algorithms(options_, record_, launch));
    auto outcomes = launch_all(jobs, [this](const auto& job) {
      const double before = elapsed();
      analysis::GroupOutcome outcome = launch_group(options_, job.first, job.second);
      outcome.seconds = elapsed() - before;
      return outcome;
    });
    double start_seconds = -1;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const analysis::GroupOutcome outcome = outcomes[i].get();
      if (!outcome.why.empty() && launch::interrupted()) continue;
      if (!outcome.why.empty()) {
        record_.group_failures.push_back({batch[i], outcome.why});
      } else {
        longest_launch_ = std::max(longest_launch_, outcome.seconds);
        start_seconds =
            std::max({start_seconds, 0.0, outcome.seconds - group_seconds(options_, jobs[i].second.size())});
        if (!outcome.rates.empty() && !outcome.rates.front().host_memory) forecast_.on_gpus();
      }
      record_.groups.insert(record_.groups.end(), outcome.rates.begin(), outcome.rates.end());
    }
    note_round(start_seconds);
    save();
    stop_if_interrupted();
  }

  /// As Forecast::add_round(). Says once how long all of it will take, and on a terminal what is left.
  void note_round(double start_seconds) {
    const bool knew = forecast_.knows_start();
    forecast_.add_round(start_seconds);
    if (!knew && forecast_.knows_start() && is_forecast()) {
      predicted_seconds_ = elapsed() + forecast_.seconds_left();
      progress_.clear();
      constexpr double kMinShownStart = 0.1;  // seconds
      print_message(fmt::format("burnin: {}about {} in all, without retests{}",
                                forecast_.start_seconds() < kMinShownStart
                                    ? ""
                                    : fmt::format("the first launches took up to {} to start: ",
                                                  format_seconds(forecast_.start_seconds())),
                                format_seconds(predicted_seconds_),
                                is_cut_by_time() ? "; more than --time, so the last of it is left out" : ""));
    }
    show_progress();
  }

  void show_progress() {
    const std::size_t failed = record_.failures.size() + record_.group_failures.size();
    progress_.show(
        fmt::format(
            "burnin: {}{}{}", forecast_.where(),
            failed > 0 ? fmt::format("; {} gave no result", counted(failed, "launch")) : "",
            is_forecast() && forecast_.knows_start() && forecast_.seconds_left() > 0
                ? fmt::format("; about {} left, without retests", format_seconds(forecast_.seconds_left()))
                : ""),
        elapsed());
  }

  /// Halving predicts itself, and what a resumed burn-in has left is not known.
  [[nodiscard]] bool is_forecast() const {
    return !options_.resume && !has_phase(options_, BurninPhase::halving);
  }

  [[nodiscard]] bool is_cut_by_time() const {
    return options_.seconds > 0 && predicted_seconds_ > options_.seconds;
  }

  void say_how_long_it_took() {
    progress_.clear();
    if (predicted_seconds_ > 0 && !is_cut_by_time())
      print_message(fmt::format("burnin: took {} with its retests; predicted {} without",
                                format_seconds(elapsed()), format_seconds(predicted_seconds_)));
  }

  void save() const {
    if (!options_.record_path.empty())
      write_file_by_rename(options_.record_path, analysis::burnin_json(record_));
  }

  /// The error counters now; none where nobody asked for them.
  [[nodiscard]] std::optional<CounterLook> look() {
    if (!options_.counters || !launches_groups(options_)) return std::nullopt;
    const double before = elapsed();
    CounterLook now = look_at_counters(options_);
    forecast_.add_look(elapsed() - before);
    for (const topology::ErrorCounters& each : now.hosts) {
      // By the first look: a GPU that is lost later is no reason to compare the host with others.
      const auto node = analysis::node_named(record_, each.host);
      if (node && !each.gpu_models.empty())
        record_.gpu_models.try_emplace(record_.table.nodes[analysis::slot_of(*node)], each.gpu_models);
    }
    std::vector<std::string>& notes = record_.counter_notes;
    for (const std::string& note : analysis::counter_notes(options_.hosts, now.hosts))
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    record_.without_counters.insert(now.without.begin(), now.without.end());
    return now;
  }

  /// What went up since `before`; the look that says so.
  [[nodiscard]] std::optional<CounterLook> note_rises(const std::optional<CounterLook>& before,
                                                      const std::string& phase) {
    if (!before) return std::nullopt;
    std::optional<CounterLook> now = look();
    for (const topology::ErrorCounters& after : now->hosts) {
      const auto first = std::ranges::find_if(
          before->hosts, [&after](const topology::ErrorCounters& host) { return host.host == after.host; });
      if (first == before->hosts.end()) continue;
      const std::vector<analysis::CounterRise> rises = analysis::counter_rises(*first, after, phase);
      record_.rises.insert(record_.rises.end(), rises.begin(), rises.end());
    }
    return now;
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

  bool measure_batch_of_pairs(const analysis::PairBatch& batch) {
    stop_if_interrupted();
    if (!fits()) return false;
    auto outcomes = launch_all(batch.pairs, [this](const analysis::PairOnRail& each) {
      const double before = elapsed();
      analysis::PairOutcome outcome = launch_pair(options_, each.first.first, each.first.second, each.second);
      return std::pair(std::move(outcome), elapsed() - before);
    });
    double start_seconds = -1;
    for (std::size_t i = 0; i < batch.pairs.size(); ++i) {
      const auto [outcome, seconds] = outcomes[i].get();
      if (!outcome.why.empty() && launch::interrupted()) continue;  // it was killed, or may have been
      if (outcome.why.empty())
        start_seconds = std::max({start_seconds, 0.0, seconds - options_.pair_seconds});
      analysis::add_outcome(record_, batch, batch.pairs[i], outcome);
    }
    note_round(start_seconds);
    save();
    stop_if_interrupted();
    return true;
  }

  /// Saves what there is; whether another pair fits into --time. Throws Error of an interruption.
  [[nodiscard]] bool saved_and_fits() const {
    save();
    stop_if_interrupted();
    return fits();
  }

  /// Whether another pair fits into --time.
  [[nodiscard]] bool fits() const {
    return options_.seconds <= 0 || elapsed() + options_.pair_seconds <= options_.seconds;
  }

  [[nodiscard]] double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  }

  const BurninOptions& options_;
  std::chrono::steady_clock::time_point started_;
  double longest_launch_ = 0;     ///< seconds, of groups that gave rates
  double predicted_seconds_ = 0;  ///< of all of it, by its first launches; 0: not predicted
  Forecast forecast_;
  ProgressLine progress_;
  BurninRecord record_{};
};

/// What a record says, without measuring.
CommandResult said_again(const BurninOptions& options) {
  require_writable_documents(options);
  const std::string text = read_file(options.from_path);
  const bool is_record = trim(text).starts_with('{');
  if (is_record && !(options.choice.column.empty() && options.choice.where.empty())) {
    throw usage_error(options.from_path, "--column and --where choose from a table, and this is a record",
                      "leave them out");
  }
  BurninRecord record = is_record ? analysis::burnin_from_json(text, options.from_path)
                                  : analysis::burnin_from_pairs(text, options.from_path, options.choice);
  if (options.expected > 0) record.expected = options.expected;
  write_documents(options, record);
  return reported(record, options.format);
}

CommandResult burnin(const BurninOptions& options) {
  require_sensible(options);
  if (!options.from_path.empty()) return said_again(options);
  if (options.dry_run) return {plan_of(options)};
  if (const std::string note = whole_fleet_note(options); !note.empty()) print_message("burnin: " + note);
  return Burnin(options).run();
}

}  // namespace

void add_tool(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<BurninOptions>();
  add_burnin_options(command, options);
  command.callback([options, &chosen] { chosen = [options] { return burnin(*options); }; });
}

}  // namespace collbench::program
