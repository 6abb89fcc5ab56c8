#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace collbench {

/// "2.23.4" of 22304, and "2.8.4" of 2804 (NCCL_VERSION_CODE, nccl.h).
[[nodiscard]] inline std::string nccl_version_text(std::int64_t code) {
  constexpr std::int64_t kFirstWithFiveDigits = 10000;  // 2.9
  const std::int64_t minor = code < kFirstWithFiveDigits ? 10 : 100;
  return fmt::format("{}.{}.{}", code / (100 * minor), code / 100 % minor, code % 100);
}

}  // namespace collbench
