#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"

namespace collbench {

/// How much each rank sends to each in an AllToAllv. Only the ratios of the weights matter: the size of a row
/// says what the fullest rank moves.
struct TrafficMatrix {
  std::string source;           ///< where it comes from, for a reader
  int ranks = 0;                ///< rows, and columns
  std::vector<double> weights;  ///< by sender, then by receiver; finite, at least 0, not all 0

  [[nodiscard]] double weight(int from, int to) const {
    return weights[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) +
                   static_cast<std::size_t>(to)];
  }

  bool operator==(const TrafficMatrix&) const = default;
};

/// What alltoallv_perf of nccl-tests 2.19.6 runs when it is told nothing (src/alltoallv.cu): rank i sends to
/// rank j in proportion to (j − i) mod p, so nothing to itself, and all ranks move the same. One rank sends
/// to itself.
[[nodiscard]] TrafficMatrix traffic_by_distance(int ranks);

/// A square of numbers as `--counts` takes it (docs/formats.md): line by line what one rank sends to each, in
/// words between blanks or commas; "#" begins a comment. Throws Error (usage) that names `file` and the line.
[[nodiscard]] TrafficMatrix parse_traffic_matrix(std::string_view text, const std::string& file);

/// The most that one rank sends or receives, in the unit of the weights.
[[nodiscard]] double fullest_weight(const TrafficMatrix& traffic);

/// Elements from `from` to `to` when the fullest rank has about `count` in all: rounded down to a multiple of
/// `pack`, but at least one `pack` wherever the weight is not 0, and none at all when `count` is 0. `fullest`
/// is fullest_weight.
[[nodiscard]] std::uint64_t traffic_elements(const TrafficMatrix& traffic, double fullest, int from, int to,
                                             std::uint64_t count, std::uint64_t pack);

/// As an object whose weights are one array per sender.
[[nodiscard]] Json traffic_matrix_to_json(const TrafficMatrix& traffic);

/// Throws Error (usage) that names the place in the file.
[[nodiscard]] TrafficMatrix traffic_matrix_from_json(const JsonReader& json);

}  // namespace collbench
