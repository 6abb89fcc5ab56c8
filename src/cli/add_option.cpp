#include "src/cli/add_option.hpp"

#include <cstdlib>

#include "base/error.hpp"
#include "base/text_input.hpp"
#include "launch/real_machine.hpp"
#include "src/cli/option_values.hpp"

namespace collbench::program {

CLI::Option* add_option(CLI::App& app, const std::string& theme, const std::string& names,
                        const std::string& value, const std::string& help,
                        const std::function<void(const std::string&)>& take) {
  return app.add_option_function<std::string>(names, take, help)->group(theme)->option_text(value);
}

void add_format_option(CLI::App& app, const std::string& theme, std::string& format,
                       const std::vector<std::string>& names) {
  add_option(app, theme, "--format", "NAME", "on stdout: " + analysis::format_list(names) + " (text)",
             [&format, names](const std::string& text) { format = one_of(text, "--format", names); });
}

void add_color_option(CLI::App& app, const std::string& theme, When& colour) {
  add_option(app, theme, "--color", "WHEN", "auto, always or never (auto; NO_COLOR is honoured)",
             [&colour](const std::string& text) { colour = parse_when(text, "--color"); });
}

bool decide(When when, bool automatic) {
  return when == When::always || (when == When::automatic && automatic);
}

analysis::TextOptions text_options(When colour, bool launched) {
  const launch::Terminal terminal = launch::view_terminal(1, launched);
  analysis::TextOptions text;
  if (terminal.columns > 0) text.columns = terminal.columns;
  text.colour = decide(colour, terminal.is_terminal && std::getenv("NO_COLOR") == nullptr);
  return text;
}

void add_lab01_options(CLI::App& command, const std::string& theme, Lab01Request& request) {
  CLI::Option* preset = command.add_option_function<std::string>(
      "--preset",
      [&request](const std::string& text) {
        if (text != "lab01") throw usage_error("--preset", "'" + text + "' is unknown", "choose lab01");
        request.asked = true;
      },
      "lab01: AllReduce at 1 MB, 100 MB and 1 GB, expected and measured, as Markdown to hand in");
  preset->group(theme)->option_text("NAME");
  if (CLI::Option* format = command.get_option_no_throw("--format")) preset->excludes(format);
  command
      .add_option_function<std::string>(
          "--price",
          [&request](const std::string& text) {
            const auto price = leading_number(text);
            if (!price || text.find_first_not_of("0123456789.") != std::string::npos) {
              throw usage_error("--price", "'" + text + "' is no price",
                                "give one GPU's price per hour, such as 2.50");
            }
            request.price_per_gpu_hour = price;
          },
          "of one GPU for one hour, for lab01")
      ->needs(preset)
      ->group(theme)
      ->option_text("PRICE");
}

}  // namespace collbench::program
