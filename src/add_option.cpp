#include "src/add_option.hpp"

#include "src/option_values.hpp"

namespace collbench {

CLI::Option* add_option(CLI::App& app, const std::string& theme, const std::string& names,
                        const std::string& value, const std::string& help,
                        const std::function<void(const std::string&)>& take) {
  return app.add_option_function<std::string>(names, take, help)->group(theme)->option_text(value);
}

void add_format_option(CLI::App& app, const std::string& theme, std::string& format) {
  add_option(app, theme, "--format", "NAME", "on stdout: text, md, csv or json (text)",
             [&format](const std::string& text) {
               format = one_of(text, "--format", {"text", "md", "csv", "json"});
             });
}

void add_color_option(CLI::App& app, const std::string& theme, When& colour) {
  add_option(app, theme, "--color", "WHEN", "auto, always or never (auto; NO_COLOR is honoured)",
             [&colour](const std::string& text) { colour = parse_when(text, "--color"); });
}

}  // namespace collbench
