#pragma once
#include <string>

#include "src/cli/command_description.hpp"

namespace collbench::program {

/// "collbench-topo-diff", as man finds it.
[[nodiscard]] std::string man_page_name(const CommandDescription& command);

/// The page in the language of man(7), in ASCII. `version` is that of collbench.
[[nodiscard]] std::string man_page(const CommandDescription& command, const std::string& version);

}  // namespace collbench::program
