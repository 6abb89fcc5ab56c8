#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/compare/comparison_report.hpp"
#include "analysis/history/history_report.hpp"
#include "analysis/history/machine_kind.hpp"
#include "base/error.hpp"
#include "base/record/run_stream.hpp"
#include "base/units.hpp"
#include "src/cli/options.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/commands/baseline_folder.hpp"
#include "src/commands/comparison_options.hpp"
#include "src/commands/registry.hpp"

namespace collbench::program {
namespace {

/// `collbench baseline add FOLDER RECORD…`.
struct BaselineAddOptions {
  std::string folder;
  std::vector<std::string> records;
};

/// `collbench baseline show FOLDER`.
struct BaselineShowOptions {
  std::string folder;
  OutputOptions output;
};

/// `collbench baseline check FOLDER RECORD…`.
struct BaselineCheckOptions {
  std::string folder;
  std::vector<std::string> records;
  std::size_t last = 10;
  bool any_host = false;
  bool add = false;
  ComparisonOptions comparison;
  OutputOptions output;
};

Run read_run(const std::string& file) { return run_from_text(input_text(file), input_name(file)); }

std::string added_line(const std::string& folder, const std::string& file) {
  const AddedRecord added = add_to_baseline(folder, read_run(file), input_name(file));
  return fmt::format("{} {}", added.is_new ? "added" : "is there already:", added.path.string());
}

CommandResult add_records(const BaselineAddOptions& options) {
  CommandResult result;
  for (const std::string& file : options.records) result.text += added_line(options.folder, file) + "\n";
  return result;
}

CommandResult show_baseline(const BaselineShowOptions& options) {
  const auto documents = output_documents(options.output);
  require_writable_documents(documents, options.output.overwrite);
  const std::vector<analysis::MachineHistory> histories = baseline_histories(options.folder);
  return {write_documents(documents,
                          [&](const OutputDocument& document) {
                            return document.format == "html"
                                       ? analysis::history_page(histories, options.folder)
                                       : analysis::histories_text(histories, page_options(document).columns);
                          }),
          ExitStatus::ok, prints_text(documents), written_notes(documents, "")};
}

/// One record against its predecessors.
struct CheckedRecord {
  std::string file;
  Run run;
  std::string kind;
  std::optional<analysis::Comparison> comparison;
  std::string why_none;  ///< in words: why there is no comparison
};

CheckedRecord read_checked(const BaselineCheckOptions& options, const std::string& file) {
  CheckedRecord checked{
      .file = input_name(file), .run = read_run(file), .kind = {}, .comparison = {}, .why_none = {}};
  checked.kind = analysis::machine_kind(checked.run);
  // A record that does not say when it was is the newest.
  const std::string own_name =
      checked.run.started.empty() ? "~" : analysis::record_file_name(checked.run, to_json_text(checked.run));
  const auto hosts = options.any_host ? std::vector<std::string>{} : analysis::hosts_of(checked.run);
  const std::vector<Run> base = baseline_runs(options.folder, checked.kind, hosts, options.last, own_name);
  if (base.empty()) {
    checked.why_none = fmt::format("no earlier record of {} in {}{}: nothing to compare with", checked.kind,
                                   options.folder, options.any_host ? "" : " on these hosts (--any-host)");
    return checked;
  }
  if (!analysis::have_a_row_in_common(base, {checked.run})) {
    checked.why_none = fmt::format(
        "no row of it is in the last {} of {} in {}: operations, sizes, types or "
        "algorithms differ, and nothing is compared",
        counted(base.size(), "record"), checked.kind, options.folder);
    return checked;
  }
  checked.comparison =
      analysis::compare(base, {checked.run}, compare_options(checked.run, options.comparison));
  checked.comparison->current_name = checked.file;
  checked.comparison->base_name = base.size() == 1
                                      ? "the last record in " + options.folder
                                      : fmt::format("the last {} records in {}", base.size(), options.folder);
  return checked;
}

std::string check_text(const CheckedRecord& checked, const OutputDocument& document) {
  if (checked.comparison)
    return analysis::report(*checked.comparison, document.format, page_options(document));
  return analysis::report_no_comparison(checked.file, checked.why_none, document.format,
                                        page_options(document));
}

/// Several comparisons one after the other are still a page of text, and no document of another format.
void require_one_record(const BaselineCheckOptions& options, const std::vector<OutputDocument>& documents) {
  if (options.records.size() < 2) return;
  for (const OutputDocument& document : documents) {
    if (document.format == "text" || document.format == "md") continue;
    throw usage_error("baseline check", fmt::format("{} cannot hold several comparisons", document.format),
                      "check one record at a time, or write text or md");
  }
}

/// `is_shown`: whoever reads the lines on stderr also sees the page.
CriteriaOutcome outcome_of_check(const BaselineCheckOptions& options, const CheckedRecord& checked,
                                 bool is_shown) {
  ComparisonOptions said = options.comparison;
  said.criteria.asked = true;  // a line per failure, always: that is what a nightly job mails
  CriteriaOutcome outcome = checked.comparison ? comparison_outcome(*checked.comparison, checked.run, said)
                                               : criteria_outcome(checked.run, said.criteria);
  if (!checked.comparison) {
    const bool fails = fails_on(said, analysis::RowChange::missing);
    if (fails) outcome.status = worse(outcome.status, ExitStatus::low);
    if (fails || !is_shown)
      outcome.notes.push_back((fails ? "failed: " : "not compared: ") + checked.why_none);
  }
  if (!checked.run.complete) {
    outcome.status = worse(outcome.status, ExitStatus::low);
    outcome.notes.emplace_back("failed: the run was cut short, or is still going");
  }
  return outcome;
}

/// A record that is not kept fails the check, which is still said whole.
void add_checked(const std::string& folder, const CheckedRecord& checked, CommandResult& result) {
  try {
    const AddedRecord added = add_to_baseline(folder, checked.run, checked.file);
    result.notes.push_back(
        fmt::format("{} {}", added.is_new ? "added" : "is there already:", added.path.string()));
  } catch (const Error& refused) {
    if (result.status == ExitStatus::ok) result.status = refused.status();
    result.notes.push_back(fmt::format("not added: {}: {}", refused.where(), refused.what()));
  }
}

CommandResult check_baseline(const BaselineCheckOptions& options) {
  const auto documents = output_documents(options.output);
  require_one_record(options, documents);
  if (!options.add) require_baseline(options.folder);
  require_writable_documents(documents, options.output.overwrite);
  std::vector<CheckedRecord> records;
  for (const std::string& file : options.records) records.push_back(read_checked(options, file));
  CommandResult result;
  std::vector<std::string> failures;
  for (const CheckedRecord& checked : records) {
    const CriteriaOutcome outcome = outcome_of_check(options, checked, prints_text(documents));
    result.status = worse(result.status, outcome.status);
    for (const std::string& note : outcome.notes) failures.push_back(checked.file + ": " + note);
  }
  result.text = write_documents(documents, [&](const OutputDocument& document) {
    std::string text;
    for (const CheckedRecord& checked : records) text += check_text(checked, document);
    return text;
  });
  result.is_for_a_person = prints_text(documents);
  result.notes = written_notes(documents, "");
  result.notes.insert(result.notes.end(), failures.begin(), failures.end());
  if (!options.add) return result;
  for (const CheckedRecord& checked : records) add_checked(options.folder, checked, result);
  return result;
}

void add_folder(CLI::App& command, std::string& folder) {
  command.add_option("folder", folder, "the baseline: a folder of records, made by add")->required();
}

void add_baseline_add(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<BaselineAddOptions>();
  add_folder(command, options->folder);
  command.add_option("records", options->records, "records that -J wrote")->required();
  command.callback([options, &chosen] { chosen = [options] { return add_records(*options); }; });
}

void add_baseline_show(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<BaselineShowOptions>();
  add_folder(command, options->folder);
  add_output_options(command, "Options", options->output, {"text", "html"}, "");
  command.callback([options, &chosen] { chosen = [options] { return show_baseline(*options); }; });
}

void add_baseline_check(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<BaselineCheckOptions>();
  const std::string theme = "Options";
  add_folder(command, options->folder);
  command.add_option("records", options->records, "the new records that -J wrote")->required();
  add_option(command, theme, "--last", "N", "compare with so many records before it (10)",
             [options](const std::string& text) {
               options->last = parse_number<std::size_t>(text, "--last", 1, 10'000);
             });
  command
      .add_flag("--any-host", options->any_host,
                "compare with records of other hosts of this kind too (the same hosts only)")
      ->group(theme);
  command
      .add_flag(
          "--add", options->add,
          "add the records afterwards, whatever the comparison says; not those cut short or with wrong data")
      ->group(theme);
  add_comparison_options(command, theme, options->comparison);
  add_output_options(command, theme, options->output, analysis::comparison_formats(),
                     "the comparison (JSON)");
  command.callback([options, &chosen] { chosen = [options] { return check_baseline(*options); }; });
}

void add_baseline(CLI::App& command, CommandFunction& chosen) {
  command.require_subcommand(1);
  const std::vector<Subcommand> actions{
      {"add", "keeps records; collbench baseline add /data/baseline run.json", "", add_baseline_add},
      {"show", "each row over time, and nodes side by side; collbench baseline show /data/baseline", "",
       add_baseline_show},
      {"check", "today against the last records; collbench baseline check /data/baseline run.json --add", "",
       add_baseline_check},
  };
  for (const Subcommand& each : actions) each.add(*command.add_subcommand(each.name, each.help), chosen);
}

}  // namespace

Subcommand baseline_subcommand() {
  return {"baseline", "records over time: trends, odd nodes, and a check for the nightly job",
          "collbench baseline check DIR run.json --add      tonight against the last ten nights",
          add_baseline};
}

}  // namespace collbench::program
