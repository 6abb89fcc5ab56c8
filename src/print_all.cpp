#include "src/print_all.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"

namespace collbench {

void print_all(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw usage_error("stdout", std::strerror(errno), "give it somewhere to write to");
}

}  // namespace collbench
