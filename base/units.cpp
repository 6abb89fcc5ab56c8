#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace collbench {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};

constexpr double kBinary = 1024.0;
constexpr double kDecimal = 1000.0;
// A lone letter is binary, as in nccl-tests; KB, MB, GB, TB are decimal.
constexpr std::array<Unit, 14> kUnits{{{"", 1},
                                       {"b", 1},
                                       {"k", kBinary},
                                       {"kib", kBinary},
                                       {"kb", kDecimal},
                                       {"m", kBinary* kBinary},
                                       {"mib", kBinary* kBinary},
                                       {"mb", kDecimal* kDecimal},
                                       {"g", kBinary* kBinary* kBinary},
                                       {"gib", kBinary* kBinary* kBinary},
                                       {"gb", kDecimal* kDecimal* kDecimal},
                                       {"t", kBinary* kBinary* kBinary* kBinary},
                                       {"tib", kBinary* kBinary* kBinary* kBinary},
                                       {"tb", kDecimal* kDecimal* kDecimal* kDecimal}}};

Error bad_size(std::string_view text, std::string_view option, std::string_view what) {
  return usage_error(
      std::string(option), fmt::format("size '{}' {}", text, what),
      "write bytes or a number with K, M, G (binary) or KB, MB, GB (decimal), such as 64K or 100MB");
}

}  // namespace

std::uint64_t parse_size(std::string_view text, std::string_view option) {
  const std::size_t number_length = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string number(text.substr(0, number_length));
  if (text.empty()) throw bad_size(text, option, "is empty");
  if (text.front() == '-') throw bad_size(text, option, "is negative");
  const auto digits = std::ranges::count_if(number, [](char c) { return c != '.'; });
  if (digits == 0 || static_cast<long>(number.size()) - digits > 1) {
    throw bad_size(text, option, "is not a number");
  }
  std::string suffix(text.substr(number_length));
  std::ranges::transform(suffix, suffix.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* unit = std::ranges::find(kUnits, suffix, &Unit::name);
  if (unit == kUnits.end()) {
    throw bad_size(text, option, fmt::format("has an unknown unit '{}'", text.substr(number_length)));
  }
  // On x86-64 long double holds every integer up to 2^64 exactly; elsewhere sizes above 2^53 may be rounded.
  const long double bytes = std::strtold(number.c_str(), nullptr) * static_cast<long double>(unit->bytes);
  if (bytes > static_cast<long double>(std::numeric_limits<std::int64_t>::max()))
    throw bad_size(text, option, "is too large");
  const auto rounded = std::round(bytes);
  // A decimal fraction such as 1.1K is not exact in binary: within a thousandth of a byte it is what was
  // meant.
  if (std::fabs(bytes - rounded) > 1e-3L) throw bad_size(text, option, "is not a whole number of bytes");
  return static_cast<std::uint64_t>(rounded);
}

std::vector<std::uint64_t> parse_size_list(std::string_view text, std::string_view option) {
  std::vector<std::uint64_t> sizes;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    sizes.push_back(parse_size(text.substr(start, comma - start), option));
    if (sizes.back() == 0) {
      throw usage_error(std::string(option), "0 bytes cannot be measured or expected",
                        "give sizes from 1 on");
    }
    start = comma + 1;
  }
  return sizes;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<std::pair<std::uint64_t, const char*>, 4> kSteps{
      {{1024 * kGiB, "TiB"}, {kGiB, "GiB"}, {kMiB, "MiB"}, {kKiB, "KiB"}}};
  for (const auto& [step, name] : kSteps) {
    if (bytes < step) continue;
    const double amount = static_cast<double>(bytes) / static_cast<double>(step);
    // 1000 to 1023 of a unit, and what rounds up to 1000, would get an exponent from three digits.
    return amount < 999.5 ? fmt::format("{:.3g} {}", amount, name) : fmt::format("{:.0f} {}", amount, name);
  }
  return fmt::format("{} B", bytes);
}

std::string format_seconds(double seconds) {
  if (std::isnan(seconds) || seconds < 0 || seconds >= 1e15) return "–";
  // The edges are where three digits round up to the next unit.
  if (seconds < 999.5e-6) return fmt::format("{:.3g} µs", seconds * 1e6);
  if (seconds < 999.5e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 59.95) return fmt::format("{:.3g} s", seconds);
  const long whole = std::lround(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string format_significant(double value, int digits, int width) {
  if (!std::isfinite(value)) return "–";
  if (value == 0) return "0";
  const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  const int decimals = std::max(0, digits - 1 - magnitude);
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (static_cast<int>(text.size()) > width) text = fmt::format("{:.{}e}", value, std::max(0, digits - 1));
  return text;
}

std::string format_rate(double bytes_per_second) {
  return format_significant(bytes_per_second / kGigabyte, 3, 7) + " GB/s";
}

std::string counted_nouns(std::int64_t count, std::string_view noun) {
  const bool hisses = noun.ends_with("s") || noun.ends_with("ch");
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : hisses ? "es" : "s");
}

std::string number_ranges(const std::vector<int>& ascending) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first < ascending.size();) {
    std::size_t end = first + 1;
    while (end < ascending.size() && ascending[end] == ascending[end - 1] + 1) ++end;
    const char* const between = end - first == 2 ? ", " : "-";
    parts.push_back(end - first == 1 ? fmt::format("{}", ascending[first])
                                     : fmt::format("{}{}{}", ascending[first], between, ascending[end - 1]));
    first = end;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace collbench
