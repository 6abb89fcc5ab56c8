#include "src/commands/supervised_launch.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/files.hpp"
#include "base/record/run_stream.hpp"
#include "base/text_search.hpp"
#include "launch/launcher.hpp"

namespace collbench::program {
namespace {

bool is_all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Open MPI's help-orterun.txt: "mpirun noticed that process rank 1 with PID 7 on node node1 exited on signal
/// 9 (Killed)."; the words in brackets may be missing.
std::optional<std::string> killed_under_mpirun(std::string_view text) {
  const std::string_view line = text_behind(text, " noticed that process rank ", "\n").value_or("");
  const auto rank = text_between(line, "", " with PID ");
  const auto host = text_between(line, " on node ", " exited on signal ");
  const auto signal = text_between(line, " exited on signal ", ".");
  if (!rank || !host || !signal || !is_all_digits(*rank)) return std::nullopt;
  return fmt::format("rank {} on {} was killed by signal {}", *rank, *host, *signal);
}

/// Open MPI's help-errmgr-base.txt: "Remote daemon: [[7,0],1] on node node1".
std::optional<std::string> lost_host(std::string_view text) {
  if (text.find("lost communication with a remote daemon") == std::string_view::npos) return std::nullopt;
  const auto host = text_behind(text_behind(text, "Remote daemon:", "\n").value_or(""), " on node ");
  if (!host) return std::nullopt;
  return fmt::format("host {} is gone: mpirun lost its daemon there", *host);
}

/// "srun: error: node1: task 1: Killed"
std::optional<std::string> killed_under_srun(std::string_view text) {
  while (const auto rest = text_behind(text, "srun: error: ")) {
    text = *rest;
    const std::string_view line = text.substr(0, text.find('\n'));
    const auto host = text_between(line, "", ": task ");
    const auto rank = text_between(line, ": task ", ": ");
    if (!rank || !is_all_digits(*rank)) continue;
    const auto end = text_behind(line, fmt::format(": task {}: ", *rank));
    return fmt::format("rank {} on {} ended: {}", *rank, *host, *end);
  }
  return std::nullopt;
}

/// Of "collbench: …: rank 1 (node1) is gone, last seen inside AllReduce 64 KiB, call 1, pass 25; …".
std::string last_seen(std::string_view text) {
  const auto where = text_between(text_behind(text, " gone, last seen ", "\n").value_or(""), "", ";");
  return where ? " " + std::string(*where) : "";
}

std::filesystem::path temporary_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "collbench-launches-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw file_error(name, "made", errno);
  return name;
}

/// Whoever else may put files there may put links there, which launches would follow, or records.
void require_own_folder(const std::filesystem::path& path) {
  struct stat about{};
  if (::lstat(path.c_str(), &about) != 0) return;  // there is none yet
  if (S_ISDIR(about.st_mode) && about.st_uid == ::geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0)
    return;
  throw usage_error("-J", fmt::format("{} is no folder that only you can write in", path.string()),
                    "remove it, or name another record");
}

constexpr std::string_view kDefaultLaunchSeconds = "20";

/// Where collbench's options begin: behind its name, since those before are the launcher's (srun -J, mpirun
/// -n). All words of a command that names no collbench: a script's, of which nothing is known.
std::vector<std::string>::const_iterator own_options(const std::vector<std::string>& command) {
  const auto program = std::ranges::find_if(command, [](const std::string& word) {
    const std::string file = std::filesystem::path(word).filename().string();
    return file == "collbench" || file == "collbench-smpi";
  });
  return program == command.end() ? command.begin() : program + 1;
}

bool has_option(const std::vector<std::string>& command, std::string_view name) {
  return std::any_of(own_options(command), command.end(), [&](const std::string& word) {
    return word == name || word.starts_with(std::string(name) + "=");
  });
}

/// The launch that writes its record to `record`.
std::vector<std::string> launch_command(std::vector<std::string> command, const std::string& record) {
  if (!has_option(command, "--time") && !has_option(command, "--soak") && !has_option(command, "-n") &&
      !has_option(command, "--iters")) {
    command.insert(command.end(), {"--time", std::string(kDefaultLaunchSeconds)});
  }
  command.insert(command.end(), {"-J", record, "--overwrite", "--progress", "never", "--color", "never"});
  return command;
}

/// Which rank was lost; else the line of collbench on stderr, else the first line there that is not the ruler
/// of a banner.
std::string stderr_reason(const ChildResult& result) {
  if (const auto lost = lost_rank(result.err)) return ": " + *lost;
  if (const auto own = text_behind(result.err, "collbench: ", "\n")) return ": " + std::string(*own);
  std::string_view rest = result.err;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.find_first_not_of("-= \r") != std::string_view::npos) return ": " + std::string(line);
  }
  return {};
}

/// What a launch that has no complete record ended with, as a run's own exit status.
ExitStatus status_of(const ChildResult& result, bool has_record) {
  constexpr int kMaxStatus = static_cast<int>(ExitStatus::not_here);
  if (result.end == ChildEnd::not_started) return ExitStatus::not_here;
  if (result.end != ChildEnd::exited) return ExitStatus::rank_lost;
  const bool is_own = result.code >= static_cast<int>(ExitStatus::usage) && result.code <= kMaxStatus;
  if (is_own || result.code == static_cast<int>(ExitStatus::internal)) {
    return static_cast<ExitStatus>(result.code);
  }
  // mpirun's own 1: it could not start anything, or it lost what it had started.
  const bool never_began = result.code <= 1 && !has_record;
  return never_began ? ExitStatus::not_here : ExitStatus::rank_lost;
}

}  // namespace

std::optional<std::string> lost_rank(std::string_view launch_stderr) {
  for (const auto& of : {killed_under_mpirun, killed_under_srun}) {
    if (const auto rank = of(launch_stderr)) return *rank + last_seen(launch_stderr);
  }
  return lost_host(launch_stderr);
}

LaunchFolder::LaunchFolder(const std::string& record_path, bool resume, bool overwrite)
    : path_(record_path.empty() ? temporary_folder() : std::filesystem::path(record_path + ".launches")),
      is_temporary_(record_path.empty()) {
  if (is_temporary_) return;
  require_own_folder(path_);
  if (!resume && std::filesystem::exists(path_)) {
    if (!overwrite) {
      throw usage_error("-J", path_.string() + " has the launches of an earlier repeat",
                        "add --resume to continue from them, or --overwrite to replace them");
    }
    for (std::size_t number = 1; std::filesystem::remove(file(number)); ++number) continue;
  }
  if (::mkdir(path_.c_str(), 0755) != 0 && errno != EEXIST) throw file_error(path_, "made", errno);
  require_own_folder(path_);
}

LaunchFolder::~LaunchFolder() {
  std::error_code ignored;
  if (is_temporary_) std::filesystem::remove_all(path_, ignored);
}

std::vector<Run> LaunchFolder::complete_launches() const {
  std::vector<Run> launches;
  while (std::filesystem::exists(file(launches.size() + 1))) {
    const std::string name = file(launches.size() + 1).string();
    Run run = run_from_json_text(read_file(name), name);
    if (!run.complete) break;  // it was cut short, and is measured again
    if (!launches.empty()) require_same_measurement(launches.front(), run, name);
    launches.push_back(std::move(run));
  }
  return launches;
}

std::filesystem::path LaunchFolder::file(std::size_t number) const {
  return path_ / fmt::format("launch-{:03}.json", number);
}

const std::filesystem::path& LaunchFolder::keep() {
  is_temporary_ = false;
  return path_;
}

void require_launchable(const std::vector<std::string>& command, std::string_view keeps) {
  if (launch::launched_rank()) {
    throw usage_error("repeat", "it was started as a rank",
                      "run it without a launcher: collbench repeat -- mpirun ...");
  }
  for (const std::string_view taken : {"-J", "--record", "--output", "--stream", "--resume"}) {
    if (!has_option(command, taken)) continue;
    throw usage_error("repeat", fmt::format("{} comes after --, but repeat sets it for each launch", taken),
                      std::string(keeps));
  }
}

LaunchEnd supervised_launch(const std::vector<std::string>& command, const std::string& record,
                            const ChildLimits& limits, const std::string& name,
                            const std::function<std::string(bool has_record)>& next_step) {
  LaunchEnd end;
  std::filesystem::remove(record);
  const ChildResult result = run_child(launch_command(command, record), limits);
  end.has_record = std::filesystem::exists(record);
  end.was_interrupted = result.end == ChildEnd::interrupted;
  if (end.has_record && result.end == ChildEnd::exited) {
    Run run = run_from_json_text(read_file(record), record);
    if (run.complete) end.run = std::move(run);
  }
  if (end.run) {
    // Wrong data is no reason to measure on. Its record says so, whatever the launcher made of the status.
    if (has_wrong_data(*end.run))
      end.error.emplace(ExitStatus::wrong_data, name, "its data is wrong",
                        fmt::format("collbench report {} names the rows and ranks", record));
    return end;
  }
  const std::string what =
      result.end == ChildEnd::not_started ? fmt::format("{} cannot be started: ", command.front()) : "";
  end.error.emplace(status_of(result, end.has_record), name,
                    what + describe_end(result, limits) + stderr_reason(result), next_step(end.has_record));
  return end;
}

}  // namespace collbench::program
