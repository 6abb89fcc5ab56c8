#include "tools/burnin/attribution/pair_tables/pair_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/units.hpp"
#include "tools/burnin/attribution/pair_tables/delimited_text.hpp"
#include "tools/burnin/attribution/pair_tables/pair_collector.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMinNames = 3;

/// "rail 3, GB/s from each row to each column", as burnin_matrix heads the rows of a rail.
std::optional<int> rail_heading(const std::string& line) {
  if (!line.starts_with("rail ")) return std::nullopt;
  const auto number = leading_number(std::string_view(line).substr(5));
  return number && *number < kMaxRails ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

/// The names that head the columns, where all of them head rows below line `heading` as well. The cell above
/// the rows' names may be missing, or hold anything.
std::vector<std::string> matrix_names(const std::vector<Line>& lines, std::size_t heading) {
  const char separator = cell_separator(lines[heading].text);
  std::vector<std::string> names = delimited_cells(lines[heading].text, separator);
  std::set<std::string> heads;
  for (std::size_t i = heading + 1; i < lines.size() && !rail_heading(lines[i].text); ++i) {
    const std::vector<std::string> cells = delimited_cells(lines[i].text, separator);
    if (!cells.empty()) heads.insert(cells.front());
  }
  while (!names.empty() && names.back().empty()) names.pop_back();
  if (!names.empty() && (names.front().empty() || !heads.contains(names.front()))) names.erase(names.begin());
  const bool all = names.size() >= kMinNames && std::ranges::all_of(names, [&heads](const auto& name) {
                     return !name.empty() && heads.contains(name);
                   });
  return all ? names : std::vector<std::string>{};
}

/// Adds the cells of a row, which its first one names. Of a row of blanks the cell of a node with itself may
/// be empty, and leaves no trace.
void add_row(PairCollector& pairs, std::vector<std::string> cells, const std::vector<std::string>& names,
             int rail, bool by_blanks, double unit, const std::string& file, int line) {
  const auto at = std::ranges::find(names, cells.front());
  if (at == names.end())
    throw usage_error(location(file, line), fmt::format("'{}' heads no column", excerpt(cells.front())),
                      "check that the matrix is whole");
  const auto row = static_cast<std::size_t>(at - names.begin());
  while (cells.size() > names.size() + 1 && cells.back().empty()) cells.pop_back();
  const bool no_diagonal = by_blanks && cells.size() == names.size();
  if (cells.size() != names.size() + 1 && !no_diagonal)
    throw usage_error(location(file, line),
                      fmt::format("{} cells for {} nodes", cells.size() - 1, names.size()),
                      "check that the line is whole");
  for (std::size_t column = 0; column < names.size(); ++column) {
    if (column == row) continue;
    const std::size_t cell = 1 + column - (no_diagonal && column > row ? 1 : 0);
    pairs.add(pairs.node(names[row], line), pairs.node(names[column], line), rail, cells[cell], unit, line);
  }
}

}  // namespace

bool is_pair_matrix(const std::vector<Line>& lines) {
  return rail_heading(lines.front().text).has_value() || !matrix_names(lines, 0).empty();
}

BurninRecord burnin_from_matrix(const std::vector<Line>& lines, const std::string& file) {
  PairCollector pairs(file);
  int rail = 0;
  char separator = ' ';
  std::vector<std::string> names;
  std::pair<double, std::string> unit{kGigabyte, "GB/s"};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int line = lines[i].number;
    if (const auto number = rail_heading(lines[i].text)) {
      rail = *number;
      names.clear();
      continue;
    }
    if (names.empty()) {
      separator = cell_separator(lines[i].text);
      names = matrix_names(lines, i);
      if (names.empty())
        throw usage_error(location(file, line),
                          "it heads no matrix: its names are not those of the rows below",
                          "head columns and rows by the same names, three at least");
      const std::string corner = delimited_cells(lines[i].text, separator).front();
      if (const auto named = unit_of_rates(corner == names.front() ? "" : corner); named.first != kGigabyte)
        unit = named;
      pairs.know(names);
      for (const std::string& name : names) (void)pairs.node(name, line);
      continue;
    }
    const std::vector<std::string> cells = delimited_cells(lines[i].text, separator);
    if (!is_markdown_rule(cells))
      add_row(pairs, cells, names, rail, separator == ' ', unit.first, file, line);
  }
  const bool mirrored = pairs.directions() == PairCollector::Directions::one_each;
  return pairs.record(
      mirrored,
      fmt::format(
          "measured by others: {}, a matrix taken as {} from row to column{}{}; whether pairs ran beside "
          "others is not known",
          file, unit.second, pairs.other_names(),
          mirrored
              ? ", one half of it, taken for both directions, so sending and receiving are not told apart"
              : ""));
}

}  // namespace collbench::analysis
