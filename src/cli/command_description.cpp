#include "src/cli/command_description.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <utility>

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

nlohmann::json to_json(const CommandDescription& command) {
  nlohmann::json options = nlohmann::json::array();
  for (const OptionDescription& each : command.options)
    options.push_back({{"names", each.names},
                       {"value", each.value},
                       {"help", each.help},
                       {"theme", each.theme},
                       {"choices", each.choices},
                       {"is_argument", each.is_argument},
                       {"is_required", each.is_required}});
  nlohmann::json commands = nlohmann::json::array();
  for (const CommandDescription& each : command.commands) commands.push_back(to_json(each));
  return {{"name", command.name},
          {"help", command.help},
          {"footer", command.footer},
          {"options", std::move(options)},
          {"commands", std::move(commands)}};
}

CommandDescription from_json(const nlohmann::json& json) {
  CommandDescription command{json.at("name"), json.at("help"), json.at("footer"), {}, {}};
  for (const nlohmann::json& each : json.at("options"))
    command.options.push_back({each.at("names"), each.at("value"), each.at("help"), each.at("theme"),
                               each.at("choices"), each.at("is_argument"), each.at("is_required")});
  for (const nlohmann::json& each : json.at("commands")) command.commands.push_back(from_json(each));
  return command;
}

}  // namespace

std::string command_description_to_json(const CommandDescription& command) { return to_json(command).dump(); }

std::optional<CommandDescription> command_description_from_json(const std::string& text) {
  try {
    return from_json(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception&) {
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
