#pragma once
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

// What this process was started with, and what libraries that it loads are to find in place of that.

namespace collbench {

/// Of a variable of the environment; empty where it is not set.
[[nodiscard]] inline std::string variable_value(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Sets a variable, or removes it, while other threads may read the environment: they see what was there or
/// what is now. setenv moves the list under them (glibc before 2.41; setenv(3), "MT-Unsafe const:env").
/// Readers may keep what is replaced, so it is never freed.
void change_variable(const std::string& name, const std::optional<std::string>& value);

/// The file of this program; empty where the system does not say.
[[nodiscard]] inline std::filesystem::path own_program() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown);
}

}  // namespace collbench
