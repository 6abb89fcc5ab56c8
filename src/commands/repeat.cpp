#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/compare/comparison_report.hpp"
#include "analysis/report/launches.hpp"
#include "analysis/report/report.hpp"
#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/output_lock.hpp"
#include "base/record/run.hpp"
#include "base/record/run_stream.hpp"
#include "base/units.hpp"
#include "launch/interruption.hpp"
#include "launch/job_time.hpp"
#include "launch/real_machine.hpp"
#include "src/cli/criteria_options.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/commands/supervised_launch.hpp"
#include "src/commands/versus.hpp"
#include "src/run/expectation.hpp"
#include "src/run/output_files.hpp"

namespace collbench::program {
namespace {

constexpr int kDefaultLaunches = 30;
constexpr const char* kOfOne = "Of one command";
constexpr const char* kOfTwo = "Of two, with --versus";
constexpr std::size_t kMinLaunches = 8;  // with fewer, how wide the interval comes out is luck
constexpr std::chrono::duration<double> kPollInterval(0.05);  // for Ctrl-C, between launches

// For what a person sees go by; nothing is measured with it.
double seconds_now() { return SteadySeconds().seconds(); }

void require_repeatable(const RepeatOptions& options) {
  require_launchable(options.command, "put -J before -- to keep the record of all launches");
  if (options.resume && record_file(output_documents(options.output)).empty()) {
    throw usage_error("--resume", "the record to resume from is unknown", "give it with -J");
  }
}

class Repetition {
 public:
  explicit Repetition(const RepeatOptions& options)
      : options_(options),
        documents_(output_documents(options.output)),
        record_path_(record_file(documents_)),
        lock_(record_path_.empty() ? nullptr : std::make_unique<OutputLock>(record_path_, "-J")),
        folder_(record_path_, options.resume, options.output.overwrite),
        progress_(is_shown(options.progress, launch::view_terminal(2, false).is_terminal)),
        max_launches_(options.max_launches > 0 ? options.max_launches : kDefaultLaunches),
        start_(seconds_now()) {
    require_writable_documents(documents_, options.resume || options.output.overwrite);
    if (options.resume) launches_ = folder_.complete_launches();
    launch::notice_interruption();
  }

  CommandResult run() {
    if (!launches_.empty()) merge();
    while (!failure_ && !is_done() && !job_ends_before_next()) {
      wait_for_turn();
      if (failure_ || job_ends_before_next()) break;  // the wait may have been the longer part
      launch();
    }
    progress_.clear();
    if (launches_.empty()) throw Error(*failure_);
    std::string text = write_documents(documents_, [this](const OutputDocument& document) {
      return run_document(merged_, document, {}, options_.color);
    });
    const bool is_text = prints_text(documents_);
    if (failure_) {
      print_message(describe(*failure_));
      return {std::move(text), failure_->status(), is_text};
    }
    CriteriaOutcome outcome = criteria_outcome(merged_, {});
    return {std::move(text), outcome.status, is_text, std::move(outcome.notes)};
  }

 private:
  /// Of a machine with several states the launches of the commonest count.
  [[nodiscard]] bool is_precise() const {
    if (!widest_ || widest_->relative_half_width > options_.precision) return false;
    const auto& states = merged_.rows[widest_->row].measurement.states;
    return states.empty() ? launches_.size() >= kMinLaunches
                          : std::cmp_greater_equal(states.front().launches, kMinLaunches);
  }

  [[nodiscard]] bool is_done() const {
    if (launches_.empty()) return false;
    const bool nothing_ran = !widest_;
    return nothing_ran || is_precise() || std::cmp_greater_equal(launches_.size(), max_launches_);
  }

  /// A launch that the batch system would end is not begun. The first one shortens itself.
  [[nodiscard]] bool job_ends_before_next() {
    if (launches_.empty()) return false;
    const std::optional<double> left = launch::view_job_time().seconds_left;
    if (!left || launch::usable_seconds(*left) >= longest_launch_seconds_) return false;
    progress_.clear();
    print_message(fmt::format(
        "collbench: repeat: the job ends in {}, and a launch takes {}: this is the report of {}",
        format_seconds(*left), format_seconds(longest_launch_seconds_), counted(launches_.size(), "launch")));
    return true;
  }

  [[nodiscard]] std::string progress_text() const {
    std::string text = fmt::format("launch {} of at most {}, {}", launches_.size() + 1, max_launches_,
                                   format_seconds(std::floor(seconds_now() - start_)));
    if (widest_ && std::isfinite(widest_->relative_half_width)) {
      const RowKey& key = merged_.rows[widest_->row].measurement.key;
      text += fmt::format("; widest interval ±{:.1f} % ({} {})", widest_->relative_half_width * 100,
                          operation(key.operation).name, format_bytes(key.size_bytes));
    }
    return text;
  }

  /// Until --every has passed since the launch before.
  void wait_for_turn() {
    while (last_launch_ && !failure_) {
      const double left = *last_launch_ + options_.every_seconds - seconds_now();
      if (left <= 0) return;
      progress_.show(fmt::format("{}; next starts in {}", progress_text(), format_seconds(std::ceil(left))),
                     seconds_now());
      std::this_thread::sleep_for(std::min(kPollInterval, std::chrono::duration<double>(left)));
      if (launch::interrupted()) failure_ = interruption();
    }
  }

  void launch() {
    last_launch_ = seconds_now();
    const std::size_t number = launches_.size() + 1;
    const std::filesystem::path file = folder_.file(number);
    const ChildLimits limits{.seconds = options_.launch_seconds, .interrupted = [this] {
                               progress_.show(progress_text(), seconds_now());
                               return launch::interrupted();
                             }};
    LaunchEnd end =
        supervised_launch(options_.command, file.string(), limits, fmt::format("launch {}", number),
                          [this, &file](bool has_record) { return next_step_of(has_record, file); });
    longest_launch_seconds_ = std::max(longest_launch_seconds_, seconds_now() - *last_launch_);
    if (end.run) {
      if (end.error) folder_.keep();  // its record shows why
      if (!launches_.empty()) require_same_measurement(launches_.front(), *end.run, file.string());
      launches_.push_back(*std::move(end.run));
      merge();
    }
    if (end.error) failure_ = end.was_interrupted ? interruption() : *std::move(end.error);
  }

  [[nodiscard]] Error interruption() {
    return {ExitStatus::rank_lost, "interrupted",
            fmt::format("{} complete", counted(launches_.size(), "launch")), next_step()};
  }

  [[nodiscard]] std::string next_step_of(bool has_record, const std::filesystem::path& file) {
    if (!has_record && launches_.empty())
      return "the command after -- must start collbench and end with its options";
    const bool is_kept = has_record && !record_path_.empty();
    return next_step() + (is_kept ? fmt::format("; {} has what this launch measured", file.string()) : "");
  }

  [[nodiscard]] std::string next_step() {
    if (record_path_.empty()) return "the records of its launches are in " + folder_.keep().string();
    return "run the same command with --resume to continue";
  }

  void merge() {
    merged_ = analysis::merged_launches(launches_);
    widest_ = analysis::widest_interval(merged_);
    for (Row& row : merged_.rows) {
      const auto half = interval_half_width(row.measurement);
      row.measurement.stopped = half && *half <= options_.precision
                                    ? Stop{.reason = StopReason::precision_reached}
                                    : Stop{.reason = StopReason::launch_limit, .limit = merged_.launches};
    }
    merged_ = judged_by_own_machine(std::move(merged_));  // by the interval over launches
    if (!record_path_.empty()) write_file_by_rename(record_path_, to_json_text(merged_));
  }

  const RepeatOptions& options_;
  std::vector<OutputDocument> documents_;
  std::string record_path_;  // empty: none
  std::unique_ptr<OutputLock> lock_;
  LaunchFolder folder_;
  ProgressLine progress_;
  int max_launches_;
  double start_;
  std::optional<double> last_launch_;  // when the latest one began
  double longest_launch_seconds_ = 0;
  std::vector<Run> launches_;
  Run merged_;
  std::optional<analysis::WidestInterval> widest_;
  std::optional<Error> failure_;
};

/// Launches until the intervals over launches are tight enough, and reports all launches as one run. Exit
/// statuses are those of a run, whatever the launcher makes of them. Throws Error.
CommandResult repeat(const RepeatOptions& options) {
  require_repeatable(options);
  return Repetition(options).run();
}

/// Throws Error (usage) for an option of one command where there are two, or the other way round.
void require_fitting_options(const CLI::App& command, bool two) {
  const std::string theme = two ? kOfOne : kOfTwo;
  for (const CLI::Option* each : command.get_options()) {
    if (each->count() > 0 && each->get_group() == theme)
      throw usage_error(each->get_name(),
                        fmt::format("it is only used {} {}", two ? "without" : "with", kVersus),
                        "leave it out; see collbench repeat --help");
  }
}

void add_repeat(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<RepeatOptions>();
  command
      .add_option("command", options->command,
                  "what starts one launch, ending with collbench and its options (--time 20 is added if it "
                  "has neither --time nor -n); with --versus two of them, launched in turn, in random order, "
                  "until it is decided which is faster; started without a shell")
      ->required()
      ->option_text("-- COMMAND... [--versus COMMAND...]");
  const auto add = [&](const std::string& theme, const std::string& names, const std::string& value,
                       const std::string& help, const std::function<void(const std::string&)>& take) {
    return add_option(command, theme, names, value, help, take);
  };
  const std::string theme = "Options";
  add(theme, "--launches,--rounds", "N",
      "maximum number of launches; 1: supervise a single launch (30; with --versus of each command, 20)",
      number_into(options->max_launches, "--launches", 1, 10'000));
  add(theme, "-T,--timeout", "SECONDS", "end a launch that takes longer (1800)",
      number_into(options->launch_seconds, "-T", 1.0, 1e7));
  add(kOfOne, "--precision", "PERCENT",
      "done when every row's 95 % interval over launches is within +- this (5)",
      [options](const std::string& text) {
        options->precision = parse_number(text, "--precision", 0.01, 1000.0) / 100;
      });
  add(kOfOne, "--every", "SECONDS",
      "at least this long from one start to the next, so that the interval covers more time (0)",
      number_into(options->every_seconds, "--every", 0.0, 1e6));
  add_flag(command, kOfOne, "--resume", options->resume,
           "continue from the launches that an interrupted repeat left beside -J");
  add(kOfTwo, "--seed", "N", "of the random order within each round (drawn, and printed)",
      number_into<std::uint64_t>(options->seed, "--seed", 0, UINT32_MAX));
  add(kOfTwo, "--same", "PERCENT", "a difference of less is none (2)", [options](const std::string& text) {
    options->same_within = parse_number(text, "--same", 0.01, 1000.0) / 100;
  });
  add_output_options(command, theme, options->output, analysis::format_names(&analysis::ReportFormat::run),
                     "the record of all launches, or the comparison; FILE.launches/ keeps that of each");
  add_color_option(command, theme, options->color);
  add_progress_option(command, theme, options->progress);
  command.callback([&command, options, &chosen] {
    const auto& words = options->command;
    const bool two = std::ranges::find(words, kVersus) != words.end();
    require_fitting_options(command, two);
    if (two) options->output.formats = analysis::comparison_formats();
    chosen = [options, two] { return two ? versus(*options) : repeat(*options); };
  });
}

}  // namespace

Subcommand repeat_subcommand() {
  return {"repeat", "launches one command until its median is precise, or two until one is faster",
          "collbench repeat -J runs.json -- mpirun -np 16 collbench\n"
          "  collbench repeat -- mpirun ... A --versus mpirun ... B   which is faster, and by how much",
          add_repeat};
}

}  // namespace collbench::program
