#include "src/cli/command_line_errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/record/operation.hpp"
#include "base/suggest_names.hpp"

namespace collbench::program {
namespace {

std::string see_help(const CLI::App& app) {
  if (app.get_parent() == nullptr) return "see collbench help run";
  return fmt::format("see {} {}", full_name(app),
                     app.get_help_all_ptr() != nullptr ? "--help-all" : "--help");
}

/// Of the names that may have been meant the nearest: one, unless others are as near.
std::vector<std::string> nearest_names(const std::string& word, const std::vector<std::string>& names) {
  auto near = suggest_names(word, names);
  const std::size_t nearest = near.empty() ? 0 : edit_distance(word, near.front());
  std::erase_if(near, [&](const std::string& name) { return edit_distance(word, name) > nearest; });
  return near;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Of the program and all its subcommands, those that have the option.
void collect_with(const CLI::App& app, const std::string& option, std::vector<std::string>& found) {
  if (app.get_option_no_throw(option) != nullptr) found.push_back(full_name(app));
  for (const CLI::App* each : commands_of(app)) collect_with(*each, option, found);
}

/// Whether `app` takes options of the program itself behind "--", as launch does.
bool takes_words_behind_dashes(const CLI::App& app) {
  const auto options = app.get_options([](const CLI::Option* option) {
    return option->get_positional() && option->get_option_text().starts_with("-- ");
  });
  return !options.empty();
}

/// "--topology NAME|FILE", and of an argument without a name "MACHINE...".
std::string with_value(const CLI::Option& option) {
  std::string value = option.get_option_text();
  if (!option.get_positional()) return fmt::format("{} {}", option.get_name(), value);
  if (!value.empty()) return value;
  std::string name = option.get_name();
  std::ranges::transform(name, name.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return name;
}

/// What is required of `app` and is not there: an option or an argument, else a subcommand.
Error missing(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    if (option->get_positional())
      return usage_error("", fmt::format("{} needs {}", full_name(app), with_value(*option)), see_help(app));
    return usage_error("", option->get_name() + " is required",
                       fmt::format("give {}; {}", with_value(*option), see_help(app)));
  }
  std::vector<std::string> names;
  for (const CLI::App* each : commands_of(app)) names.push_back(each->get_name());
  return usage_error("", full_name(app) + " needs a subcommand",
                     fmt::format("choose among {}; {}", fmt::join(names, ", "), see_help(app)));
}

/// An option without its value, or given more than once. `what`: "--nodes: At Most 1 required but received
/// 2".
Error mismatch(const CLI::App& app, const std::string& what) {
  const std::string name = what.substr(0, what.find(':'));
  const CLI::Option* const option = app.get_option_no_throw(name);
  if (option == nullptr) return usage_error("", what, see_help(app));
  if (option->count() > 1) {
    return usage_error("", fmt::format("{} is given {} times", name, option->count()),
                       "give it once; " + see_help(app));
  }
  return usage_error("", name + " needs a value",
                     fmt::format("give {}; {}", with_value(*option), see_help(app)));
}

/// The two names of "--price requires --preset" and "--a excludes --b".
std::pair<std::string, std::string> two_names(const std::string& what, std::string_view verb) {
  const std::size_t at = what.find(verb);
  if (at == std::string::npos) return {what, ""};
  return {what.substr(0, at), what.substr(at + verb.size())};
}

}  // namespace

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App& chosen_command(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

Error command_line_error(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& app = chosen_command(root);
  std::string what = error.what();
  if (const std::size_t newline = what.find('\n'); newline != std::string::npos) what.resize(newline);
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError)) return missing(app);
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) return mismatch(app, what);
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiresError)) {
    const auto [option, needed] = two_names(what, " requires ");
    return usage_error("", fmt::format("{} is only used with {}", option, needed),
                       fmt::format("add {}; {}", needed, see_help(app)));
  }
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExcludesError)) {
    const auto [option, other] = two_names(what, " excludes ");
    return usage_error("", fmt::format("{} and {} cannot be used together", option, other),
                       "leave one out; " + see_help(app));
  }
  return usage_error("", what, see_help(app));
}

Error unknown_option(const CLI::App& root, const CLI::App& app, const std::string& option) {
  const auto near = nearest_names(option, option_names(app));
  std::vector<std::string> others;
  collect_with(root, option, others);
  std::string next = see_help(app);
  if (takes_words_behind_dashes(app) && root.get_option_no_throw(option) != nullptr) {
    next = fmt::format("it is one of {} itself: put it behind --, {} ... -- {} ...", full_name(root),
                       full_name(app), option);
  } else if (!near.empty()) {
    next = fmt::format("did you mean {}? ({})", fmt::join(near, ", "), see_help(app));
  } else if (!others.empty()) {
    next = fmt::format("it is one of {}; {}", fmt::join(others, ", "), see_help(app));
  }
  return usage_error(
      "", fmt::format("unknown option {}{}", option, &app == &root ? "" : " of " + full_name(app)), next);
}

Error unknown_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* each : commands_of(app)) names.push_back(each->get_name());
  std::vector<std::string> near;
  for (const std::string& name : nearest_names(word, names)) near.push_back(full_name(app) + " " + name);
  const bool is_operation = find_operation(word) != nullptr && app.get_option_no_throw("--ops") != nullptr;
  if (is_operation) near = {fmt::format("{} --ops {}", full_name(app), word)};
  return usage_error("", fmt::format("unknown command {} {}", full_name(app), word),
                     near.empty() ? fmt::format("see {} --help", full_name(app))
                                  : fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

Error unexpected_argument(const CLI::App& app, const std::string& word) {
  const bool has_topology = app.get_option_no_throw("--topology") != nullptr;
  return usage_error(
      "", fmt::format("unexpected argument {} of {}", word, full_name(app)),
      has_topology ? fmt::format("did you mean --topology {}? ({})", word, see_help(app)) : see_help(app));
}

Error missing_separator(const CLI::App& app, const std::string& program) {
  return usage_error("", fmt::format("the options of {} would be those of {}", program, full_name(app)),
                     fmt::format("put -- before the command: {} -- {} ...", full_name(app), program));
}

}  // namespace collbench::program
