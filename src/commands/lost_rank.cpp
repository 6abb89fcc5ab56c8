#include "src/commands/lost_rank.hpp"

#include <fmt/format.h>

namespace collbench::program {
namespace {

/// What stands between `before` and the next `after` of its line; nullopt where either is missing.
std::optional<std::string_view> between(std::string_view text, std::string_view before,
                                        std::string_view after) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + before.size());
  text = text.substr(0, text.find('\n'));
  const std::size_t end = text.find(after);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(0, end);
}

bool is_all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Open MPI's help-orterun.txt: "mpirun noticed that process rank 1 with PID 7 on node node1 exited on signal
/// 9 (Killed)."; the words in brackets may be missing.
std::optional<std::string> killed_under_mpirun(std::string_view text) {
  constexpr std::string_view kStart = " noticed that process rank ";
  const std::size_t at = text.find(kStart);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at, text.find('\n', at) - at);
  const auto rank = between(rest, kStart, " with PID ");
  const auto host = between(rest, " on node ", " exited on signal ");
  const auto signal = between(rest, " exited on signal ", ".");
  if (!rank || !host || !signal || !is_all_digits(*rank)) return std::nullopt;
  return fmt::format("rank {} on {} was killed by signal {}", *rank, *host, *signal);
}

/// Open MPI's help-errmgr-base.txt: "Remote daemon: [[7,0],1] on node node1".
std::optional<std::string> lost_host(std::string_view text) {
  if (text.find("lost communication with a remote daemon") == std::string_view::npos) return std::nullopt;
  const std::size_t at = text.find("Remote daemon:");
  if (at == std::string_view::npos) return std::nullopt;
  constexpr std::string_view kName = " on node ";
  const std::string_view line = text.substr(at, text.find('\n', at) - at);
  const std::size_t name = line.find(kName);
  if (name == std::string_view::npos) return std::nullopt;
  return fmt::format("host {} is gone: mpirun lost its daemon there", line.substr(name + kName.size()));
}

/// "srun: error: node1: task 1: Killed"
std::optional<std::string> killed_under_srun(std::string_view text) {
  constexpr std::string_view kStart = "srun: error: ";
  constexpr std::string_view kTask = ": task ";
  for (std::size_t at = text.find(kStart); at != std::string_view::npos; at = text.find(kStart, at + 1)) {
    const std::size_t begin = at + kStart.size();
    const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
    const auto rank = between(line, kTask, ": ");
    if (!rank || !is_all_digits(*rank)) continue;
    const std::size_t task = line.find(kTask);
    const std::string_view end = line.substr(task + kTask.size() + rank->size() + 2);
    return fmt::format("rank {} on {} ended: {}", *rank, line.substr(0, task), end);
  }
  return std::nullopt;
}

/// Of "collbench: …: rank 1 (node1) is gone, last seen inside AllReduce 64 KiB, call 1, pass 25; …".
std::string last_seen(std::string_view text) {
  const auto where = between(text, " gone, last seen ", ";");
  return where ? " " + std::string(*where) : "";
}

}  // namespace

std::optional<std::string> lost_rank(std::string_view launch_stderr) {
  for (const auto& of : {killed_under_mpirun, killed_under_srun}) {
    if (const auto rank = of(launch_stderr)) return *rank + last_seen(launch_stderr);
  }
  return lost_host(launch_stderr);
}

}  // namespace collbench::program
