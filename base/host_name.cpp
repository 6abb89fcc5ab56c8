#include "base/host_name.hpp"

#include <unistd.h>

#include <array>

#include "base/text_input.hpp"
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

std::string host_key(std::string_view name) { return lower(name.substr(0, name.find('.'))); }

bool is_same_host(const std::string& x, const std::string& y) { return host_key(x) == host_key(y); }

}  // namespace collbench
