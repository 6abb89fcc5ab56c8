#include "src/lab01_options.hpp"

#include "base/error.hpp"
#include "topology/text_input.hpp"

namespace collbench {

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

}  // namespace collbench
