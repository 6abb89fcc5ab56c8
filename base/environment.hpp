#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

// What this process was started with.

namespace collbench {

/// Of a variable of the environment; empty where it is not set.
[[nodiscard]] inline std::string variable_value(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The file of this program; empty where the system does not say.
[[nodiscard]] inline std::filesystem::path own_program() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown);
}

}  // namespace collbench
