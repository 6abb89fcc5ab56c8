#pragma once
#include <string>
#include <vector>

#include "base/error.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

// What is said of a command line that is wrong: the only file that words it. Each Error is usage.

namespace collbench::program {

/// "collbench topo diff".
[[nodiscard]] std::string full_name(const CLI::App& app);

[[nodiscard]] std::vector<const CLI::App*> commands_of(const CLI::App& app);

/// The subcommand that was given, of whatever depth; `app` itself without one.
[[nodiscard]] const CLI::App& chosen_command(const CLI::App& app);

/// What CLI11 found wrong while it parsed for `root`, in our words.
[[nodiscard]] Error command_line_error(const CLI::App& root, const CLI::ParseError& error);

/// An option that `app`, a subcommand of `root` or itself, does not have.
[[nodiscard]] Error unknown_option(const CLI::App& root, const CLI::App& app, const std::string& option);

[[nodiscard]] Error unknown_command(const CLI::App& app, const std::string& word);

/// A word that is no option, where the command takes only options.
[[nodiscard]] Error unexpected_argument(const CLI::App& app, const std::string& word);

/// A program and its options without -- before it, whose options would be ours.
[[nodiscard]] Error missing_separator(const CLI::App& app, const std::string& program);

}  // namespace collbench::program
