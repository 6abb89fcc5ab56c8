#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/rank_activity.hpp"

namespace collbench::launch {

struct HostReport {
  int node = 0;
  std::vector<RankActivity> ranks;

  bool operator==(const HostReport&) const = default;
};

struct HostReply {
  std::uint64_t changes = 0;  ///< grows when ranks of any host went on
  bool is_said = false;       ///< the user was told that the run hangs: end without a word

  bool operator==(const HostReply&) const = default;
};

/// No report of so many ranks is longer: each of its texts is cut at 64 bytes, of which JSON makes at most 6
/// each.
[[nodiscard]] constexpr std::size_t max_report_bytes(std::size_t ranks) { return 256 + 2560 * ranks; }

/// JSON and text on one line, without its end.
[[nodiscard]] std::string report_line(const HostReport& report);
[[nodiscard]] std::string reply_line(const HostReply& reply);

/// None for any other text.
[[nodiscard]] std::optional<HostReport> report_from_line(std::string_view line);
[[nodiscard]] std::optional<HostReply> reply_from_line(std::string_view line);

}  // namespace collbench::launch
