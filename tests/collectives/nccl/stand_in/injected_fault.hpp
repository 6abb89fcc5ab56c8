#pragma once
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>

namespace collbench::collectives {

/// The fault that the stand-ins shall show: COLLBENCH_STAND_IN, "WHAT", "WHAT:N" (at the N-th time, counted
/// from 1), "WHAT@RANK" (on that rank only) or "WHAT:N@RANK". The N of `what` when this process shall show
/// it, 1 when there is no N.
inline std::optional<int> injected_fault(const std::string& what) {
  const char* const text = std::getenv("COLLBENCH_STAND_IN");
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (text == nullptr) return std::nullopt;
  std::string word = text;
  if (const auto at = word.find('@'); at != std::string::npos) {
    if (word.substr(at + 1) != (rank == nullptr ? "0" : rank)) return std::nullopt;
    word.resize(at);
  }
  const auto colon = word.find(':');
  if (word.substr(0, colon) != what) return std::nullopt;
  return colon == std::string::npos ? 1 : std::atoi(word.c_str() + colon + 1);
}

/// A number that the stand-ins take from the environment, such as how many GPUs there are.
inline long stand_in_number(const char* variable, long otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atol(text);
}

/// Whether the stand-ins' GPUs have NVSwitches: COLLBENCH_STAND_IN_NVSWITCH=1.
inline bool has_nvswitches() { return stand_in_number("COLLBENCH_STAND_IN_NVSWITCH", 0) != 0; }

}  // namespace collbench::collectives
