#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/burnin/attribution/burnin_record.hpp"

namespace collbench::analysis {

/// What to read of a table of pairs.
struct PairTableChoice {
  std::string column;                                      ///< that has the rates; empty: by its name
  std::vector<std::pair<std::string, std::string>> where;  ///< only rows that have these cells: column, cell
};

/// Rates between nodes that another program measured, or that burnin_csv or burnin_matrix wrote, as a record
/// that attribute() judges. Two forms: a table with a heading that names two columns of nodes (from and to,
/// node_a and node_b, src and dst, ...), one of rates (busbw, bandwidth, GB/s, ...) and perhaps one of rails
/// (rail, nic, hca); or a matrix whose rows and columns are headed by the same names, from row to column.
/// Cells stand between tabs, commas, semicolons, bars or blanks; what they say: PairCollector::add. Of
/// several rates of one direction the quickest counts: company only adds time. Rows that are several
/// measurements of the same pairs, or of nodes that no pair joins, are refused. Throws Error (usage) with the
/// line of `file`.
[[nodiscard]] BurninRecord burnin_from_pairs(std::string_view text, const std::string& file,
                                             const PairTableChoice& choice);

}  // namespace collbench::analysis
