#include "base/error.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <utility>

#include "base/text_sinks.hpp"

namespace collbench {

Error::Error(ExitStatus status, std::string where, const std::string& what, std::string next_step)
    : std::runtime_error(what), status_(status), where_(std::move(where)), next_step_(std::move(next_step)) {}

Error usage_error(std::string where, const std::string& what, std::string next_step) {
  return {ExitStatus::usage, std::move(where), what, std::move(next_step)};
}

ExitStatus exit_status(const std::exception& failure) {
  if (const auto* error = dynamic_cast<const Error*>(&failure)) return error->status();
  if (dynamic_cast<const std::filesystem::filesystem_error*>(&failure) != nullptr) return ExitStatus::usage;
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) return ExitStatus::usage;
  return ExitStatus::internal;
}

Error as_error(const std::exception& failure) {
  if (const auto* error = dynamic_cast<const Error*>(&failure)) return *error;
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&failure)) {
    return usage_error(file->path1().string(), file->code().message(),
                       "check that it exists and that its permissions allow this");
  }
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr)
    return usage_error("", "out of memory", "run with fewer or smaller sizes, or with less beside it");
  return {ExitStatus::internal, "", fmt::format("internal error: {}", failure.what()),
          "this is a bug in collbench: report it in the project's issue tracker, with this line, the "
          "command, and what collbench report-bug prints"};
}

std::string describe(const std::exception& failure) {
  const Error error = as_error(failure);
  std::string line = "collbench: ";
  if (!error.where().empty()) line += error.where() + ": ";
  line += error.what();
  if (!error.next_step().empty()) line += fmt::format("; {}", error.next_step());
  return one_line(line);
}

}  // namespace collbench
