#include "src/commands/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "analysis/compare/comparison_report.hpp"
#include "analysis/report/run_charts.hpp"
#include "analysis/report/sections.hpp"
#include "base/error.hpp"
#include "base/record/run_stream.hpp"
#include "base/units.hpp"
#include "src/cli/host_list.hpp"
#include "src/cli/options.hpp"
#include "src/cli/standard_streams.hpp"

namespace collbench::program {

bool fails_on(const ComparisonOptions& options, analysis::RowChange change) {
  return std::ranges::find(options.fail_on, change) != options.fail_on.end();
}

namespace {

constexpr const char* kFolderTheme = "Of a folder of records over time";
constexpr const char* kOutputTheme = "Output";

using analysis::RowChange;

/// Two launches of one thing may be so far apart, where nobody measured it. On host memory the same program
/// has two paces on one machine (docs/statistics.md); on GPUs it is an assumption.
constexpr double kAllowanceOnHostMemory = 2;
constexpr double kAllowanceOnGpus = 0.1;

/// Two sittings in one state of a machine. On 2 cores of a virtual machine the medians of a row were at most
/// a factor of 1.28 apart within one build (85 records in three series of some minutes,
/// docs/notes/benchmarks.md "How far two sittings are apart"). On GPUs nobody measured it.
constexpr double kDriftOnHostMemory = 0.3;
constexpr double kMaxPercent = 1e6;

/// The changes of rows, and what the new run may fail by itself.
void parse_fail_on(const std::string& text, ComparisonOptions& options) {
  constexpr std::array<std::pair<std::string_view, RowChange>, 4> kChanges{{{"slower", RowChange::slower},
                                                                            {"faster", RowChange::faster},
                                                                            {"unclear", RowChange::unclear},
                                                                            {"missing", RowChange::missing}}};
  std::vector<std::string> names;
  for (const auto& each : kChanges) names.emplace_back(each.first);
  for (const std::string& each : failure_kind_names())
    if (each != "unclear") names.push_back(each);  // here it is a change's
  options.criteria.asked = options.criteria.kinds_asked = true;
  options.fail_on.clear();
  std::string kinds;
  for (const std::string& word : split_list(text)) {
    const std::string known = parse_failure_kind(word, names);
    const auto* const change =
        std::ranges::find_if(kChanges, [&](const auto& each) { return each.first == known; });
    if (change != kChanges.end()) {
      options.fail_on.push_back(change->second);
    } else {
      kinds += (kinds.empty() ? "" : ",") + known;
    }
  }
  if (!kinds.empty()) options.criteria.criteria.fail_on = parse_failure_kinds(kinds);
}

bool fails(const analysis::ComparedRow& row, const ComparisonOptions& options) {
  if (!fails_on(options, row.change)) return false;
  return row.change != RowChange::slower || row.ratio > 1 + options.max_slowdown;
}

/// "failed: AllReduce 1 MiB float sum, out of place: SLOWER, 1.24 times as long (1.20 to 1.29)".
std::string failed_row(const analysis::ComparedRow& row) {
  std::string text = fmt::format("failed: {}: {}", analysis::format_row(row.key), analysis::name(row.change));
  if (row.is_too_wide()) return text + " (the interval is too wide to say by how much)";
  if (row.ratio > 0) text += fmt::format(", {:.3g} times as long", row.ratio);
  if (row.ratio_low > 0) text += fmt::format(" ({:.3g} to {:.3g})", row.ratio_low, row.ratio_high);
  return text;
}

void add_comparison_options(CLI::App& command, const std::string& theme, ComparisonOptions& options) {
  add_option(
      command, theme, "--fail-on", "LIST",
      "what makes the exit status 1: rows that are slower, faster, unclear or missing; the new run low, "
      "late, degraded or throttled; or none (slower)",
      [&options](const std::string& text) { parse_fail_on(text, options); });
  add_criteria_options(command, theme, options.criteria, false);
  const auto add_percent = [&](const char* name, const char* help, auto& share) {
    add_option(command, theme, name, "PERCENT", help, [name, &share](const std::string& text) {
      share = parse_number<double>(text, name, 0, kMaxPercent, "percent") / 100;
    });
  };
  add_percent("--max-slowdown", "a row that is SLOWER by less does not fail (0)", options.max_slowdown);
  add_percent("--allowance",
              "how far apart two launches of the same thing may be, for rows of one launch each (200 on host "
              "memory, 10 on GPUs)",
              options.allowance);
  add_percent("--drift",
              "how far apart two sittings of the same thing may be, where each side is one record of several "
              "launches (30 on host memory, as --allowance where records have no probes; 0 on GPUs)",
              options.drift);
}

/// But for the new run, which may lie there as well.
std::vector<std::string> records_in(const std::string& folder, const std::string& current) {
  std::vector<std::string> files;
  for (const std::filesystem::path& each : record_files(folder))
    if (!same_file(each.string(), current)) files.push_back(each.string());
  if (!files.empty()) return files;
  throw usage_error("--baseline",
                    folder + (std::filesystem::exists(folder) ? " holds no other .json file"
                                                              : ": No such file or directory"),
                    "give a folder of records that -J wrote");
}

/// Throws Error (usage) for files that are no records, and for runs that cannot be compared.
CommandResult compare_records(const CompareCommand& options) {
  const auto documents = writable_documents(options.output);
  std::vector<std::string> base = options.files;
  const std::string current = base.back();
  base.pop_back();
  if (!options.baseline.empty()) base = records_in(options.baseline, current);
  const Run now = read_run(current);
  if (base.empty()) {
    throw usage_error("compare", "there is nothing to compare with",
                      "give base.json new.json, a folder of records, or a folder and new.json");
  }
  std::vector<Run> base_runs;
  for (const std::string& file : base) base_runs.push_back(read_run(file));
  analysis::Comparison found = analysis::compare(base_runs, {now}, compare_options(now, options.comparison));
  if (base_runs.size() == 1 && base_runs.front() == now) analysis::compare_with_itself(found);
  found.base_name = !options.baseline.empty() ? fmt::format("{} runs of {}", base.size(), options.baseline)
                    : base.size() == 1        ? input_name(base.front())
                                              : fmt::format("{}", fmt::join(base, ", "));
  found.current_name = input_name(current);
  const CriteriaOutcome outcome = comparison_outcome(found, now, options.comparison);
  CommandResult result{
      write_documents(documents,
                      [&](const OutputDocument& document) { return comparison_document(found, document); }),
      outcome.status, prints_text(documents), written_notes(documents, analysis::comparison_summary(found))};
  result.notes.insert(result.notes.end(), outcome.notes.begin(), outcome.notes.end());
  return result;
}

/// `--add` before the folder keeps records, and compares nothing; behind it, what was compared is kept.
bool adds_only(const CLI::App& command, const CLI::Option& add) {
  const std::vector<CLI::Option*>& given = command.parse_order();
  const auto first = std::ranges::find_if(
      given, [&add](const CLI::Option* each) { return each == &add || each->get_positional(); });
  return first != given.end() && *first == &add;
}

/// What the arguments ask for: BASE… NEW, FOLDER, FOLDER NEW… [--add], or --add FOLDER RECORD….
using Form = CommandResult (*)(const CompareCommand& options);

Form form_of(const CompareCommand& options, bool adds_only) {
  std::error_code failure;
  const bool has_folder = options.add || std::filesystem::is_directory(options.files.front(), failure);
  if (options.add && options.files.size() < 2) {
    throw usage_error("--add", "there is no record to add",
                      "give --add FOLDER RECORD..., or FOLDER RECORD... --add to compare them first");
  }
  if (!has_folder || !options.baseline.empty()) return compare_records;
  return adds_only ? add_records : options.files.size() == 1 ? show_history : check_records;
}

/// Throws Error (usage) for an option that has no part in this form of the command.
void require_fitting_options(const CLI::App& command, Form form) {
  for (const CLI::Option* each : command.get_options()) {
    if (each->count() == 0 || each->get_positional() || form == check_records) continue;
    const std::string& theme = each->get_group();
    if (form == compare_records && theme == kFolderTheme)
      throw usage_error(each->get_name(), "it is only used with a folder of records",
                        "name the folder first");
    if (form == show_history && theme != kOutputTheme)
      throw usage_error(each->get_name(), "it has no part in a history",
                        "name a new record behind the folder");
    if (form == add_records && each->get_name() != "--add")
      throw usage_error(each->get_name(), "with --add before the folder nothing is compared",
                        "write --add behind the records to compare them first");
  }
}

void add_compare(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<CompareCommand>();
  const std::string theme = "Options";
  command
      .add_option(
          "files", options->files,
          "records (-J), the new one last; or a folder of them, whose history is shown, and new ones to be "
          "compared with the last of it")
      ->required()
      ->option_text("BASE... NEW | FOLDER [NEW...]");
  add_option(command, theme, "--baseline", "FOLDER", "the base is every record (.json) in it",
             into(options->baseline));
  add_comparison_options(command, theme, options->comparison);
  add_option(command, kFolderTheme, "--last", "N", "compare with so many records before it (10)",
             number_into<std::size_t>(options->last, "--last", 1, 10'000));
  add_option(command, kFolderTheme, "--host", "LIST",
             "the hosts of the new records, one for each node, where a record says localhost",
             [options](const std::string& text) { options->hosts = parse_hosts(text, "--host"); });
  add_flag(command, kFolderTheme, "--any-host", options->any_host,
           "compare with records of other hosts of this kind too (the same hosts only)");
  const CLI::Option* const add =
      add_flag(command, kFolderTheme, "--add", options->add,
               "before the folder: only add the records to it; behind: compare, then add them whatever the "
               "comparison says; never those cut short or with wrong data");
  add_output_options(command, kOutputTheme, options->output, analysis::comparison_formats(),
                     "the comparison (JSON)");
  add_plot_options(command, "Charts", options->output, analysis::comparison_chart_kinds());
  command.callback([&command, add, options, &chosen] {
    const Form form = form_of(*options, adds_only(command, *add));
    require_fitting_options(command, form);
    if (form == show_history) options->output.formats = {"text", "html"};
    chosen = [options, form] { return form(*options); };
  });
}

}  // namespace

analysis::CompareOptions compare_options(const Run& current, const ComparisonOptions& options) {
  // Of tests of other programs it is not known: what is assumed for GPUs is assumed for them too.
  const bool on_gpus = !measures_host_memory(current.backend);
  const double allowance = options.allowance.value_or(on_gpus ? kAllowanceOnGpus : kAllowanceOnHostMemory);
  return {.launch_allowance = allowance,
          .sitting_allowance = options.drift.value_or(on_gpus ? 0 : kDriftOnHostMemory),
          // A record without probes may be of any state, as a single launch may.
          .unknown_state_allowance = options.drift.value_or(on_gpus ? 0 : allowance)};
}

CriteriaOutcome comparison_outcome(const analysis::Comparison& found, const Run& current,
                                   const ComparisonOptions& options) {
  CriteriaOutcome outcome = criteria_outcome(current, options.criteria);
  const std::size_t missing = found.count(RowChange::missing);
  if (!current.complete && missing > 0) {
    outcome.status = worse(outcome.status, ExitStatus::low);
    outcome.notes.push_back(fmt::format("failed: the new run was cut short, or is still going, and lacks {}",
                                        counted(missing, "row")));
  }
  for (const analysis::ComparedRow& row : found.rows) {
    if (!fails(row, options)) continue;
    outcome.status = worse(outcome.status, ExitStatus::low);
    if (options.criteria.asked) outcome.notes.push_back(failed_row(row));
  }
  return outcome;
}

Run read_run(const std::string& file) { return run_from_text(input_text(file), input_name(file)); }

std::string comparison_document(const analysis::Comparison& found, const OutputDocument& document) {
  if (is_picture(document)) return chart_picture(analysis::comparison_charts(found), document);
  const analysis::TextOptions text = page_options(document);
  return analysis::report(found, document.format, text) +
         text_plots(analysis::comparison_charts(found), document, text.columns);
}

Subcommand compare_subcommand() {
  return {"compare", "runs row by row, and records over time: what is slower, and what cannot be told",
          "collbench compare base.json new.json       SAME, FASTER, SLOWER or UNCLEAR\n"
          "  collbench compare DIR tonight.json --add   against the last ten; then kept\n"
          "  collbench compare DIR                      each row and node over time\n"
          "  collbench compare --add DIR run.json       kept",
          add_compare};
}

}  // namespace collbench::program
