#include "src/commands/baseline_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "analysis/compare/side_of_row.hpp"
#include "analysis/history/machine_kind.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/record/run.hpp"

namespace collbench::program {
namespace {

namespace fs = std::filesystem;

Error folder_error(const fs::path& folder, const std::string& what) {
  return usage_error("baseline", fmt::format("{}: {}", folder.string(), what),
                     "give a folder that collbench baseline add made");
}

/// Of what lies in `folder` that `wanted` takes, in alphabetical order; nothing where there is no folder.
template <class Wanted>
std::vector<fs::path> sorted_entries(const fs::path& folder, const Wanted& wanted) {
  std::vector<fs::path> found;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (wanted(*entry)) found.push_back(entry->path());
  }
  if (failure && failure != std::errc::no_such_file_or_directory)
    throw folder_error(folder, failure.message());
  std::sort(found.begin(), found.end());
  return found;
}

/// Not those that somebody is writing, whose names begin with a dot.
std::vector<fs::path> record_files(const fs::path& folder) {
  return sorted_entries(folder, [](const fs::directory_entry& entry) {
    const std::string file = entry.path().filename().string();
    return file.ends_with(".json") && !file.starts_with('.') && entry.is_regular_file();
  });
}

Run read_record(const fs::path& path) { return run_from_json_text(read_file(path), path.string()); }

}  // namespace

AddedRecord add_to_baseline(const fs::path& folder, const Run& run, const std::string& file) {
  if (run.started.empty()) {
    throw usage_error(file,
                      "the record does not say when it was measured, and a baseline is in order of time",
                      "import its log again with --date 2026-11-20T02:00:00Z (UTC)");
  }
  if (!run.complete) {
    throw usage_error(file, "the run was cut short, and a baseline is made of complete ones",
                      "run it again, or continue it with --resume");
  }
  if (std::none_of(run.rows.begin(), run.rows.end(),
                   [](const Row& row) { return analysis::was_measured(row.measurement); })) {
    throw usage_error(file, "no row of the record was measured, and a baseline is of times",
                      "collbench report says of each row why; run it again");
  }
  for (const Row& row : run.rows) {
    if (row.measurement.wrong_elements.value_or(0) == 0) continue;
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

std::vector<Run> baseline_runs(const fs::path& folder, const std::string& kind,
                               const std::vector<std::string>& hosts, std::size_t last,
                               const std::string& own_name) {
  // Names begin with the time. Of records of one time nobody knows the order: each has the others before it.
  const auto time_of = [](const std::string& name) { return name.substr(0, name.find('-')); };
  std::vector<fs::path> files = record_files(folder / kind);
  std::vector<Run> runs;
  for (auto file = files.rbegin(); file != files.rend() && (last == 0 || runs.size() < last); ++file) {
    const std::string name = file->filename().string();
    if (name == own_name || time_of(name) > time_of(own_name)) continue;
    Run run = read_record(*file);
    if (hosts.empty() || analysis::hosts_of(run) == hosts) runs.push_back(std::move(run));
  }
  std::reverse(runs.begin(), runs.end());
  return runs;
}

void require_baseline(const fs::path& folder) {
  std::error_code failure;
  if (!fs::is_directory(folder, failure))
    throw folder_error(folder, failure ? failure.message() : "is no folder");
}

std::vector<analysis::MachineHistory> baseline_histories(const fs::path& folder) {
  const auto kinds = sorted_entries(folder, [](const fs::directory_entry& entry) {
    return entry.is_directory() && !entry.path().filename().string().starts_with('.');
  });
  std::vector<analysis::MachineHistory> histories;
  for (const fs::path& kind : kinds) {
    std::map<std::vector<std::string>, std::vector<Run>> by_hosts;
    for (const fs::path& file : record_files(kind)) {
      Run run = read_record(file);
      std::vector<std::string> hosts = analysis::hosts_of(run);
      by_hosts[std::move(hosts)].push_back(std::move(run));
    }
    for (auto& [hosts, runs] : by_hosts)
      histories.push_back({kind.filename().string(), hosts, std::move(runs)});
  }
  if (histories.empty()) throw folder_error(folder, "holds no baseline");
  return histories;
}

}  // namespace collbench::program
