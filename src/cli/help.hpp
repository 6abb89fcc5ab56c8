#pragma once
#include <span>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

// What --help prints of the program itself; that of a command is CLI11's.

namespace collbench::program {

/// A page of `collbench help NAME` that belongs to no command.
struct HelpTopic {
  std::string_view name;
  std::string_view title;  ///< for the list of them
  std::string_view text;   ///< lines, each ended
};

[[nodiscard]] std::span<const HelpTopic> help_topics();

/// Null where there is none of that name.
[[nodiscard]] const HelpTopic* help_topic(std::string_view name);

inline constexpr const char* kExitStatusHelp =
    "Exit status: 0 success; 1 BELOW or FAULT, a degraded or broken finding (doctor,\n"
    "topo diff, --expect), a slower row (compare), a bad host or core (burnin,\n"
    "probe), what --fail-on names; 2 bad command line or file; 3 wrong data; 4 rank\n"
    "lost; 5 not available on this machine; 70 bug in collbench.";

/// The first page: the options of a run that matter first, all commands, topics and exit statuses.
[[nodiscard]] std::string main_help(const CLI::App& root);

[[nodiscard]] std::string run_help(const CLI::App& root);

/// Of a command that has more options than a page holds, and --help-all: the group of --help, and the names
/// of the others. `parent`: "collbench".
[[nodiscard]] std::string first_page(const CLI::App& command, const std::string& parent);

/// The text of a command's help in lines of at most `columns` columns, 60 at least and 100 at most: what is
/// longer goes on below its own beginning, that of an option below its description.
[[nodiscard]] std::string wrapped_help(const std::string& text, int columns);

}  // namespace collbench::program
