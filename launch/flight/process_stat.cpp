#include "launch/flight/process_stat.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <sstream>

#include "base/files.hpp"

namespace collbench::launch {

std::optional<ProcessStat> process_stat(const std::string& line) {
  constexpr int kFieldsBetween = 17;  // from the parent, field 4, to the start, field 22
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  ProcessStat stat{.name = line.substr(open + 1, close - open - 1)};
  std::istringstream fields(line.substr(close + 1));
  fields >> stat.state >> stat.parent;
  std::string skipped;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
  fields >> stat.start_ticks;
  return fields ? std::optional(stat) : std::nullopt;
}

std::optional<ProcessStat> process_stat(int pid) {
  return process_stat(first_line(fmt::format("/proc/{}/stat", pid)));
}

ProcessState process_state(int pid, std::uint64_t start_ticks) {
  const auto stat = process_stat(pid);
  if (!stat && (::kill(pid, 0) == 0 || errno != ESRCH)) return ProcessState::unknown;
  if (!stat || stat->start_ticks != start_ticks || stat->state == 'Z' || stat->state == 'X')
    return ProcessState::gone;
  return stat->state == 'T' || stat->state == 't' ? ProcessState::stopped : ProcessState::running;
}

}  // namespace collbench::launch
