#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "src/cli/command_description.hpp"

namespace collbench::program {

/// A shell that completions can be written for, and the script that it reads: it asks collbench itself what
/// may be typed, by kOffers.
struct CompletionShell {
  const char* name;
  const char* script;
};

[[nodiscard]] const std::vector<CompletionShell>& completion_shells();

/// The first word of a command line that asks what may stand for the last word of the others.
inline constexpr std::string_view kOffers = "__offers";

/// What may stand for the last of `words`, which follow "collbench": a line each, with a word and, of
/// commands and options, a tabulator and what it is for; then ":files" where names of files may stand there
/// too, and
/// ":list" where a comma may follow.
[[nodiscard]] std::string offers(const CommandDescription& root, const std::vector<std::string>& words);

}  // namespace collbench::program
