#include "topology/guid.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/text_input.hpp"

namespace collbench {

std::optional<std::string> canonical_guid(std::string_view text) {
  std::string digits(text);
  digits.erase(std::remove(digits.begin(), digits.end(), ':'), digits.end());
  const auto value = parse_hex(digits);
  if (!value || *value == 0) return std::nullopt;
  return fmt::format("0x{:016x}", *value);
}

std::optional<std::string> swap_guid(std::string_view text) {
  const auto canonical = canonical_guid(text);
  if (!canonical) return std::nullopt;
  std::string swapped = "0x";
  for (std::size_t i = canonical->size(); i > 2; i -= 2) swapped += canonical->substr(i - 2, 2);
  return swapped;
}

}  // namespace collbench
