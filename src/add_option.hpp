#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "src/run_options.hpp"

namespace collbench {

/// Adds an option to a theme of the help; its text goes to `take`, which throws our own Error. `value` is
/// what the help calls the text.
CLI::Option* add_option(CLI::App& app, const std::string& theme, const std::string& names,
                        const std::string& value, const std::string& help,
                        const std::function<void(const std::string&)>& take);

/// --format, of every command that writes tables.
void add_format_option(CLI::App& app, const std::string& theme, std::string& format);

/// --color, of every command that writes for a person.
void add_color_option(CLI::App& app, const std::string& theme, When& colour);

}  // namespace collbench
