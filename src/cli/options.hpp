#pragma once
#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "base/record/data_type.hpp"
#include "base/record/operation.hpp"
#include "base/text_input.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// What several commands share: how an option is added, the options that mean the same in all of them, and the
// texts of options as values.

namespace collbench::program {

/// When something for a person's eyes is shown: where a terminal is, always, or never.
enum class When { automatic, always, never };

/// --price, --hours and --currency.
struct PriceOptions {
  std::optional<double> per_gpu_hour;
  std::optional<double> hours;
  std::string currency;              ///< empty: none is printed
  std::vector<std::string> words{};  ///< as they were given: "--price=3"
};

/// What --preset lab01 and its options ask for.
struct Lab01Request {
  bool asked = false;    ///< --preset lab01
  std::string topology;  ///< --topology; empty: what the record names
  PriceOptions price;
};

/// Adds an option to a theme of the help; its text goes to `take`, which throws our own Error. `value` is
/// what the help calls the text.
CLI::Option* add_option(CLI::App& app, const std::string& theme, const std::string& names,
                        const std::string& value, const std::string& help,
                        const std::function<void(const std::string&)>& take);

/// The same of one that takes no text.
CLI::Option* add_flag(CLI::App& app, const std::string& theme, const std::string& names, bool& kept,
                      const std::string& help);

/// --percentiles, of every command that shows the rows of a run.
void add_percentiles_option(CLI::App& app, const std::string& theme, bool& percentiles);

/// --label: the user's name for a run, kept in its record and in every CSV, Prometheus and JUnit file.
void add_label_option(CLI::App& app, const std::string& theme, std::string& label);

/// --color, of every command that writes for a person.
void add_color_option(CLI::App& app, const std::string& theme, When& color);

/// --progress, of every command that measures.
void add_progress_option(CLI::App& app, const std::string& theme, When& progress);

/// Adds --preset lab01, --price, --hours and --currency to a command, which fill `request`. After --format,
/// which they exclude.
void add_lab01_options(CLI::App& command, const std::string& theme, Lab01Request& request);

/// Adds --price, which is returned, and what needs it.
CLI::Option* add_price_options(CLI::App& command, const std::string& theme, PriceOptions& options);

// Each of these throws Error (usage) that names the option and what it takes.

/// The Error for `text` where a number is expected; `range` is what the option takes, such as "1 to 8".
[[nodiscard]] Error number_error(const std::string& text, const std::string& option, const std::string& range,
                                 bool whole);

/// A number from `minimum` to `maximum`; the whole text must be one. `unit` is for the message: "seconds".
template <typename Number>
[[nodiscard]] Number parse_number(const std::string& text, const std::string& option, Number minimum,
                                  Number maximum, const char* unit = "") {
  const auto value = whole_number<Number>(text);
  if (value && *value >= minimum && *value <= maximum) return *value;  // which no NaN is
  throw number_error(text, option,
                     fmt::format("{} to {}{}{}", minimum, maximum, *unit == '\0' ? "" : " ", unit),
                     std::is_integral_v<Number>);
}

// What add_option takes where a text or a number is kept as it is. What it is kept in outlives the command.

[[nodiscard]] inline auto into(std::string& kept) {
  return [&kept](const std::string& text) { kept = text; };
}

template <typename Number, typename Kept>
[[nodiscard]] auto number_into(Kept& kept, const char* option, Number minimum,
                               std::type_identity_t<Number> maximum, const char* unit = "") {
  return [=, &kept](const std::string& text) { kept = parse_number(text, option, minimum, maximum, unit); };
}

/// `text`, when it is one of `known`.
[[nodiscard]] std::string parse_name(const std::string& text, const std::string& option,
                                     const std::vector<std::string>& known);

/// A comma-separated list, or "all" for those that can be measured.
[[nodiscard]] std::vector<OperationId> parse_operations(const std::string& text, const std::string& option);

/// One operation, of those that can only be imported too.
[[nodiscard]] OperationId parse_operation(const std::string& text, const std::string& option);

[[nodiscard]] std::vector<DataType> parse_types(const std::string& text, const std::string& option);

[[nodiscard]] std::vector<Reduction> parse_reductions(const std::string& text, const std::string& option);

// What those lists and names take, for completions.
[[nodiscard]] std::vector<std::string> operation_choices();
[[nodiscard]] std::vector<std::string> type_choices();
[[nodiscard]] std::vector<std::string> reduction_choices();
/// The words between commas.
[[nodiscard]] std::vector<std::string> split_list(const std::string& text);

}  // namespace collbench::program
