#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace CLI {
class App;
}

namespace collbench::program {

/// What --config read.
struct ConfigFile {
  std::string path;  ///< empty: no --config
  std::string text;
  std::map<std::string, int> lines;  ///< from 1, of its keys
};

/// Adds --config FILE: TOML whose keys are the long names of a run's options, after all of which this is
/// called. What stands on the command line wins. Text that is not TOML, a key that is unknown and one that is
/// set twice are refused with their line: Error (usage). Fills `config`, which must outlive `app`.
void add_config_option(CLI::App& app, ConfigFile& config);

/// `error` about an option's value, with the file and line in front when the value came from --config.
[[nodiscard]] Error with_config_line(const CLI::App& app, const ConfigFile& config,
                                     const std::vector<std::string>& command_line, const Error& error);

/// The line, from 1, of the first character beyond ASCII that is in no string and no comment. TOML allows
/// none there, and toml++ 3.3 runs into undefined behavior at some (U+00A1 to U+0499 at the start of a value:
/// `is_non_ascii_horizontal_whitespace`), so it never sees such a text.
[[nodiscard]] std::optional<std::size_t> line_of_stray_character(std::string_view text);

}  // namespace collbench::program
