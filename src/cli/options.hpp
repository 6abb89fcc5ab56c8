#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "analysis/report/text.hpp"
#include "src/options/run_options.hpp"

namespace collbench::program {

/// Adds an option to a theme of the help; its text goes to `take`, which throws our own Error. `value` is
/// what the help calls the text.
CLI::Option* add_option(CLI::App& app, const std::string& theme, const std::string& names,
                        const std::string& value, const std::string& help,
                        const std::function<void(const std::string&)>& take);

/// --format, of every command that writes tables.
void add_format_option(CLI::App& app, const std::string& theme, std::string& format);

/// --color, of every command that writes for a person.
void add_color_option(CLI::App& app, const std::string& theme, When& colour);

/// Whether something for a person's eyes is shown, given what `automatic` would be.
[[nodiscard]] bool decide(When when, bool automatic);

/// As wide as the terminal that stdout ends in, and coloured when a person looks there and NO_COLOR is not
/// set. `launched`: under mpirun it is mpirun's stdout that counts.
[[nodiscard]] analysis::TextOptions text_options(When colour, bool launched);

/// Adds --preset lab01 and --price to a command, which fill `request`.
void add_lab01_options(CLI::App& command, const std::string& theme, Lab01Request& request);

}  // namespace collbench::program
