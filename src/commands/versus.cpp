#include "src/commands/versus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "analysis/compare/comparison.hpp"
#include "analysis/compare/comparison_report.hpp"
#include "base/clock.hpp"
#include "base/deterministic_random.hpp"
#include "base/record/run_stream.hpp"
#include "base/secrets/secrets.hpp"
#include "base/units.hpp"
#include "launch/interruption.hpp"
#include "launch/real_machine.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/commands/supervised_launch.hpp"

namespace collbench::program {
namespace {

using LaunchCommand = std::vector<std::string>;

constexpr int kDefaultRounds = 20;

struct TwoCommands {
  LaunchCommand a;
  LaunchCommand b;
};

/// Throws Error (usage) unless --versus stands once, with words on both sides.
TwoCommands split_commands(const LaunchCommand& words) {
  const auto versus = std::ranges::find(words, kVersus);
  if (versus == words.begin() || versus == words.end() || versus + 1 == words.end() ||
      std::find(versus + 1, words.end(), kVersus) != words.end()) {
    throw usage_error(
        "repeat", fmt::format("{} has to stand once between two commands", kVersus),
        "collbench repeat -- mpirun ... collbench OPTIONS --versus mpirun ... collbench OPTIONS");
  }
  return {{words.begin(), versus}, {versus + 1, words.end()}};
}

/// Whether B goes first in that round: as a coin that falls the same way for the same seed.
bool begins_with_b(std::uint64_t seed, std::size_t round) { return (scrambled(seed + round) & 1U) != 0; }

/// What a launch is of, and its records so far.
struct Side {
  const char* name;
  LaunchCommand command;
  std::vector<Run> runs;
};

class Series {
 public:
  Series(const RepeatOptions& options, const TwoCommands& commands)
      : options_(options),
        documents_(output_documents(options.output)),
        folder_(record_file(documents_), false, options.output.overwrite),
        progress_(is_shown(options.progress, launch::view_terminal(2, false).is_terminal)),
        max_rounds_(options.max_launches > 0 ? options.max_launches : kDefaultRounds),
        seed_(options.seed ? *options.seed : std::random_device()()),
        a_{"A", commands.a, {}},
        b_{"B", commands.b, {}} {
    require_writable_documents(documents_, options.output.overwrite);
    launch::notice_interruption();
  }

  CommandResult run() {
    const std::vector<int> looks = analysis::looks_of(max_rounds_);
    std::optional<analysis::Comparison> found;
    for (const int look : looks) {
      while (!failure_ && std::cmp_less(rounds(), look)) {
        run_round();
        if (rounds() == 1) require_comparable_commands();
      }
      if (rounds() == 0) break;
      found = compared();
      if (failure_ || analysis::is_decided(*found)) break;
    }
    progress_.clear();
    if (!found) throw Error(*failure_);
    const std::string text = write_documents(documents_, [&](const OutputDocument& document) {
      return analysis::report(*found, document.format, page_options(document));
    });
    if (failure_) print_message(describe(*failure_));
    return {text, failure_ ? failure_->status() : ExitStatus::ok, prints_text(documents_),
            written_notes(documents_, analysis::comparison_summary(*found))};
  }

 private:
  /// That both commands ran in.
  [[nodiscard]] std::size_t rounds() const { return std::min(a_.runs.size(), b_.runs.size()); }

  [[nodiscard]] analysis::Comparison compared() const {
    // A round that was cut short has one launch, which no other is compared with.
    const std::size_t whole = rounds();
    analysis::Comparison found =
        analysis::compare_pairs({a_.runs.begin(), a_.runs.begin() + static_cast<std::ptrdiff_t>(whole)},
                                {b_.runs.begin(), b_.runs.begin() + static_cast<std::ptrdiff_t>(whole)},
                                max_rounds_, {.launch_allowance = 0, .same_within = options_.same_within});
    found.base_name = "A";
    found.current_name = "B";
    found.differences.insert(
        found.differences.begin(),
        {fmt::format("A: {}", command_text(a_.command)), fmt::format("B: {}", command_text(b_.command)),
         fmt::format("{} of at most {}, in each A and B in an order drawn with --seed {}",
                     counted(whole, "round"), max_rounds_, seed_)});
    return found;
  }

  [[nodiscard]] static std::string command_text(const LaunchCommand& command) {
    std::string text;
    for (const std::string& word : recorded_words(command)) text += (text.empty() ? "" : " ") + word;
    return text;
  }

  void run_round() {
    const bool b_first = begins_with_b(seed_, rounds());
    launch(b_first ? b_ : a_);
    if (!failure_) launch(b_first ? a_ : b_);
  }

  /// Whether the commands can be compared at all is known after one launch of each.
  void require_comparable_commands() {
    try {
      (void)compared();
    } catch (const Error& error) {
      throw Error(error.status(), "repeat: A and B", error.what(),
                  error.next_step() + "; the records of both are in " + folder_.keep().string());
    }
  }

  void launch(Side& side) {
    const std::size_t number = a_.runs.size() + b_.runs.size() + 1;
    const std::string name = fmt::format("round {}, {}", side.runs.size() + 1, side.name);
    const ChildLimits limits{.seconds = options_.launch_seconds, .interrupted = [&] {
                               progress_.show(fmt::format("{} of at most {} rounds", name, max_rounds_),
                                              static_cast<double>(number));
                               return launch::interrupted();
                             }};
    const std::string file = folder_.file(number).string();
    LaunchEnd end = supervised_launch(side.command, file, limits, name, [this](bool has_record) {
      if (!has_record && a_.runs.empty() && b_.runs.empty())
        return std::string("both commands must start collbench and end with its options");
      return "the records of its launches are in " + folder_.keep().string();
    });
    if (end.error) {
      if (end.run) folder_.keep();  // its record shows why
      failure_ = *std::move(end.error);
      return;
    }
    if (!side.runs.empty()) require_same_measurement(side.runs.front(), *end.run, file);
    side.runs.push_back(*std::move(end.run));
  }

  const RepeatOptions& options_;
  std::vector<OutputDocument> documents_;
  LaunchFolder folder_;
  ProgressLine progress_;
  int max_rounds_;
  std::uint64_t seed_;
  Side a_;
  Side b_;
  std::optional<Error> failure_;
};

}  // namespace

CommandResult versus(const RepeatOptions& options) {
  const TwoCommands commands = split_commands(options.command);
  for (const LaunchCommand* const command : {&commands.a, &commands.b})
    require_launchable(*command, "put -J before -- to keep the comparison, and FILE.launches the records");
  return Series(options, commands).run();
}

}  // namespace collbench::program
