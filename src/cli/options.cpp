#include "src/cli/options.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/suggest_names.hpp"
#include "collectives/operations.hpp"
#include "src/cli/command_description.hpp"

namespace collbench::program {
namespace {

Error unknown(const std::string& option, const std::string& word, std::vector<std::string_view> names) {
  constexpr std::size_t kMaxInASentence = 4;
  const std::string what = fmt::format("'{}' is unknown", word);
  const auto near = suggest_names(word, {names.begin(), names.end()});
  const std::string meant = near.empty() ? "" : fmt::format("did you mean {}? ", fmt::join(near, ", "));
  if (names.size() > kMaxInASentence) {
    return usage_error(option, what, fmt::format("{}choose among {}", meant, fmt::join(names, ", ")));
  }
  const std::string_view last = names.back();
  names.pop_back();
  return usage_error(option, what, fmt::format("{}choose {} or {}", meant, fmt::join(names, ", "), last));
}

/// What `name` calls each, and "all".
template <typename All, typename Name>
std::vector<std::string> names_and_all(const All& all, const Name& name) {
  std::vector<std::string> names;
  for (const auto& each : all) names.emplace_back(name(each));
  names.emplace_back("all");
  return names;
}

/// Every word of a list looked up by `find`, or all of `all`; `name` is what one is called.
template <typename Value, typename Name, typename Find>
std::vector<Value> parse_list(const std::string& text, const std::string& option,
                              const std::vector<Value>& all, const Name& name, const Find& find) {
  if (text == "all") return all;
  std::vector<Value> values;
  for (const std::string& word : split_list(text)) {
    const std::optional<Value> value = find(word);
    if (!value) {
      const std::vector<std::string> names = names_and_all(all, name);
      throw unknown(option, word, {names.begin(), names.end()});
    }
    values.push_back(*value);
  }
  return values;
}

/// Whether all of `text` is a number.
bool is_number(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, value);
  return failure != std::errc::invalid_argument && stopped == end && !std::isnan(value);
}

/// "2.50", above 0.
double positive_decimal(const std::string& text, const std::string& option, const char* what,
                        const char* help) {
  const auto value = leading_number(text);
  if (!value || *value <= 0 || text.find_first_not_of("0123456789.") != std::string::npos) {
    throw usage_error(option, fmt::format("'{}' is not a {}", text, what), help);
  }
  return *value;
}

std::vector<std::string> when_choices() { return {"auto", "always", "never"}; }

/// auto, always or never.
When parse_when(const std::string& text, const std::string& option) {
  static_cast<void>(parse_name(text, option, when_choices()));
  return text == "auto" ? When::automatic : text == "always" ? When::always : When::never;
}

void add_when_option(CLI::App& app, const std::string& theme, const std::string& name, When& when,
                     const std::string& help) {
  CLI::Option* option = add_option(app, theme, name, "WHEN", help,
                                   [&when, name](const std::string& text) { when = parse_when(text, name); });
  set_choices(*option, when_choices());
}

}  // namespace

CLI::Option* add_option(CLI::App& app, const std::string& theme, const std::string& names,
                        const std::string& value, const std::string& help,
                        const std::function<void(const std::string&)>& take) {
  return app.add_option_function<std::string>(names, take, help)->group(theme)->option_text(value);
}

CLI::Option* add_flag(CLI::App& app, const std::string& theme, const std::string& names, bool& kept,
                      const std::string& help) {
  return app.add_flag(names, kept, help)->group(theme);
}

void add_percentiles_option(CLI::App& app, const std::string& theme, bool& percentiles) {
  add_flag(app, theme, "--percentiles", percentiles,
           "text and Markdown: also min, p50, p95 and p99 of each row's calls");
}

void add_label_option(CLI::App& app, const std::string& theme, std::string& label) {
  add_option(app, theme, "--label", "NAME", "a name for the run, in its record and in every file made of it",
             [&label](const std::string& text) {
               constexpr std::size_t kMaxLabel = 200;
               const bool odd = std::ranges::any_of(text, [](char letter) {
                 return static_cast<unsigned char>(letter) < ' ' || letter == '\x7f';
               });
               if (text.empty() || text.size() > kMaxLabel || odd) {
                 throw usage_error("--label", text.empty() ? "it is empty" : "it is no name",
                                   fmt::format("give one line of at most {} bytes", kMaxLabel));
               }
               label = text;
             });
}

void add_color_option(CLI::App& app, const std::string& theme, When& color) {
  add_when_option(app, theme, "--color", color, "auto, always or never (auto; NO_COLOR is honored)");
}

void add_progress_option(CLI::App& app, const std::string& theme, When& progress) {
  add_when_option(app, theme, "--progress", progress,
                  "auto, always or never, on stderr (auto: on a terminal)");
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
  add_price_options(command, theme, request.price)->needs(preset);
}

CLI::Option* add_price_options(CLI::App& command, const std::string& theme, PriceOptions& options) {
  CLI::Option* price = add_option(command, theme, "--price", "PRICE", "price per GPU-hour, in Lab 01's page",
                                  [&options](const std::string& text) {
                                    options.per_gpu_hour =
                                        positive_decimal(text, "--price", "price",
                                                         "give one GPU's price per hour, such as 2.50");
                                    options.words.push_back("--price=" + text);
                                  });
  add_option(command, theme, "--hours", "HOURS", "hours that the GPUs are paid for, there (1)",
             [&options](const std::string& text) {
               options.hours =
                   positive_decimal(text, "--hours", "number of hours", "give hours, such as 1.5");
               options.words.push_back("--hours=" + text);
             })
      ->needs(price);
  add_option(command, theme, "--currency", "NAME", "of --price, such as USD (none is printed)",
             [&options](const std::string& text) {
               options.currency = text;
               if (!text.empty()) options.words.push_back("--currency=" + text);
             })
      ->needs(price);
  return price;
}

Error number_error(const std::string& text, const std::string& option, const std::string& range, bool whole) {
  if (!is_number(text)) return usage_error(option, fmt::format("'{}' is not a number", text), range);
  if (whole && text.find_first_not_of("0123456789", text.starts_with('-') ? 1 : 0) != std::string::npos) {
    return usage_error(option, fmt::format("{} is not a whole number", text), range);
  }
  return usage_error(option, fmt::format("{} is out of range", text), range);
}

std::vector<std::string> split_list(const std::string& text) { return CLI::detail::split(text, ','); }

std::string parse_name(const std::string& text, const std::string& option,
                       const std::vector<std::string>& known) {
  if (std::ranges::find(known, text) == known.end())
    throw unknown(option, text, {known.begin(), known.end()});
  return text;
}

std::vector<OperationId> parse_operations(const std::string& text, const std::string& option) {
  const std::vector<OperationId> all(collectives::measurable_operations().begin(),
                                     collectives::measurable_operations().end());
  const auto name = [](OperationId id) { return operation(id).option; };
  return parse_list(text, option, all, name, [](const std::string& word) -> std::optional<OperationId> {
    const Operation* found = find_operation(word);
    if (found == nullptr) return std::nullopt;
    return collectives::collective(found->id).id;  // an operation that is only imported has its own message
  });
}

OperationId parse_operation(const std::string& text, const std::string& option) {
  if (const Operation* found = find_operation(text)) return found->id;
  std::vector<std::string_view> names;
  for (const Operation& each : operations()) names.push_back(each.option);
  throw unknown(option, text, names);
}

std::vector<DataType> parse_types(const std::string& text, const std::string& option) {
  std::vector<DataType> all;
  for (const DataTypeTraits& each : data_types()) all.push_back(each.id);
  const auto name = [](DataType type) { return traits(type).name; };
  return parse_list(text, option, all, name, [](const std::string& word) -> std::optional<DataType> {
    const DataTypeTraits* found = find_data_type(word);
    return found == nullptr ? std::nullopt : std::optional(found->id);
  });
}

std::vector<Reduction> parse_reductions(const std::string& text, const std::string& option) {
  const std::vector<Reduction> all(reductions().begin(), reductions().end());
  const auto called = [](Reduction each) { return name(each); };
  return parse_list(text, option, all, called, [](const std::string& word) -> std::optional<Reduction> {
    const Reduction* found = find_reduction(word);
    return found == nullptr ? std::nullopt : std::optional(*found);
  });
}

std::vector<std::string> operation_choices() {
  std::vector<std::string> names = names_and_all(collectives::measurable_operations(),
                                                 [](OperationId each) { return operation(each).option; });
  names.emplace(names.end() - 1, operation(OperationId::step).option);
  return names;
}

std::vector<std::string> type_choices() {
  return names_and_all(data_types(), [](const DataTypeTraits& each) { return each.name; });
}

std::vector<std::string> reduction_choices() {
  return names_and_all(reductions(), [](Reduction each) { return name(each); });
}

}  // namespace collbench::program
