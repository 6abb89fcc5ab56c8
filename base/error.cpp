#include "base/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace collbench {

Error::Error(ExitStatus status, std::string where, const std::string& what, std::string next_step)
    : std::runtime_error(what), status_(status), where_(std::move(where)), next_step_(std::move(next_step)) {}

Error usage_error(std::string where, const std::string& what, std::string next_step) {
  return {ExitStatus::usage, std::move(where), what, std::move(next_step)};
}

ExitStatus exit_status(const std::exception& failure) {
  const auto* error = dynamic_cast<const Error*>(&failure);
  return error != nullptr ? error->status() : ExitStatus::internal;
}

std::string describe(const std::exception& failure) {
  const auto* error = dynamic_cast<const Error*>(&failure);
  if (error == nullptr) {
    return fmt::format(
        "collbench: internal error: {}; this is a bug in collbench: report it in the project's issue tracker, "
        "with this line and the command",
        failure.what());
  }
  std::string line = "collbench: ";
  if (!error->where().empty()) line += error->where() + ": ";
  line += error->what();
  if (!error->next_step().empty()) line += fmt::format("; {}", error->next_step());
  return line;
}

}  // namespace collbench
