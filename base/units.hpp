#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace collbench {

inline constexpr double kGigabyte = 1e9;      ///< GB in every GB/s that is printed
inline constexpr double kMicrosecond = 1e-6;  ///< seconds
inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;
inline constexpr std::uint64_t kGiB = 1024 * kMiB;

/// "8", "1.5M", "4KiB" (binary, as nccl-tests) or "100MB" (decimal) to bytes.
/// `option` is named in the error. Throws Error (usage) for anything else, for fractions of a byte and above
/// 2^63−1.
[[nodiscard]] std::uint64_t parse_size(std::string_view text, std::string_view option);

/// "1MB,100MB,1GB" to bytes, in the order given.
[[nodiscard]] std::vector<std::uint64_t> parse_size_list(std::string_view text, std::string_view option);

/// Bytes for people: "8 B", "64 KiB", "1.5 MiB"; three significant digits before a binary unit (four above
/// 999).
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

/// Seconds for people: "0.65 µs", "12.3 ms", "1 min 20 s"; "–" for what is no length of time.
[[nodiscard]] std::string format_seconds(double seconds);

/// `value` with `digits` significant digits and no exponent where it fits `width` characters: "0.0123",
/// "46.7", "12646".
[[nodiscard]] std::string format_significant(double value, int digits, int width);

/// A rate for people: "0.119 GB/s".
[[nodiscard]] std::string format_rate(double bytes_per_second);

/// "1 rank", "2 ranks".
[[nodiscard]] std::string counted_nouns(std::int64_t count, std::string_view noun);
template <std::integral Count>
[[nodiscard]] std::string counted(Count count, std::string_view noun) {
  return counted_nouns(static_cast<std::int64_t>(count), noun);
}

/// "0-2, 5, 7, 8": what follows each other in `ascending` as a range, from three on.
[[nodiscard]] std::string number_ranges(const std::vector<int>& ascending);

}  // namespace collbench
