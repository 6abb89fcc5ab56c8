#pragma once
#include <string>
#include <vector>

#include "src/cli/command_description.hpp"

namespace collbench::program {

/// A shell that completions can be written for.
struct CompletionShell {
  const char* name;
  /// The script. `machines` are the names of reference machines.
  std::string (*script)(const CommandDescription& root, const std::vector<std::string>& machines);
};

[[nodiscard]] const std::vector<CompletionShell>& completion_shells();

}  // namespace collbench::program
