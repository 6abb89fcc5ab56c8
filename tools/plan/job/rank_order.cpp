#include "tools/plan/job/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/text_input.hpp"

namespace collbench::analysis {
namespace {

constexpr std::array<std::string_view, 5> kDimensionNames{"tp", "cp", "ep", "dp", "pp"};

std::optional<Dimension> dimension_of(std::string_view word) {
  const auto* const found = std::ranges::find(kDimensionNames, word);
  if (found == kDimensionNames.end()) return std::nullopt;
  return static_cast<Dimension>(found - kDimensionNames.begin());
}

Error order_error(const std::string& option, const std::string& what) {
  return usage_error(option, what, "give tp, cp, ep, dp and pp, the innermost first: tp-cp-ep-dp-pp");
}

}  // namespace

std::string_view name(Dimension dimension) { return kDimensionNames.at(static_cast<std::size_t>(dimension)); }

std::string words(const RankOrder& order) {
  std::string text;
  for (const Dimension each : order) text += fmt::format("{}{}", text.empty() ? "" : "-", name(each));
  return text;
}

RankOrder parse_rank_order(std::string_view text, const std::string& option) {
  std::vector<Dimension> order;
  for (const std::string& word : split_cells(std::string(text), '-')) {
    const std::optional<Dimension> dimension = dimension_of(word);
    if (!dimension) throw order_error(option, fmt::format("'{}' is no kind of parallelism", word));
    if (std::ranges::find(order, *dimension) != order.end())
      throw order_error(option, fmt::format("{} is there twice", word));
    order.push_back(*dimension);
  }
  for (const Dimension each : {Dimension::cp, Dimension::ep}) {
    if (std::ranges::find(order, each) != order.end()) continue;
    const auto before = static_cast<Dimension>(static_cast<int>(each) - 1);
    const auto at = std::ranges::find(order, before);
    order.insert(at == order.end() ? at : at + 1, each);
  }
  RankOrder result{};
  if (order.size() != result.size()) throw order_error(option, fmt::format("'{}' lacks one of them", text));
  std::ranges::copy(order, result.begin());
  return result;
}

}  // namespace collbench::analysis
