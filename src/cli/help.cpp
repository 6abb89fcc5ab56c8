#include "src/cli/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <sstream>
#include <vector>

#include "base/document/text_layout.hpp"
#include "src/cli/command_line_errors.hpp"

namespace collbench::program {
namespace {

/// What most people ask of a run.
constexpr std::array<const char*, 10> kFirstOptions{
    "--ops", "--sizes", "--time", "--precision", "--backend", "-g", "--expect", "-J", "--html", "--dry-run"};

/// Where the line's text goes on: below an option's description, which follows two blanks or more, else a
/// little behind the line's own beginning.
std::size_t continuation_column(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  if (begin == 0) return 0;
  const std::size_t gap = line.find("  ", begin);
  const std::size_t description = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  constexpr std::size_t kMaxColumn = 50;
  return description > kMaxColumn ? begin : description;
}

/// An option's help up to its first semicolon, and its default.
std::string in_short(const std::string& help) {
  const std::size_t end = help.find(';');
  const std::size_t preset = help.ends_with(')') ? help.rfind(" (") : std::string::npos;
  return help.substr(0, end) + (end < preset && preset != std::string::npos ? help.substr(preset) : "");
}

std::string usage_of(const CLI::App& root) {
  return "Usage: " + root.get_name() + " [OPTIONS], or " + root.get_name() + " COMMAND ...\n";
}

}  // namespace

std::string main_help(const CLI::App& root) {
  std::string text =
      root.get_description() + "\n" + usage_of(root) + "\nOptions; collbench help run has all:\n";
  for (const char* const each : kFirstOptions) {
    const CLI::Option* const option = root.get_option(each);
    text += fmt::format("  {:<22}{}\n", option->get_name(false, true) + " " + option->get_option_text(),
                        in_short(option->get_description()));
  }
  text += "\nCommands; collbench help COMMAND has their options:\n";
  for (const CLI::App* each : commands_of(root)) {
    const std::string help = each->get_description();
    text += fmt::format("  {:<12}{}\n", each->get_name(), help.substr(0, help.find_first_of(";:\n")));
  }
  std::vector<std::string_view> topics;
  for (const HelpTopic& each : help_topics()) topics.push_back(each.name);
  return text + fmt::format("\nAlso: collbench --version; collbench help {}\n\n{}\n", fmt::join(topics, ", "),
                            root.get_footer());
}

std::string run_help(const CLI::App& root) {
  return root.get_description() + "\n" + usage_of(root) +
         std::static_pointer_cast<CLI::Formatter>(root.get_formatter())
             ->make_groups(&root, CLI::AppFormatMode::Normal);
}

std::string first_page(const CLI::App& command, const std::string& parent) {
  const auto formatter = std::static_pointer_cast<CLI::Formatter>(command.get_formatter());
  std::string text = formatter->make_description(&command) +
                     formatter->make_usage(&command, parent + " " + command.get_name());
  std::string others;
  for (const std::string& group : command.get_groups()) {
    const auto options =
        command.get_options([&group](const CLI::Option* option) { return option->get_group() == group; });
    if (options.empty()) continue;
    if (options.front() == command.get_help_ptr()) {
      text += formatter->make_group(group, false, options);
      continue;
    }
    std::vector<std::string> names;
    for (const CLI::Option* option : options) names.push_back(option->get_name());
    others += fmt::format("\n{}:\n  {}\n", group, fmt::join(names, " "));
  }
  return text + others +
         fmt::format("\n{} {} --help-all says what each is for\n", parent, command.get_name());
}

std::string wrapped_help(const std::string& text, int columns) {
  const int width = std::clamp(columns, 60, 100);
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (display_width(line) <= width) {
      result += line + "\n";
      continue;
    }
    const std::size_t column = continuation_column(line);
    const std::string indent(column, ' ');
    result += wrap(std::string_view(line).substr(column), width, line.substr(0, column), indent);
  }
  return result;
}

}  // namespace collbench::program
