#include "src/commands/baseline_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>
#include <span>
#include <system_error>
#include <thread>
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
  std::reverse(files.begin(), files.end());  // the newest first
  std::vector<Run> runs;
  for (std::span<const fs::path> left = files; !left.empty() && (last == 0 || runs.size() < last);) {
    const std::size_t wanted = last == 0 ? left.size() : std::min(left.size(), last - runs.size());
    for (Run& run : read_records(left.first(wanted)))
      if (hosts.empty() || analysis::hosts_of(run) == hosts) runs.push_back(std::move(run));
    left = left.subspan(wanted);
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

}  // namespace collbench::program
