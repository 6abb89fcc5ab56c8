#include "analysis/attribution/pair_tables/imported_pairs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "analysis/attribution/pair_tables/pair_columns.hpp"
#include "base/delimited_text.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr double kNominalBytes = kGigabyte;  // rates are compared; of how many bytes they are nobody says
constexpr int kMaxRails = 64;

struct Cells {
  std::vector<std::string> cells;
  int line = 1;
};

enum class Measured { rate, nothing, failure };

/// What a cell says; `rate` is set where it is one. None where it is neither a number nor a word of these.
std::optional<Measured> read_cell(std::string_view cell, double& rate) {
  const std::string word = lower(trim(cell));
  if (word.empty() || word == "-" || word == "–" || word == "n/a" || word == "na" || word == "nan")
    return Measured::nothing;
  for (const std::string_view failed : {"x", "fail", "failed", "error", "timeout", "hang", "inf"})
    if (word == failed) return Measured::failure;
  const auto number = leading_number(word);
  if (!number) return std::nullopt;
  constexpr double kMinRate = 1e-9, kMaxRate = 1e9;  // no link is outside, in any unit
  rate = *number;
  if (rate > 0 && (rate < kMinRate || rate > kMaxRate)) return std::nullopt;
  return rate > 0 ? Measured::rate : Measured::failure;
}

/// Collects directions into a record.
class Pairs {
 public:
  explicit Pairs(const std::string& file) : file_(file) {}

  int node(const std::string& name, int line) {
    if (name.empty() || name.find_first_of(", \t") != std::string::npos)
      throw usage_error(location(file_, line), fmt::format("'{}' is no node's name", excerpt(name)),
                        "give names without blanks and commas");
    const auto [at, added] = numbers_.try_emplace(name, static_cast<int>(numbers_.size()));
    if (added) record_.table.nodes.push_back(name);
    return at->second;
  }

  void add(int from, int to, int rail, std::string_view cell, double unit, int line) {
    if (from == to) return;
    double rate = 0;
    const auto measured = read_cell(cell, rate);
    if (!measured) {
      throw usage_error(location(file_, line), fmt::format("'{}' is no rate", excerpt(cell)),
                        "a cell is a number, - where nothing was measured, or x where it failed");
    }
    if (*measured == Measured::nothing) return;
    record_.table.rails = std::max(record_.table.rails, rail + 1);
    if (*measured == Measured::failure) {
      record_.failures.push_back({from, to, rail, "no time: " + location(file_, line)});
      return;
    }
    double& quickest = rates_[{from, to, rail}];
    quickest = std::max(quickest, rate * unit);
  }

  /// Whether both directions of any pair were measured.
  [[nodiscard]] bool both_ways() const {
    return std::any_of(rates_.begin(), rates_.end(), [this](const auto& direction) {
      const auto& [from, to, rail] = direction.first;
      return rates_.contains({to, from, rail});
    });
  }

  BurninRecord record(bool directed, const std::string& source) {
    for (const auto& [direction, rate] : rates_) {
      const auto& [from, to, rail] = direction;
      record_.table.times.push_back({from, to, rail, kNominalBytes / rate, false});
      if (!directed) record_.table.times.push_back({to, from, rail, kNominalBytes / rate, false});
    }
    record_.bytes = kNominalBytes;
    record_.planned = static_cast<int>(rates_.size() + record_.failures.size());
    record_.source = source;
    require_comparable();
    return record_;
  }

 private:
  void require_comparable() const {
    const std::size_t nodes = record_.table.nodes.size();
    if (nodes <= slot_of(kMinPartners)) {
      throw usage_error(file_,
                        fmt::format("{} nodes cannot be told apart: each needs {} others to be judged", nodes,
                                    kMinPartners),
                        fmt::format("give the pairs of at least {}", kMinPartners + 1));
    }
    std::vector<int> group(nodes);
    std::iota(group.begin(), group.end(), 0);
    const auto root = [&group](int node) {
      while (group[slot_of(node)] != node) node = group[slot_of(node)];
      return node;
    };
    for (const RailTime& time : record_.table.times) group[slot_of(root(time.from))] = root(time.to);
    for (int node = 1; node < static_cast<int>(nodes); ++node) {
      const bool failed = std::any_of(record_.failures.begin(), record_.failures.end(),
                                      [node](const auto& pair) { return pair.a == node || pair.b == node; });
      if (failed || root(node) == root(0)) continue;
      throw usage_error(file_,
                        fmt::format("no chain of pairs joins {} and {}: they cannot be compared",
                                    record_.table.nodes.front(), record_.table.nodes[slot_of(node)]),
                        "give the pairs of one cluster, or choose its rows with --where COLUMN=CELL");
    }
  }

  std::string file_;
  BurninRecord record_{};
  std::map<std::string, int> numbers_;
  std::map<std::tuple<int, int, int>, double> rates_;  ///< from, to, rail: bytes per second
};

/// "test is alltoall_perf or sendrecv_perf; G_per_node is 1, 2 or 4": the columns that tell apart rows of the
/// same pair. A number with a fraction is measured, and tells nothing apart.
std::string differing_columns(const std::vector<std::string>& heading, const std::vector<const Cells*>& same,
                              const std::set<std::size_t>& used) {
  std::vector<std::string> columns;
  for (std::size_t column = 0; column < heading.size(); ++column) {
    if (used.contains(column)) continue;
    std::vector<std::string> values;
    for (const Cells* row : same) {
      const std::string value = column < row->cells.size() ? row->cells[column] : "";
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
    const bool measured = std::any_of(values.begin(), values.end(), [](const std::string& value) {
      return leading_number(value) && value.find('.') != std::string::npos;
    });
    if (values.size() < 2 || measured) continue;
    if (values.size() > 4) values.resize(4);
    columns.push_back(fmt::format("{} is {}", heading[column], fmt::join(values, ", ")));
  }
  return fmt::format("{}", fmt::join(columns, "; "));
}

BurninRecord from_table(const std::vector<Cells>& lines, const std::string& file, const PairEnds& ends,
                        const PairTableChoice& choice) {
  const std::vector<std::string>& heading = lines.front().cells;
  const std::size_t rates = rate_column(heading, choice.column, ends, file);
  std::set<std::size_t> used{ends.from, ends.to, rates};
  const std::optional<std::size_t> rails = rail_column(heading, used);
  if (rails) used.insert(*rails);

  std::vector<std::pair<std::size_t, std::string>> wanted;
  for (const auto& [column, cell] : choice.where) {
    wanted.emplace_back(column_named(heading, column, "--where"), cell);
    used.insert(wanted.back().first);
  }
  const auto [unit, unit_name] = unit_of_rates(heading[rates]);
  Pairs pairs(file);
  std::map<std::string, int> rail_numbers;
  std::map<std::tuple<int, int, int>, std::vector<const Cells*>> seen;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const Cells& row = lines[i];
    if (i == 1 && is_markdown_rule(row.cells)) continue;
    if (row.cells.size() <= std::max({ends.from, ends.to, rates})) {
      throw usage_error(location(file, row.line),
                        fmt::format("{} cells, where the heading has {}", row.cells.size(), heading.size()),
                        "check that the line is whole");
    }
    const bool is_wanted = std::all_of(wanted.begin(), wanted.end(), [&row](const auto& cell) {
      return cell.first < row.cells.size() && row.cells[cell.first] == cell.second;
    });
    if (!is_wanted) continue;
    int rail = 0;
    if (rails && *rails < row.cells.size()) {
      const std::string& cell = row.cells[*rails];
      const auto number = parse_integer(cell, 0, kMaxRails - 1);
      rail = number ? static_cast<int>(*number)
                    : rail_numbers.try_emplace(cell, static_cast<int>(rail_numbers.size())).first->second;
      if (rail >= kMaxRails)
        throw usage_error(location(file, row.line), "more than 64 rails", "check the column of rails");
    }
    const int from = pairs.node(row.cells[ends.from], row.line);
    const int to = pairs.node(row.cells[ends.to], row.line);
    std::vector<const Cells*>& same = seen[{from, to, rail}];
    same.push_back(&row);
    if (same.size() > 1) {
      if (const std::string apart = differing_columns(heading, same, used); !apart.empty())
        throw usage_error(location(file, row.line),
                          fmt::format("{} and {} stand there more than once: {}", row.cells[ends.from],
                                      row.cells[ends.to], apart),
                          "choose one measurement with --where COLUMN=CELL");
    }
    pairs.add(from, to, rail, row.cells[rates], unit, row.line);
  }
  if (seen.empty()) {
    throw usage_error(file,
                      choice.where.empty() ? "the heading has no rows" : "no row has the cells of --where",
                      choice.where.empty() ? "check that the file is whole"
                                           : "check the cells; they are compared as they stand");
  }
  const bool directed = ends.directed || pairs.both_ways();
  std::vector<std::string> chosen;
  for (const auto& [column, cell] : choice.where) chosen.push_back(fmt::format("{} {}", column, cell));
  std::vector<std::string> named;
  for (const auto& [name, number] : rail_numbers) named.push_back(fmt::format("rail {} is {}", number, name));
  return pairs.record(
      directed,
      fmt::format(
          "measured by others: {}, column {} in {}{}{}; {}; whether pairs ran beside others is not known",
          file, heading[rates], unit_name,
          chosen.empty() ? "" : fmt::format(", rows of {}", fmt::join(chosen, " and ")),
          named.empty() ? "" : fmt::format("; {}", fmt::join(named, ", ")),
          directed ? "each direction has its own rate"
                   : "a pair has one rate, taken for both directions, so sending and receiving are not told "
                     "apart"));
}

/// The names that head the columns of a matrix whose rows `next` begins: with or without a cell above the
/// rows' names. Empty for no matrix.
std::vector<std::string> matrix_names(std::vector<std::string> heading,
                                      const std::vector<std::string>& next) {
  if (heading.size() < 2 || next.empty()) return {};
  const auto is_node = [&heading](const std::string& name) {
    return !name.empty() && std::find(heading.begin(), heading.end(), name) != heading.end();
  };
  if (!is_node(next.front())) return {};
  if (next.front() != heading.front()) heading.erase(heading.begin());
  return next.front() == heading.front() ? heading : std::vector<std::string>{};
}

/// "rail 3, GB/s from each row to each column", as burnin_matrix heads the rows of a rail.
std::optional<int> rail_heading(const std::string& line) {
  if (!line.starts_with("rail ")) return std::nullopt;
  const auto number = leading_number(std::string_view(line).substr(5));
  return number && *number < kMaxRails ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

BurninRecord from_matrix(const std::vector<Line>& lines, const std::string& file) {
  Pairs pairs(file);
  int rail = 0;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const auto number = rail_heading(lines[i].text)) {
      rail = *number;
      names.clear();
      continue;
    }
    const char separator = cell_separator(lines[i].text);
    std::vector<std::string> cells = delimited_cells(lines[i].text, separator);
    if (is_markdown_rule(cells)) continue;
    if (names.empty()) {
      const bool rule =
          i + 1 < lines.size() && is_markdown_rule(delimited_cells(lines[i + 1].text, separator));
      const std::size_t next = i + (rule ? 2 : 1);
      if (next < lines.size()) names = matrix_names(cells, delimited_cells(lines[next].text, separator));
      if (names.empty())
        throw usage_error(location(file, lines[i].number), "it is no heading of a matrix",
                          "head columns and rows by the same names");
      for (const std::string& name : names) (void)pairs.node(name, lines[i].number);
      continue;
    }
    const auto at = std::find(names.begin(), names.end(), cells.front());
    const std::size_t row = static_cast<std::size_t>(at - names.begin());
    // The cell of a node with itself may be missing, where blanks separate.
    const bool no_diagonal = cells.size() == names.size();
    if (at == names.end() || (cells.size() != names.size() + 1 && !no_diagonal)) {
      throw usage_error(location(file, lines[i].number),
                        at == names.end()
                            ? fmt::format("'{}' heads no column", excerpt(cells.front()))
                            : fmt::format("{} cells for {} nodes", cells.size() - 1, names.size()),
                        "check that the matrix is whole");
    }
    for (std::size_t column = 0; column < names.size(); ++column) {
      if (column == row) continue;
      const std::size_t cell = 1 + column - (no_diagonal && column > row ? 1 : 0);
      pairs.add(pairs.node(names[row], lines[i].number), pairs.node(names[column], lines[i].number), rail,
                cells[cell], kGigabyte, lines[i].number);
    }
  }
  return pairs.record(
      true, fmt::format("measured by others: {}, a matrix taken as GB/s from row to column; whether "
                        "pairs ran beside others is not known",
                        file));
}

}  // namespace

BurninRecord burnin_from_pairs(std::string_view text, const std::string& file,
                               const PairTableChoice& choice) {
  require_text(text, file, "the record of a burn-in, or a table or matrix of pairs");
  std::vector<Line> lines = clean_lines(text);
  std::erase_if(lines,
                [](const Line& line) { return trim(line.text).empty() || line.text.starts_with('#'); });
  if (lines.empty()) throw usage_error(file, "it has comments only", "check that it is the right file");
  const char separator = cell_separator(lines.front().text);
  std::vector<Cells> rows;
  for (const Line& line : lines) rows.push_back({delimited_cells(line.text, separator), line.number});
  if (const auto ends = pair_ends(rows.front().cells)) return from_table(rows, file, *ends, choice);
  const std::size_t below = rows.size() > 2 && is_markdown_rule(rows[1].cells) ? 2 : 1;
  const bool is_matrix =
      rail_heading(lines.front().text).has_value() ||
      (rows.size() > below && !matrix_names(rows.front().cells, rows[below].cells).empty());
  if (!is_matrix) {
    throw usage_error(
        location(file, lines.front().number),
        "it is neither a record of collbench burnin, nor a table with two columns of nodes, nor a matrix",
        "name the columns from and to, node_a and node_b, or src and dst");
  }
  if (!choice.column.empty() || !choice.where.empty())
    throw usage_error(choice.column.empty() ? "--where" : "--column", "a matrix has no such columns",
                      "leave it out");
  return from_matrix(lines, file);
}

}  // namespace collbench::analysis
