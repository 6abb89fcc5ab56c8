#include "src/cli/man_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/text_input.hpp"
#include "base/text_sinks.hpp"

namespace collbench::program {
namespace {

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return text;
}

std::string page_name(std::string_view command) {
  std::string name(command);
  std::ranges::replace(name, ' ', '-');
  return name;
}

/// The help's first lines as one paragraph, and the lines that begin with blanks, which are examples.
struct Paragraphs {
  std::string text;
  std::vector<std::string> examples;
};

Paragraphs paragraphs(const std::string& help) {
  Paragraphs result;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(' ')) {
      result.examples.emplace_back(trim(line));
    } else if (!line.empty()) {
      result.text += (result.text.empty() ? "" : " ") + line;
    }
  }
  return result;
}

/// What `whatis` shows: the first clause, without a mark at its end.
std::string whatis(const std::string& text) {
  std::string result = text.substr(0, text.find(';'));
  while (result.ends_with(':') || result.ends_with('.')) result.pop_back();
  return result;
}

std::string option_tag(const OptionDescription& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back("\\fB" + roff_text(name) + "\\fR");
  const std::string value = option.value.empty() ? "" : " \\fI" + roff_text(option.value) + "\\fR";
  return fmt::format("{}{}", fmt::join(names, ", "), value);
}

std::string argument_name(const OptionDescription& argument) {
  return argument.value.empty() ? upper(argument.names.front()) : argument.value;
}

std::string synopsis(const CommandDescription& command) {
  std::string line = "\\fB" + roff_text(command.name) + "\\fR [\\fIOPTIONS\\fR]";
  for (const OptionDescription& each : command.options) {
    if (!each.is_argument) continue;
    const std::string name = "\\fI" + roff_text(argument_name(each)) + "\\fR";
    line += each.is_required ? " " + name : " [" + name + "]";
  }
  if (!command.commands.empty()) line += " [\\fICOMMAND\\fR]";
  return line;
}

std::string options_section(const CommandDescription& command) {
  std::string text;
  std::string theme;
  for (const OptionDescription& each : command.options) {
    if (each.is_argument) continue;
    if (each.theme != theme && each.theme != "Options")
      text += fmt::format(".SS \"{}\"\n", roff_text(each.theme));
    theme = each.theme;
    text += fmt::format(".TP\n{}\n{}\n", option_tag(each), roff_text(each.help));
  }
  return text.empty() ? "" : ".SH OPTIONS\n" + text;
}

std::string arguments_section(const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& each : command.options) {
    if (each.is_argument && !each.help.empty())
      text += fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff_text(argument_name(each)), roff_text(each.help));
  }
  return text.empty() ? "" : ".SH ARGUMENTS\n" + text;
}

std::string commands_section(const CommandDescription& command) {
  std::string text;
  for (const CommandDescription& each : command.commands)
    text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff_text(page_name(each.name)),
                        roff_text(paragraphs(each.help).text));
  return text.empty() ? "" : ".SH COMMANDS\n" + text;
}

std::string examples_section(const std::vector<std::string>& examples) {
  if (examples.empty()) return "";
  std::string text = ".SH EXAMPLES\n.nf\n";
  for (const std::string& each : examples) text += roff_text(each) + "\n";
  return text + ".fi\n";
}

std::string notes_section(const std::string& footer) {
  if (footer.empty()) return "";
  return ".SH NOTES\n" + roff_text(paragraphs(footer).text) + "\n";
}

std::string see_also_section(const CommandDescription& command) {
  const std::size_t last = command.name.rfind(' ');
  if (last == std::string::npos) return "";
  return fmt::format(".SH \"SEE ALSO\"\n\\fB{}\\fR(1)\n", roff_text(page_name(command.name.substr(0, last))));
}

}  // namespace

std::string man_page_name(const CommandDescription& command) { return page_name(command.name); }

std::string man_page(const CommandDescription& command, const std::string& version) {
  const Paragraphs help = paragraphs(command.help);
  return fmt::format(".TH \"{}\" 1 \"\" \"collbench {}\" \"User Commands\"\n",
                     roff_text(upper(page_name(command.name))), version) +
         fmt::format(".SH NAME\n{} \\- {}\n", roff_text(page_name(command.name)),
                     roff_text(whatis(help.text))) +
         fmt::format(".SH SYNOPSIS\n{}\n", synopsis(command)) +
         fmt::format(".SH DESCRIPTION\n{}\n", roff_text(help.text)) + arguments_section(command) +
         options_section(command) + commands_section(command) + examples_section(help.examples) +
         notes_section(command.footer) + see_also_section(command);
}

}  // namespace collbench::program
