#include "src/run/progress.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace collbench::program {

void ProgressLine::show(std::string_view text, double now_seconds) {
  constexpr double kSecondsBetween = 0.25;
  if (!shown_ || (dirty_ && now_seconds - last_seconds_ < kSecondsBetween)) return;
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
  dirty_ = true;
  last_seconds_ = now_seconds;
}

void ProgressLine::clear() {
  if (!dirty_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  dirty_ = false;
}

}  // namespace collbench::program
