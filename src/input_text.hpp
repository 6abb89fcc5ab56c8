#pragma once
#include <string>

namespace collbench {

/// The whole of a file, or of stdin for "-". Throws Error (usage) naming the file and the system's reason.
[[nodiscard]] std::string input_text(const std::string& place);

/// What messages call it: the file's name, or "stdin".
[[nodiscard]] std::string input_name(const std::string& place);

}  // namespace collbench
