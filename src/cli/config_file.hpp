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

}  // namespace collbench::program
