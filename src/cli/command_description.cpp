#include "src/cli/command_description.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "base/record/fields.hpp"
#include "src/cli/command_line_errors.hpp"

namespace collbench::program {
namespace {

/// CLI11 keeps a text of the type for help, which shows our option_text in its place.
constexpr char kBetweenChoices = '|';

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.find(kBetweenChoices) == std::string::npos ? std::vector<std::string>{}
                                                         : CLI::detail::split(type, kBetweenChoices);
}

OptionDescription describe_option(const CLI::Option& option) {
  OptionDescription result{.names = {},
                           .value = option.get_option_text(),
                           .help = option.get_description(),
                           .theme = option.get_group(),
                           .choices = choices_of(option),
                           .is_argument = option.get_positional(),
                           .is_required = option.get_required()};
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  if (result.names.empty()) result.names.push_back(option.get_name());
  return result;
}

}  // namespace

static void each_field(auto& visit, Either<OptionDescription> auto& option) {
  visit("names", option.names);
  visit("value", option.value);
  visit("help", option.help);
  visit("theme", option.theme);
  visit("choices", option.choices);
  visit("is_argument", option.is_argument);
  visit("is_required", option.is_required);
}

static void each_field(auto& visit, Either<CommandDescription> auto& command) {
  visit("name", command.name);
  visit("help", command.help);
  visit("footer", command.footer);
  visit("options", command.options);
  visit("commands", command.commands);
}

std::string command_description_to_json(const CommandDescription& command) {
  return json_line(record_to_json(command));
}

std::optional<CommandDescription> command_description_from_json(const std::string& text) {
  try {
    const nlohmann::json document = parse_json(text, "a tool");
    return record_from_json<CommandDescription>(JsonReader(document, "a tool"));
  } catch (const Error&) {
    return std::nullopt;
  }
}

void set_choices(CLI::Option& option, const std::vector<std::string>& choices) {
  option.type_name(fmt::format("{}", fmt::join(choices, std::string(1, kBetweenChoices))));
}

CommandDescription describe_command(const CLI::App& app) {
  CommandDescription result{.name = full_name(app),
                            .help = app.get_description(),
                            .footer = app.get_footer(),
                            .options = {},
                            .commands = {}};
  for (const std::string& theme : app.get_groups()) {
    for (const CLI::Option* option : app.get_options()) {
      if (!theme.empty() && option->get_group() == theme) result.options.push_back(describe_option(*option));
    }
  }
  for (const CLI::App* each : commands_of(app)) result.commands.push_back(describe_command(*each));
  return result;
}

}  // namespace collbench::program
