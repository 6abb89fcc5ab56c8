#include "src/cli/config_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace collbench::program {
namespace {

/// The line, from 1, that sets `key` for the `nth` time; 0 when none does.
int line_of(const std::string& text, const std::string& key, int nth = 1) {
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string name = line.substr(0, line.find('='));
    if (CLI::detail::trim_copy(name) == key && --nth == 0) return number;
  }
  return 0;
}

/// CLI11's reader of TOML, which knows no lines and joins keys that are there twice.
class RunConfig : public CLI::ConfigTOML {
 public:
  RunConfig(const CLI::App& app, RunOptions& run) : app_(app), run_(run) {}

  [[nodiscard]] std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    run_.config_path = app_.get_config_ptr()->as<std::string>();
    run_.config_text = std::string(std::istreambuf_iterator<char>(input), {});
    std::istringstream text(run_.config_text);
    std::vector<CLI::ConfigItem> found = CLI::ConfigTOML::from_config(text);
    for (CLI::ConfigItem& item : found) {
      require_known(item);
      if (line_of(run_.config_text, item.name, 2) != 0) {
        throw refusal(item.name, 2, fmt::format("'{}' is set for the second time", item.name),
                      "set it once; a list is written \"a,b\" or [\"a\", \"b\"]");
      }
      item.inputs = {fmt::format("{}", fmt::join(item.inputs, ","))};  // lists are options of one text
    }
    return found;
  }

 private:
  [[nodiscard]] Error refusal(const std::string& key, int nth, const std::string& what,
                              const std::string& next_step) const {
    return usage_error(fmt::format("{}:{}", run_.config_path, line_of(run_.config_text, key, nth)), what,
                       next_step);
  }

  void require_known(const CLI::ConfigItem& item) const {
    if (!item.parents.empty()) {
      throw usage_error(run_.config_path, fmt::format("[{}] is a section", fmt::join(item.parents, ".")),
                        "leave sections out: all keys are options of a run");
    }
    const CLI::Option* const option = app_.get_option_no_throw("--" + item.name);
    if (option != nullptr && option->get_configurable()) return;
    throw refusal(item.name, 1, fmt::format("'{}' is no key", item.name),
                  "keys are the long names of options, such as time = 30; collbench --help lists them");
  }

  const CLI::App& app_;
  RunOptions& run_;
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

void add_config_option(CLI::App& app, RunOptions& run) {
  app.set_config("--config", "", "options as lines of TOML, such as time = 30; the command line wins")
      ->group("From a file, such as --config lab.toml")
      ->option_text("FILE");
  for (const char* const never : {"--help", "--version"}) app.get_option(never)->configurable(false);
  app.config_formatter(std::make_shared<RunConfig>(app, run));
}

Error with_config_line(const CLI::App& app, const RunOptions& run, const Error& error) {
  const CLI::Option* const option = app.get_option_no_throw(error.where());
  if (run.config_path.empty() || option == nullptr || is_on_command_line(*option, run.command_line)) {
    return error;
  }
  for (const std::string& key : option->get_lnames()) {
    if (const int line = line_of(run.config_text, key)) {
      return {error.status(), fmt::format("{}:{}: {}", run.config_path, line, key), error.what(),
              error.next_step()};
    }
  }
  return error;
}

}  // namespace collbench::program
