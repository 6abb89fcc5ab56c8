#pragma once
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace collbench::analysis {

/// The two columns of a table of pairs that name its nodes.
struct PairEnds {
  std::size_t from = 0;
  std::size_t to = 0;
  bool directed = false;  ///< by their names: from and to are, node_a and node_b are not

  bool operator==(const PairEnds&) const = default;
};

/// By the names of its columns: from and to, src and dst, source and destination, sender and receiver, client
/// and server; a and b, 1 and 2 (with "node" or "host" before or behind). None for no such two.
[[nodiscard]] std::optional<PairEnds> pair_ends(const std::vector<std::string>& heading);

/// The column that is called `name`. Throws Error (usage) of `option` with the names there are.
[[nodiscard]] std::size_t column_named(const std::vector<std::string>& heading, const std::string& name,
                                       const std::string& option);

/// The column of rates: the one that is called `named` where that is not empty; else the one whose name says
/// so (busbw before others, then means and medians before others; bandwidth, bw, throughput, or a unit such
/// as GB/s), and not those of links, limits, errors or messages. Throws Error (usage) for none, and for
/// several.
[[nodiscard]] std::size_t rate_column(const std::vector<std::string>& heading, const std::string& named,
                                      const PairEnds& ends, const std::string& file);

/// The first column that names rails (rail, nic, hca) and is not `used`.
[[nodiscard]] std::optional<std::size_t> rail_column(const std::vector<std::string>& heading,
                                                     const std::set<std::size_t>& used);

/// Bytes per second of one unit of a column of rates, and the unit in words: K, M, G or T, with or without i,
/// of bytes or bits a second. GB/s where its name has none.
[[nodiscard]] std::pair<double, std::string> unit_of_rates(std::string_view name);

}  // namespace collbench::analysis
