#pragma once
#include <fmt/format.h>

#include <charconv>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/record/data_type.hpp"
#include "base/record/operation.hpp"
#include "src/options/run_options.hpp"

// The texts of options as values. Each throws Error (usage) that names the option and what it takes.

namespace collbench::program {

/// A number from `least` to `most`; the whole text must be one.
template <typename Number>
[[nodiscard]] Number parse_number(const std::string& text, const std::string& option, Number least,
                                  Number most) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, value);
  // Written so that a NaN fails too.
  if (failure != std::errc() || stopped != end || !(value >= least && value <= most)) {
    throw usage_error(option, fmt::format("'{}' is not a number it takes", text),
                      fmt::format("give one from {} to {}", least, most));
  }
  return value;
}

/// `text`, when it is one of `known`.
[[nodiscard]] std::string one_of(const std::string& text, const std::string& option,
                                 const std::vector<std::string>& known);

/// auto, always or never.
[[nodiscard]] When parse_when(const std::string& text, const std::string& option);

/// A comma-separated list, or "all" for those that can be measured.
[[nodiscard]] std::vector<OperationId> parse_operations(const std::string& text, const std::string& option);

/// One operation, of those that can only be imported too.
[[nodiscard]] OperationId parse_operation(const std::string& text, const std::string& option);

[[nodiscard]] std::vector<DataType> parse_types(const std::string& text, const std::string& option);

[[nodiscard]] std::vector<Reduction> parse_reductions(const std::string& text, const std::string& option);

/// The words between commas.
[[nodiscard]] std::vector<std::string> split_list(const std::string& text);

}  // namespace collbench::program
