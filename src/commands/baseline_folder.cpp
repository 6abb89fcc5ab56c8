#include "src/commands/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "analysis/compare/comparison_report.hpp"
#include "analysis/compare/side_of_row.hpp"
#include "analysis/history/history_report.hpp"
#include "analysis/history/machine_kind.hpp"
#include "analysis/import/import_log.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/host_name.hpp"
#include "base/record/run.hpp"
#include "base/units.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"

// The folder of collbench compare --add: FOLDER/KIND OF MACHINE/TIME-HOST-DIGITS.json, each a run record as
// -J writes it. No index, no lock: a file appears whole, under a name that only its content has, so writers
// on several hosts (NFS) lose nothing, and git merges two such folders.

namespace collbench::program {
namespace {

namespace fs = std::filesystem;

Error folder_error(const fs::path& folder, const std::string& what) {
  return usage_error("compare", fmt::format("{}: {}", folder.string(), what),
                     "give a folder that collbench compare --add made");
}

/// Of what lies in `folder` that `wanted` takes, in alphabetical order; nothing where there is no folder.
template <class Wanted>
std::vector<fs::path> sorted_entries(const fs::path& folder, const Wanted& wanted) {
  std::error_code failure;
  std::vector<fs::path> found = entries_of(folder, failure);
  if (failure && failure != std::errc::no_such_file_or_directory)
    throw folder_error(folder, failure.message());
  std::erase_if(found, [&wanted](const fs::path& entry) { return !wanted(entry); });
  return found;
}

Run read_record(const fs::path& path) {
  try {
    return run_from_json_text(read_file(path), path.string());
  } catch (const Error& error) {
    throw usage_error(error.where(), error.what(),
                      "put a whole copy in its place, or move it out of the baseline");
  }
}

/// All of them, in the same order. By several threads: most of the time goes into parsing, and a year of
/// nights has seconds of it.
std::vector<Run> read_records(std::span<const fs::path> paths) {
  constexpr unsigned kMaxThreads = 8;
  const std::size_t threads =
      std::min<std::size_t>(paths.size(), std::clamp(std::thread::hardware_concurrency(), 1U, kMaxThreads));
  std::vector<Run> runs(paths.size());
  std::vector<std::future<void>> parts;
  for (std::size_t first = 0; first < threads; ++first) {
    parts.push_back(std::async(std::launch::async, [&runs, paths, first, threads] {
      for (std::size_t i = first; i < paths.size(); i += threads) runs[i] = read_record(paths[i]);
    }));
  }
  for (std::future<void>& part : parts) part.get();
  return runs;
}

/// Where a record lies, and whether it lay there before.
struct AddedRecord {
  std::filesystem::path path;
  bool is_new = true;
};

AddedRecord add_to_baseline(const fs::path& folder, const Run& run, const std::string& file) {
  if (run.started.empty()) {
    throw usage_error(file,
                      "the record does not say when it was measured, and a baseline is in order of time",
                      "judge its log again with --date 2026-11-20T02:00:00Z (UTC)");
  }
  if (!run.complete) {
    throw usage_error(file, "the run was cut short, and a baseline is made of complete ones",
                      "run it again, or continue it with --resume");
  }
  if (std::ranges::none_of(run.rows,
                           [](const Row& row) { return analysis::was_measured(row.measurement); })) {
    throw usage_error(file, "no row of the record was measured, and a baseline is of times",
                      "collbench report says of each row why; run it again");
  }
  if (has_wrong_data(run)) {
    throw usage_error(file, "the run has wrong data, and a baseline is made of good ones",
                      "find out why: collbench report names the rows and ranks");
  }
  const std::string text = to_json_text(run);
  const fs::path kind = folder / analysis::machine_kind(run);
  std::error_code failure;
  fs::create_directories(kind, failure);
  if (failure) throw folder_error(kind, failure.message());
  AddedRecord added{kind / analysis::record_file_name(run, text)};
  added.is_new = !fs::exists(added.path);
  if (added.is_new) write_file_by_rename(added.path, text);
  return added;
}

/// The records of one kind of machine, oldest first; the newest `last` (0: all). Hosts: only those that ran
/// on just these (empty: on any). `own_name`: the file's name of the run that is compared, which begins
/// with its time: only other files of that time or before. Empty where there is none.
/// Throws Error (usage) for a file that is no record.
std::vector<Run> baseline_runs(const fs::path& folder, const std::string& kind,
                               const std::vector<std::string>& hosts, std::size_t last,
                               const std::string& own_name) {
  // Names begin with the time. Of records of one time nobody knows the order: each has the others before it.
  const auto time_of = [](const std::string& name) { return name.substr(0, name.find('-')); };
  std::vector<fs::path> files = record_files(folder / kind);
  std::erase_if(files, [&](const fs::path& file) {
    const std::string name = file.filename().string();
    return name == own_name || time_of(name) > time_of(own_name);
  });
  std::ranges::reverse(files);  // the newest first
  std::vector<Run> runs;
  for (std::span<const fs::path> left = files; !left.empty() && (last == 0 || runs.size() < last);) {
    const std::size_t wanted = last == 0 ? left.size() : std::min(left.size(), last - runs.size());
    for (Run& run : read_records(left.first(wanted)))
      if (hosts.empty() || analysis::hosts_of(run) == hosts) runs.push_back(std::move(run));
    left = left.subspan(wanted);
  }
  std::ranges::reverse(runs);
  return runs;
}

std::vector<analysis::MachineHistory> baseline_histories(const fs::path& folder) {
  const auto kinds = sorted_entries(folder, [](const fs::path& entry) {
    std::error_code unknown;
    return fs::is_directory(entry, unknown) && !entry.filename().string().starts_with('.');
  });
  std::vector<analysis::MachineHistory> histories;
  for (const fs::path& kind : kinds) {
    std::map<std::vector<std::string>, std::vector<Run>> by_hosts;
    for (Run& run : read_records(record_files(kind))) {
      std::vector<std::string> hosts = analysis::hosts_of(run);
      by_hosts[std::move(hosts)].push_back(std::move(run));
    }
    for (auto& [hosts, runs] : by_hosts)
      histories.push_back({kind.filename().string(), hosts, std::move(runs)});
  }
  if (histories.empty()) throw folder_error(folder, "holds no baseline");
  return histories;
}

std::vector<std::string> new_records(const CompareCommand& options) {
  return {options.files.begin() + 1, options.files.end()};
}

std::string added_line(const AddedRecord& added) {
  return fmt::format("{} {}", added.is_new ? "added" : "is there already:", added.path.string());
}

struct CheckedRecord {
  std::string file;
  Run run;
  std::optional<analysis::Comparison> comparison;
  std::string why_none;  ///< in words: why there is no comparison
};

/// A new record, on the hosts that are named where it says localhost.
Run read_new(const CompareCommand& options, const std::string& file) {
  Run run = read_run(file);
  analysis::set_time_and_hosts(run, "", options.hosts);
  return run;
}

CheckedRecord read_checked(const CompareCommand& options, const std::string& file) {
  CheckedRecord checked{
      .file = input_name(file), .run = read_new(options, file), .comparison = {}, .why_none = {}};
  const std::string kind = analysis::machine_kind(checked.run);
  // A record that does not say when it was is the newest.
  const std::string own_name =
      checked.run.started.empty() ? "~" : analysis::record_file_name(checked.run, to_json_text(checked.run));
  const auto hosts = options.any_host ? std::vector<std::string>{} : analysis::hosts_of(checked.run);
  if (std::ranges::any_of(hosts, [](const std::string& host) { return is_same_host(host, "localhost"); })) {
    checked.why_none =
        "it calls its host localhost, as any other machine may: name it (--host NAME), or compare with "
        "records of all (--any-host)";
    return checked;
  }
  const std::vector<Run> base = baseline_runs(options.files.front(), kind, hosts, options.last, own_name);
  if (base.empty()) {
    checked.why_none =
        fmt::format("no earlier record of {} in {}{}: nothing to compare with", kind, options.files.front(),
                    options.any_host ? "" : " on these hosts (--any-host)");
    return checked;
  }
  if (!analysis::have_a_row_in_common(base, {checked.run})) {
    checked.why_none = fmt::format(
        "no row of it is in the last {} of {} in {}: operations, sizes, types or algorithms differ, and "
        "nothing is compared",
        counted(base.size(), "record"), kind, options.files.front());
    return checked;
  }
  checked.comparison =
      analysis::compare(base, {checked.run}, compare_options(checked.run, options.comparison));
  checked.comparison->current_name = checked.file;
  checked.comparison->base_name =
      base.size() == 1 ? "the last record in " + options.files.front()
                       : fmt::format("the last {} records in {}", base.size(), options.files.front());
  return checked;
}

std::string check_text(const CheckedRecord& checked, const OutputDocument& document) {
  if (checked.comparison) return comparison_document(*checked.comparison, document);
  if (is_picture(document)) return chart_picture({}, document);
  return analysis::report_no_comparison(checked.file, checked.why_none, document.format,
                                        page_options(document));
}

/// Several comparisons one after the other are still a page of text, and no document of another format.
void require_one_record(const CompareCommand& options, const std::vector<OutputDocument>& documents) {
  if (options.files.size() < 3) return;
  for (const OutputDocument& document : documents) {
    if (document.format == "text" || document.format == "md") continue;
    throw usage_error("compare", fmt::format("{} cannot hold several comparisons", document.format),
                      "check one record at a time, or write text or md");
  }
}

/// `is_shown`: whoever reads the lines on stderr also sees the page.
CriteriaOutcome outcome_of_check(const CompareCommand& options, const CheckedRecord& checked, bool is_shown) {
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
    result.notes.push_back(added_line(add_to_baseline(folder, checked.run, checked.file)));
  } catch (const Error& refused) {
    if (result.status == ExitStatus::ok) result.status = refused.status();
    result.notes.push_back(fmt::format("not added: {}: {}", refused.where(), refused.what()));
  }
}

}  // namespace

std::vector<fs::path> record_files(const fs::path& folder) {
  return sorted_entries(folder, [](const fs::path& entry) {
    const std::string file = entry.filename().string();
    std::error_code unknown;
    return file.ends_with(".json") && !file.starts_with('.') && fs::is_regular_file(entry, unknown);
  });
}

CommandResult add_records(const CompareCommand& options) {
  CommandResult result;
  for (const std::string& file : new_records(options))
    result.text +=
        added_line(add_to_baseline(options.files.front(), read_new(options, file), input_name(file))) + "\n";
  return result;
}

CommandResult show_history(const CompareCommand& options) {
  const auto documents = writable_documents(options.output);
  const std::string& folder = options.files.front();
  const std::vector<analysis::MachineHistory> histories = baseline_histories(folder);
  return {write_documents(documents,
                          [&](const OutputDocument& document) {
                            const bool is_page = document.format == "html";
                            const Document history = analysis::history_document(histories, folder, is_page);
                            return is_page ? html_page(history)
                                           : text(history,
                                                  {.columns = page_options(document).columns, .mark = "# "});
                          }),
          ExitStatus::ok, prints_text(documents), written_notes(documents, "")};
}

CommandResult check_records(const CompareCommand& options) {
  const auto documents = writable_documents(options.output);
  require_one_record(options, documents);
  std::vector<CheckedRecord> records;
  for (const std::string& file : new_records(options)) records.push_back(read_checked(options, file));
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
  for (const CheckedRecord& checked : records) add_checked(options.files.front(), checked, result);
  return result;
}

}  // namespace collbench::program
