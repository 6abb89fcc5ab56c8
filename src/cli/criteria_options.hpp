#pragma once
#include <string>
#include <vector>

#include "analysis/report/criteria.hpp"
#include "base/error.hpp"

namespace CLI {
class App;
}

// --min-busbw and --fail-on, spelled and meant alike in every command.

namespace collbench::program {

struct CriteriaOptions {
  analysis::Criteria criteria;
  bool asked = false;        ///< one of the options was given: all failures are said, a line each
  bool kinds_asked = false;  ///< --fail-on was: what it names and the record does not say is said, too
};

/// Adds --min-busbw, and with `own_fail_on` also --fail-on, to a command; they fill `options`.
void add_criteria_options(CLI::App& app, const std::string& theme, CriteriaOptions& options,
                          bool own_fail_on = true);

/// "all_reduce@1G>=450": operation, size (without one: all of at least 64 MiB), GB/s. Throws Error (usage).
[[nodiscard]] analysis::MinBusbw parse_min_busbw(const std::string& text);

/// The one of `names` that a word of --fail-on is; "low" is what "below" was called in 0.1. Throws Error
/// (usage).
[[nodiscard]] std::string parse_failure_kind(const std::string& word, const std::vector<std::string>& names);

/// "low,late", or "none". Throws Error (usage) for other words, with the list of `more` and those it knows.
[[nodiscard]] std::vector<analysis::FailureKind> parse_failure_kinds(const std::string& text);

/// What --fail-on takes in every command that reads a run.
[[nodiscard]] std::vector<std::string> failure_kind_names();

struct CriteriaOutcome {
  ExitStatus status = ExitStatus::ok;  ///< ok, low or wrong_data
  std::vector<std::string> notes;      ///< for stderr: a line for each failure, and for what is not known
};

/// Of two statuses of checks the one to end with: wrong_data before low before ok, as they are numbered.
[[nodiscard]] constexpr ExitStatus worse(ExitStatus a, ExitStatus b) { return a < b ? b : a; }

/// Holds a run against the criteria. Wrong data is status wrong_data whatever they are. It is always said,
/// the other failures where one of the options was given. Throws Error (usage) as check_run.
[[nodiscard]] CriteriaOutcome criteria_outcome(const Run& run, const CriteriaOptions& options);

}  // namespace collbench::program
