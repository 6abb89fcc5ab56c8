#include "src/cli/criteria_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "analysis/verdict/verdict.hpp"
#include "base/units.hpp"
#include "src/cli/options.hpp"

namespace collbench::program {
namespace {

constexpr const char* kMinBusbw = "--min-busbw";
constexpr const char* kHowToWrite =
    "write OPERATION@SIZE>=GB/s, such as 'all_reduce@1G>=450' (quoted: > is the shell's)";

}  // namespace

analysis::MinBusbw parse_min_busbw(const std::string& text) {
  const std::size_t sign = text.find(">=");
  if (sign == std::string::npos)
    throw usage_error(kMinBusbw, fmt::format("'{}' has no '>='", text), kHowToWrite);
  const std::string what = text.substr(0, sign);
  const std::string rate = text.substr(sign + 2);
  const std::size_t at = what.find('@');
  if (what.empty() || at == 0 || rate.empty())
    throw usage_error(kMinBusbw, fmt::format("'{}' lacks the {}", text, rate.empty() ? "rate" : "operation"),
                      kHowToWrite);
  analysis::MinBusbw minimum;
  minimum.operation = parse_operation(what.substr(0, at), kMinBusbw);
  minimum.mean = at != std::string::npos && what.substr(at + 1) == "mean";
  if (at != std::string::npos && !minimum.mean)
    minimum.size_bytes = parse_size(what.substr(at + 1), kMinBusbw);
  constexpr double kMinRate = 1e-6;
  constexpr double kMaxRate = 1e6;
  minimum.bytes_per_second = parse_number(rate, kMinBusbw, kMinRate, kMaxRate, "GB/s") * kGigabyte;
  return minimum;
}

std::vector<std::string> failure_kind_names() {
  std::vector<std::string> names(analysis::kFailureKindNames.begin(), analysis::kFailureKindNames.end());
  names.emplace_back("none");
  return names;
}

std::string parse_failure_kind(const std::string& word, const std::vector<std::string>& names) {
  return word == "low" ? "below" : parse_name(word, "--fail-on", names);
}

std::vector<analysis::FailureKind> parse_failure_kinds(const std::string& text) {
  std::vector<analysis::FailureKind> kinds;
  const std::vector<std::string> names = failure_kind_names();
  for (const std::string& word : split_list(text)) {
    const std::string known = parse_failure_kind(word, names);
    if (known == "none") continue;
    const auto at = std::ranges::find(names, known) - names.begin();
    kinds.push_back(static_cast<analysis::FailureKind>(at));
  }
  return kinds;
}

void add_criteria_options(CLI::App& app, const std::string& theme, CriteriaOptions& options,
                          bool own_fail_on) {
  app.add_option_function<std::vector<std::string>>(
         kMinBusbw,
         [&options](const std::vector<std::string>& given) {
           options.asked = true;
           for (const std::string& list : given) {
             for (const std::string& each : split_list(list))
               options.criteria.min_busbw.push_back(parse_min_busbw(each));
           }
         },
         "exit status 1 where a row is slower: 'all_reduce@1G>=450', in GB/s; without @SIZE every row of 64 "
         "MiB and more; with @mean the mean of all rows; may be given again")
      ->allow_extra_args(false)
      ->group(theme)
      ->option_text("OPERATION@SIZE>=RATE");
  if (!own_fail_on) return;
  add_option(app, theme, "--fail-on", "LIST",
             "what else makes the exit status 1: below (BELOW or FAULT), unclear, untested (links that no "
             "operation tests), late (stragglers), degraded (a node unlike the others), throttled (GPUs), or "
             "none; wrong data is always 3",
             [&options](const std::string& text) {
               options.asked = options.kinds_asked = true;
               options.criteria.fail_on = parse_failure_kinds(text);
             });
  app.add_flag_callback(
         "--accept", [&options] { options.asked = options.kinds_asked = options.criteria.accept = true; },
         "exit status 0 only for a machine to keep: fails on all that --fail-on names, where no reference "
         "machine matches, and where data was not checked; 2 where there is nothing to judge")
      ->group(theme);
}

CriteriaOutcome criteria_outcome(const Run& run, const CriteriaOptions& options) {
  const analysis::RunCheck check = analysis::check_run(run, options.criteria);
  CriteriaOutcome outcome;
  const bool is_judged = machine_word(run) != VerdictWord::none && !is_machine_unknown(run);
  if (options.criteria.accept && !is_judged && check.failures.empty()) {
    outcome.status = ExitStatus::usage;
    outcome.notes.emplace_back("--accept: there is nothing to judge: no row has a verdict");
  }
  for (const analysis::RunFailure& failure : check.failures) {
    outcome.status = worse(outcome.status, failure.is_wrong_data ? ExitStatus::wrong_data : ExitStatus::low);
    if (options.asked || failure.is_wrong_data) outcome.notes.push_back("failed: " + failure.text);
  }
  if (!options.kinds_asked) return outcome;
  for (const std::string& each : check.not_known) outcome.notes.push_back("not checked: " + each);
  return outcome;
}

}  // namespace collbench::program
