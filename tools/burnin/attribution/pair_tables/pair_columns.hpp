#pragma once
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text_input.hpp"
#include "tools/burnin/attribution/burnin_record.hpp"

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

/// The columns that say the same as `column` otherwise: medians and peaks beside means ("avg_busbw" and
/// "peak_busbw").
[[nodiscard]] std::vector<std::size_t> other_statistics(const std::vector<std::string>& heading,
                                                        std::size_t column);

/// The column that names one node or several in each row: node, nodes, host, hosts, hostname, nodelist.
[[nodiscard]] std::optional<std::size_t> nodes_column(const std::vector<std::string>& heading);

/// The first column that names rails (rail, nic, hca) and is not `used`.
[[nodiscard]] std::optional<std::size_t> rail_column(const std::vector<std::string>& heading,
                                                     const std::set<std::size_t>& used);

/// Bytes per second of one unit of a column of rates, and the unit in words: K, M, G or T, with or without i,
/// of bytes or bits a second. GB/s where its name has none.
[[nodiscard]] std::pair<double, std::string> unit_of_rates(std::string_view name);

/// Whether these lines are what nvbandwidth printed (its text, versions 0.1 to 0.8).
[[nodiscard]] bool is_nvbandwidth(const std::vector<Line>& lines);

/// Its matrix of GB/s between GPUs as lines that burnin_from_matrix reads, from row to column: GPUs are
/// called gpu0, gpu1, …, and a matrix of reads (`GPU(row) <- GPU(column)`) is turned. Of several the one that
/// `test` names, as the test or as "test: title". Throws Error (usage) of `file`, or of --column, for none
/// and for several.
[[nodiscard]] std::vector<Line> nvbandwidth_matrix(const std::vector<Line>& lines, const std::string& test,
                                                   const std::string& file);

/// Whether these lines are a matrix: a heading of at least three names, each of which heads a row below it;
/// or "rail 0, …" first, as burnin_matrix begins.
[[nodiscard]] bool is_pair_matrix(const std::vector<Line>& lines);

/// Its rates in GB/s, from row to column, as a record. Throws Error (usage) with the line of `file`.
[[nodiscard]] BurninRecord burnin_from_matrix(const std::vector<Line>& lines, const std::string& file);

}  // namespace collbench::analysis
