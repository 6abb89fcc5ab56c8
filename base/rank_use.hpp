#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace collbench {

/// What the process of a rank was given while a run measured: a core to run on, and a network that delivers.
struct RankUse {
  double ran_seconds = 0;              ///< that its main thread was on a core
  double waited_seconds = 0;           ///< that it was ready to run, while others had its cores
  std::uint64_t tcp_sent_bytes = 0;    ///< over its TCP connections, those sent again among them
  std::uint64_t tcp_resent_bytes = 0;  ///< sent again: lost, or taken for lost

  bool operator==(const RankUse&) const = default;
};

/// "collbench rank use: [[ran, waited, sent, sent again], …]", by rank: what `--rank-use` says on stderr.
[[nodiscard]] std::string rank_use_line(const std::vector<RankUse>& uses);

/// The uses of the last such line of a launch's stderr; empty where there is none that can be read.
[[nodiscard]] std::vector<RankUse> rank_uses_in(std::string_view said);

}  // namespace collbench
