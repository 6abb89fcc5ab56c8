#include "src/commands/supervised_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/record/run_stream.hpp"
#include "launch/launcher.hpp"
#include "src/commands/lost_rank.hpp"

namespace collbench::program {
namespace {

constexpr std::string_view kDefaultLaunchSeconds = "20";

/// Where collbench's options begin: behind its name, since those before are the launcher's (srun -J, mpirun
/// -n). All words of a command that names no collbench: a script's, of which nothing is known.
std::vector<std::string>::const_iterator own_options(const std::vector<std::string>& command) {
  const auto program = std::find_if(command.begin(), command.end(), [](const std::string& word) {
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
  if (!has_option(command, "--time") && !has_option(command, "-n") && !has_option(command, "--iters")) {
    command.insert(command.end(), {"--time", std::string(kDefaultLaunchSeconds)});
  }
  command.insert(command.end(), {"-J", record, "--overwrite", "--progress", "never", "--color", "never"});
  return command;
}

/// Which rank was lost; else the line of collbench on stderr, else the first line there that is not the ruler
/// of a banner.
std::string stderr_reason(const ChildResult& result) {
  if (const auto lost = lost_rank(result.err)) return ": " + *lost;
  constexpr std::string_view kOwn = "collbench: ";
  std::string_view rest = result.err;
  if (const std::size_t own = rest.find(kOwn); own != std::string_view::npos) {
    rest.remove_prefix(own + kOwn.size());
    return ": " + std::string(rest.substr(0, rest.find('\n')));
  }
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

void require_launchable(std::string_view subcommand, const std::vector<std::string>& command,
                        std::string_view keeps) {
  const std::string where(subcommand);
  if (launch::launched_rank()) {
    throw usage_error(where, "it was started as a rank",
                      fmt::format("run it without a launcher: collbench {} -- mpirun ...", subcommand));
  }
  for (const std::string_view taken : {"-J", "--record", "--output", "--stream", "--resume"}) {
    if (!has_option(command, taken)) continue;
    throw usage_error(where,
                      fmt::format("{} comes after --, but {} sets it for each launch", taken, subcommand),
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
