#include "base/host_name.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text_sinks.hpp"

namespace collbench {

std::string legal_host_name(std::string_view name) {
  constexpr std::size_t kMaxBytes = 255;  // is_host_name's
  if (name.empty()) return "localhost";
  std::string legal(name.substr(0, kMaxBytes));
  for (char& c : legal) {
    const bool is_inner = c == '-' || c == '.';  // legal behind the first letter
    if (!is_inner && !is_host_name({&c, 1})) c = '_';
  }
  if (!is_host_name(legal)) legal.front() = '_';
  return legal;
}

std::string own_host_name() {
  std::array<char, 256> name{};
  return legal_host_name(::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "");
}

bool is_same_host(const std::string& x, const std::string& y) {
  const std::string_view first = std::string_view(x).substr(0, x.find('.'));
  const std::string_view second = std::string_view(y).substr(0, y.find('.'));
  return std::equal(first.begin(), first.end(), second.begin(), second.end(), [](char left, char right) {
    return std::tolower(static_cast<unsigned char>(left)) == std::tolower(static_cast<unsigned char>(right));
  });
}

}  // namespace collbench
