#include "launch/flight/process_stat.hpp"

#include <sstream>

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

}  // namespace collbench::launch
