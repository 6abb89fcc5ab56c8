#include "src/cli/config_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <istream>
#include <memory>
#include <string>
#include <utility>

#include "base/files.hpp"

namespace collbench::program {

namespace {

/// toml++ makes a table of each part of a key such as a.b.c, and takes a stack frame for each when they go:
/// without optimization, a stack of 8 MiB holds 16,000 parts and not 32,000. So large a file has at most
/// 8,000.
constexpr std::size_t kMaxConfigBytes = std::size_t{16} << 10U;

/// One `key = value`.
struct ConfigEntry {
  std::string key;
  const toml::node* value;
  int line;
};

class ConfigReader {
 public:
  ConfigReader(const CLI::App& app, ConfigFile& config) : app_(app), config_(config) {}

  [[nodiscard]] std::vector<CLI::ConfigItem> items() {
    const toml::table document = parse();
    std::vector<ConfigEntry> entries;
    for (const auto& [key, value] : document) {
      entries.push_back({std::string(key.str()), &value, static_cast<int>(key.source().begin.line)});
    }
    // A table is sorted by name; options take effect, and errors are found, in the order of the file.
    std::ranges::sort(entries, {}, &ConfigEntry::line);
    std::vector<CLI::ConfigItem> items;
    for (const ConfigEntry& entry : entries) {
      require_known(entry);
      config_.lines.emplace(entry.key, entry.line);
      CLI::ConfigItem item;
      item.name = entry.key;
      item.inputs = {value_text(entry, *entry.value)};
      items.push_back(std::move(item));
    }
    return items;
  }

 private:
  [[nodiscard]] Error refusal(unsigned line, const std::string& what, const std::string& next_step) const {
    return usage_error(fmt::format("{}:{}", config_.path, line), what, next_step);
  }

  [[nodiscard]] toml::table parse() const {
    if (const auto line = line_of_stray_character(config_.text)) {
      throw refusal(static_cast<unsigned>(*line), "a character beyond ASCII stands outside of quotes",
                    "write key = value, with text in quotes, such as ops = \"all_reduce\"");
    }
    try {
      return toml::parse(config_.text, config_.path);
    } catch (const toml::parse_error& error) {
      const std::string what(error.description());
      const auto line = error.source().begin.line;
      if (what.find("cannot redefine existing") == std::string::npos) {
        throw refusal(line, what, "write key = value, with text in quotes, such as ops = \"all_reduce\"");
      }
      throw refusal(line, fmt::format("{} is set twice", what.substr(std::min(what.size(), what.find('\'')))),
                    "set it once; a list is written \"a,b\" or [\"a\", \"b\"]");
    }
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

/// Reads the file for CLI11, whose own reader knows no lines and joins the values of a key that is set twice.
class RunConfig : public CLI::ConfigTOML {
 public:
  RunConfig(const CLI::App& app, ConfigFile& config) : app_(app), config_(config) {}

  [[nodiscard]] std::vector<CLI::ConfigItem> from_config(std::istream& /*input*/) const override {
    config_.path = app_.get_config_ptr()->as<std::string>();
    config_.text = read_file(config_.path, kMaxConfigBytes);
    return ConfigReader(app_, config_).items();
  }

 private:
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

/// Of what begins at `at`, one or three quotes of the same kind; empty: no string.
std::string_view opening_quotes(std::string_view text, std::size_t at) {
  if (text[at] != '"' && text[at] != '\'') return {};
  const std::string three(3, text[at]);
  return text.substr(at, text.substr(at).starts_with(three) ? 3 : 1);
}

/// Behind the string that `quotes` at `at` open: at the end of the line for one that is not closed on it.
/// Three quotes may have one or two of the string's own before them.
std::size_t behind_string(std::string_view text, std::size_t at, std::string_view quotes) {
  at += quotes.size();
  while (at < text.size()) {
    if (text.substr(at).starts_with(quotes)) {
      at += quotes.size();
      return quotes.size() == 1 ? at : std::min(text.find_first_not_of(quotes.front(), at), text.size());
    }
    if (quotes.size() == 1 && text[at] == '\n') return at;
    at += text[at] == '\\' && quotes.front() == '"' ? 2 : 1;
  }
  return text.size();
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

std::optional<std::size_t> line_of_stray_character(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::size_t at = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  while (at < text.size()) {
    const std::string_view quotes = opening_quotes(text, at);
    if (!quotes.empty()) {
      at = behind_string(text, at, quotes);
    } else if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (static_cast<unsigned char>(text[at]) >= 0x80U) {
      return 1 + static_cast<std::size_t>(
                     std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    } else {
      ++at;
    }
  }
  return std::nullopt;
}

}  // namespace collbench::program
