#pragma once
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

// What the parser knows of a command, as plain data: man pages and completions are made of it, so that they
// say what --help says.

namespace collbench::program {

/// An option, or an argument without a name.
struct OptionDescription {
  std::vector<std::string> names;    ///< "-o", "--output"; of an argument one, such as "record"
  std::string value;                 ///< what its text is called, such as FILE; empty: it takes none
  std::string help;                  ///< one paragraph
  std::string theme;                 ///< of the help's parts
  std::vector<std::string> choices;  ///< every text that it takes; empty: they are not counted
  bool is_argument = false;
  bool is_required = false;
};

struct CommandDescription {
  std::string name;    ///< "collbench topo diff"
  std::string help;    ///< may have lines of examples, which begin with blanks
  std::string footer;  ///< what stands at the end of its help
  std::vector<OptionDescription> options;
  std::vector<CommandDescription> commands;
};

/// Notes every text that the option takes; for a list, of each part between commas.
void set_choices(CLI::Option& option, const std::vector<std::string>& choices);

/// `app` and all below it, in the order of their help.
[[nodiscard]] CommandDescription describe_command(const CLI::App& app);

/// As JSON, by which a tool tells collbench what it takes; none for what a tool of another version wrote.
[[nodiscard]] std::string command_description_to_json(const CommandDescription& command);
[[nodiscard]] std::optional<CommandDescription> command_description_from_json(const std::string& text);

}  // namespace collbench::program
