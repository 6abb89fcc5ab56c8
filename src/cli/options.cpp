#include "src/cli/option_values.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "collectives/operations.hpp"

namespace collbench::program {
namespace {

template <typename Names>
Error unknown(const std::string& option, const std::string& word, const Names& names) {
  return usage_error(option, fmt::format("'{}' is unknown", word),
                     fmt::format("choose among {}", fmt::join(names, ", ")));
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
      std::vector<std::string_view> names;
      for (const Value& each : all) names.push_back(name(each));
      names.emplace_back("all");
      throw unknown(option, word, names);
    }
    values.push_back(*value);
  }
  return values;
}

}  // namespace

std::vector<std::string> split_list(const std::string& text) { return CLI::detail::split(text, ','); }

std::string one_of(const std::string& text, const std::string& option,
                   const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), text) == known.end()) throw unknown(option, text, known);
  return text;
}

When parse_when(const std::string& text, const std::string& option) {
  static_cast<void>(one_of(text, option, {"auto", "always", "never"}));
  return text == "auto" ? When::automatic : text == "always" ? When::always : When::never;
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
    if (found == nullptr) return std::nullopt;
    return found->id;
  });
}

std::vector<Reduction> parse_reductions(const std::string& text, const std::string& option) {
  const std::vector<Reduction> all(reductions().begin(), reductions().end());
  const auto called = [](Reduction each) { return name(each); };
  return parse_list(text, option, all, called, [](const std::string& word) -> std::optional<Reduction> {
    const Reduction* found = find_reduction(word);
    if (found == nullptr) return std::nullopt;
    return *found;
  });
}

}  // namespace collbench::program
