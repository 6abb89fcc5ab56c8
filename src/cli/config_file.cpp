#include "src/cli/config_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <istream>
#include <memory>
#include <utility>

#include "base/files.hpp"
#include "src/cli/toml_text.hpp"

namespace collbench::program {

namespace {

struct ConfigEntry {
  std::string key;
  const toml::node* value;
  int line;
};

/// Reads the file for CLI11, whose own reader knows no lines and joins the values of a key that is set twice.
class RunConfig : public CLI::ConfigTOML {
 public:
  RunConfig(const CLI::App& app, ConfigFile& config) : app_(app), config_(config) {}

  [[nodiscard]] std::vector<CLI::ConfigItem> from_config(std::istream& /*input*/) const override {
    config_.path = app_.get_config_ptr()->as<std::string>();
    config_.text = read_file(config_.path, kMaxTomlBytes);
    const toml::table document = parse_toml(
        config_.text, config_.path, "write key = value, with text in quotes, such as ops = \"all_reduce\"");
    std::vector<ConfigEntry> entries;
    for (const auto& [key, value] : document) {
      entries.push_back({std::string(key.str()), &value, static_cast<int>(key.source().begin.line)});
    }
    // A table is sorted by name; options take effect, and errors are found, in the order of the file.
    std::ranges::sort(entries, {}, &ConfigEntry::line);
    std::vector<CLI::ConfigItem> keys;
    for (const ConfigEntry& entry : entries) {
      require_known(entry);
      config_.lines.emplace(entry.key, entry.line);
      CLI::ConfigItem item;
      item.name = entry.key;
      item.inputs = {value_text(entry, *entry.value)};
      keys.push_back(std::move(item));
    }
    return keys;
  }

 private:
  [[nodiscard]] Error refusal(unsigned line, const std::string& what, const std::string& next_step) const {
    return usage_error(fmt::format("{}:{}", config_.path, line), what, next_step);
  }

  void require_known(const ConfigEntry& entry) const {
    const auto line = static_cast<unsigned>(entry.line);
    if (entry.value->is_table() || entry.value->is_array_of_tables()) {
      throw refusal(line, fmt::format("[{}] is a section", entry.key),
                    "leave sections out: all keys are options of a run");
    }
    const CLI::Option* const option = app_.get_option_no_throw("--" + entry.key);
    if (option != nullptr && option->get_configurable()) return;
    throw refusal(line, fmt::format("unknown key '{}'", entry.key),
                  "keys are the long names of options, such as time = 30; collbench --help lists them");
  }

  /// As it would stand on the command line: lists are options of one text.
  [[nodiscard]] std::string value_text(const ConfigEntry& entry, const toml::node& value) const {
    if (const toml::array* list = value.as_array()) {
      std::vector<std::string> texts;
      for (const toml::node& each : *list) texts.push_back(value_text(entry, each));
      return fmt::format("{}", fmt::join(texts, ","));
    }
    if (const auto* text = value.as_string()) return text->get();
    if (const auto* number = value.as_integer()) return fmt::format("{}", number->get());
    if (const auto* number = value.as_floating_point()) return fmt::format("{}", number->get());
    if (const auto* flag = value.as_boolean()) return flag->get() ? "true" : "false";
    throw refusal(static_cast<unsigned>(entry.line), fmt::format("'{}' is a date or a time", entry.key),
                  "give text in quotes, a number, true or false, or a list of them");
  }

  const CLI::App& app_;
  ConfigFile& config_;
};

bool is_on_command_line(const CLI::Option& option, const std::vector<std::string>& words) {
  const auto names_it = [&](const std::string& word) {
    const auto is_long = [&](const std::string& name) {
      return word == "--" + name || word.starts_with("--" + name + "=");
    };
    const auto is_short = [&](const std::string& name) { return word.starts_with("-" + name); };
    return std::ranges::any_of(option.get_lnames(), is_long) ||
           std::ranges::any_of(option.get_snames(), is_short);
  };
  return std::ranges::any_of(words, names_it);
}

}  // namespace

void add_config_option(CLI::App& app, ConfigFile& config) {
  app.set_config("--config", "", "options as lines of TOML, such as time = 30; the command line wins")
      ->check([](const std::string& path) {
        std::error_code ignored;  // what does not exist is said by who opens it
        if (std::filesystem::exists(path, ignored) && !std::filesystem::is_directory(path, ignored) &&
            !std::filesystem::is_regular_file(path, ignored)) {
          throw usage_error(path, "is not a regular file", "name an ordinary file for --config");
        }
        return std::string();
      })
      ->group("From a file, such as --config lab.toml")
      ->option_text("FILE");
  for (const char* const never : {"--help", "--version"}) app.get_option(never)->configurable(false);
  app.config_formatter(std::make_shared<RunConfig>(app, config));
}

Error with_config_line(const CLI::App& app, const ConfigFile& config,
                       const std::vector<std::string>& command_line, const Error& error) {
  const CLI::Option* const option = app.get_option_no_throw(error.where());
  if (config.path.empty() || option == nullptr || is_on_command_line(*option, command_line)) return error;
  for (const std::string& key : option->get_lnames()) {
    if (const auto found = config.lines.find(key); found != config.lines.end()) {
      return {error.status(), fmt::format("{}:{}: {}", config.path, found->second, key), error.what(),
              error.next_step()};
    }
  }
  return error;
}

}  // namespace collbench::program
