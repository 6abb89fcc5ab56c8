#pragma once
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace collbench::program {

/// What a command that needs no ranks says on stdout, and its exit status.
struct Answer {
  std::string text;
  ExitStatus status = ExitStatus::ok;
};

/// The whole of a file, or of stdin for "-". Throws Error (usage) naming the file and the system's reason.
[[nodiscard]] std::string input_text(const std::string& place);

/// What messages call it: the file's name, or "stdin".
[[nodiscard]] std::string input_name(const std::string& place);

/// Writes all of `text` to stdout. Throws Error (usage) when it cannot: a full disk behind a redirection.
void print_all(std::string_view text);

/// Lets spdlog tell on stderr, step by step, what this process does (--verbose). Without it spdlog stays
/// silent: what a user must know is in the output or an Error.
void start_log(bool verbose);

}  // namespace collbench::program
