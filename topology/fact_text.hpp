#pragma once
#include <fmt/format.h>

#include <string>

#include "topology/path_type.hpp"

namespace collbench {

/// The value of a fact for a person: "H100", "yes", "PIX", "18".
[[nodiscard]] inline std::string fact_text(const std::string& value) { return value; }
[[nodiscard]] inline std::string fact_text(bool value) { return value ? "yes" : "no"; }
[[nodiscard]] inline std::string fact_text(PathType value) { return std::string(path_type_name(value)); }
template <class Number>
[[nodiscard]] std::string fact_text(Number value) {
  return fmt::format("{}", value);
}

}  // namespace collbench
