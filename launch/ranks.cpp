#include "launch/ranks.hpp"

#include <algorithm>

namespace collbench::launch {

using Length = std::uint32_t;

std::string packed(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    const auto length = static_cast<Length>(text.size());
    all += bytes_of(std::span<const Length>(&length, 1));
    all += text;
  }
  return all;
}

std::vector<std::string> unpacked(std::string_view text) {
  std::vector<std::string> texts;
  while (text.size() >= sizeof(Length)) {
    Length length = 0;
    std::memcpy(&length, text.data(), sizeof length);
    text.remove_prefix(sizeof length);
    texts.emplace_back(text.substr(0, length));
    text.remove_prefix(texts.back().size());
  }
  return texts;
}

void combine(std::span<double> values, std::span<const double> others, RankAggregate how) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    switch (how) {
      case RankAggregate::minimum:
        values[i] = std::min(values[i], others[i]);
        break;
      case RankAggregate::maximum:
        values[i] = std::max(values[i], others[i]);
        break;
      case RankAggregate::average:
        values[i] += others[i];
        break;
      case RankAggregate::rank0:
        break;
    }
  }
}

}  // namespace collbench::launch
