#include "launch/ranks.hpp"

#include <cstdint>

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

}  // namespace collbench::launch
