#include "src/cli/library_path.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "launch/real_machine.hpp"
#include "src/cli/standard_streams.hpp"

namespace collbench::program {
namespace {

constexpr const char* kVariable = "LD_LIBRARY_PATH";

std::vector<std::string_view> parts_of(std::string_view search_path) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= search_path.size();) {
    const std::size_t end = std::min(search_path.find_first_of(":;", begin), search_path.size());
    parts.push_back(search_path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_absolute(std::string_view part) {
  return part.starts_with('/') || part.starts_with("$ORIGIN") || part.starts_with("${ORIGIN}");
}

}  // namespace

std::string absolute_parts(std::string_view search_path) {
  std::string kept;
  for (const std::string_view part : parts_of(search_path))
    if (is_absolute(part)) kept += fmt::format("{}{}", kept.empty() ? "" : ":", part);
  return kept;
}

void leave_out_current_directory(char** argv, bool reports) {
  const std::string given = variable_value(kVariable);
  // The loader takes an empty value for none; a simulator's ranks are no processes.
  if (given.empty() || launch::time_is_simulated()) return;
  const std::vector<std::string_view> parts = parts_of(given);
  if (std::ranges::all_of(parts, is_absolute)) return;
  for (const std::string_view part : parts) {
    if (!reports || part.empty() || is_absolute(part)) continue;
    print_message(fmt::format(
        "collbench: {}: '{}' is left out: libraries are not loaded from relative paths; use an absolute path",
        kVariable, part));
  }
  const std::string kept = absolute_parts(given);
  kept.empty() ? ::unsetenv(kVariable) : ::setenv(kVariable, kept.c_str(), 1);
  ::execv(own_program().c_str(), argv);
  throw Error(ExitStatus::not_here, kVariable,
              fmt::format("it names the current directory, and collbench cannot start again without that: {}",
                          std::strerror(errno)),
              "take its empty and relative parts out");
}

}  // namespace collbench::program
