#pragma once
#include <string>

namespace collbench::program {

/// The text of a command's help in lines of at most `columns` columns, 60 at least and 100 at most: what is
/// longer goes on below its own beginning, that of an option below its description.
[[nodiscard]] std::string wrapped_help(const std::string& text, int columns);

}  // namespace collbench::program
