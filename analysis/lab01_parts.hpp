#pragma once
#include <string>
#include <string_view>

namespace collbench {

/// The ceilings that bound all of an algorithm's rows.
inline constexpr std::string_view kRingCeiling = "ring AllReduce, busbw";
inline constexpr std::string_view kTreeCeiling = "tree AllReduce, busbw";

/// An upper bound of busbw and how it comes about.
struct Ceiling {
  std::string what;        ///< "NVLink of a GPU"
  std::string arithmetic;  ///< "18 links × 20.6 GB/s"
  double bytes_per_second = 0;
  std::string source;

  bool operator==(const Ceiling&) const = default;
};

/// Something that is looked at before a number is believed.
struct PrecedingCheck {
  std::string question;
  std::string answer;
  bool good = true;  ///< false: not as it should be, or not known

  bool operator==(const PrecedingCheck&) const = default;
};

}  // namespace collbench
