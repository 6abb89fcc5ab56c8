#include "tools/burnin/attribution/pair_tables/imported_pairs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/text_input.hpp"
#include "base/units.hpp"
#include "tools/burnin/attribution/pair_tables/delimited_text.hpp"
#include "tools/burnin/attribution/pair_tables/pair_collector.hpp"
#include "tools/burnin/attribution/pair_tables/pair_columns.hpp"

namespace collbench::analysis {
namespace {

constexpr std::array<std::string_view, 10> kRepeatWords{"time",    "date",  "iter", "repeat", "round",
                                                        "attempt", "trial", "run",  "alone",  "index"};
constexpr std::size_t kMaxBytes = std::size_t{256} << 20U;  // 1,000 nodes of 8 rails, both ways, take 100 MB

struct Cells {
  std::vector<std::string> cells;
  int line = 1;
};

/// The rows that are wanted, each with as many cells as the heading.
std::vector<Cells> wanted_rows(const std::vector<Line>& lines, char separator,
                               const std::vector<std::string>& heading, const std::string& file,
                               const PairTableChoice& choice) {
  std::vector<std::pair<std::size_t, std::string>> wanted;
  for (const auto& [column, cell] : choice.where)
    wanted.emplace_back(column_named(heading, column, "--where"), cell);
  std::vector<Cells> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    Cells row{delimited_cells(lines[i].text, separator), lines[i].number};
    if (i == 1 && is_markdown_rule(row.cells)) continue;
    while (row.cells.size() > heading.size() && row.cells.back().empty()) row.cells.pop_back();
    if (row.cells.size() != heading.size()) {
      throw usage_error(location(file, row.line),
                        fmt::format("{} cells, where the heading has {}", row.cells.size(), heading.size()),
                        fmt::format("check that line and heading are whole, and what separates their cells{}",
                                    separator == ',' ? "; a decimal comma separates, too" : ""));
    }
    const bool is_wanted = std::ranges::all_of(
        wanted, [&row](const auto& cell) { return row.cells[cell.first] == cell.second; });
    if (is_wanted) rows.push_back(std::move(row));
  }
  if (rows.empty()) {
    throw usage_error(file, lines.size() == 1 ? "the heading has no rows" : "no row has the cells of --where",
                      lines.size() == 1 ? "check that the file is whole"
                                        : "check the cells; they are compared as they stand");
  }
  return rows;
}

/// Whether a cell says that its row's measurement failed, by the name of its column.
bool says_row_failed(const std::string& column, const std::string& cell) {
  constexpr std::array<std::string_view, 5> kStates{"status", "result", "state", "outcome", "verdict"};
  constexpr std::array<std::string_view, 8> kCounts{"wrong", "#wrong",    "errors",      "error",
                                                    "rc",    "exit_code", "exit_status", "returncode"};
  const std::string name = lower(column);
  if (std::ranges::find(kStates, name) != kStates.end()) return says_failure(cell);
  const auto count = leading_number(cell);
  return std::ranges::find(kCounts, name) != kCounts.end() && count && *count != 0;
}

/// Rows that failed by another column than that of their `rates` have none. "; 3 rows failed by status".
std::string leave_failed_out(std::vector<Cells>& rows, const std::vector<std::string>& heading,
                             const std::vector<std::size_t>& rates) {
  std::size_t failed = 0;
  std::set<std::string> by;
  for (Cells& row : rows) {
    bool is_failed = false;
    for (std::size_t column = 0; column < heading.size(); ++column) {
      if (!says_row_failed(heading[column], row.cells[column])) continue;
      is_failed = true;
      by.insert(heading[column]);
    }
    if (!is_failed) continue;
    ++failed;
    for (const std::size_t rate : rates) row.cells[rate] = "x";
  }
  return failed == 0 ? "" : fmt::format("; {} failed by {}", counted(failed, "row"), fmt::join(by, " and "));
}

/// Rails by what stands in their column: in the order of numbers where all are numbers, else as they appear.
std::map<std::string, int> rail_numbers(const std::vector<Cells>& rows, std::size_t column,
                                        const std::string& file) {
  std::vector<std::string> names;
  std::map<std::string, int> numbers;
  for (const Cells& row : rows) {
    if (!numbers.try_emplace(row.cells[column], 0).second) continue;
    names.push_back(row.cells[column]);
    if (names.size() > kMaxRails)
      throw usage_error(location(file, row.line), fmt::format("more than {} rails", kMaxRails),
                        "check the column of rails");
  }
  const auto number = [](const std::string& name) { return parse_integer(name, 0, 1'000'000); };
  if (std::all_of(names.begin(), names.end(), number))
    std::ranges::sort(names, [&](const auto& a, const auto& b) { return *number(a) < *number(b); });
  for (std::size_t rail = 0; rail < names.size(); ++rail) numbers[names[rail]] = static_cast<int>(rail);
  return numbers;
}

/// "; rail 0 is mlx5_0, rail 1 is mlx5_3"; empty where the numbers are those of the file.
std::string rail_words(const std::map<std::string, int>& numbers) {
  std::vector<std::string> names(numbers.size());
  for (const auto& [name, rail] : numbers) names[slot_of(rail)] = fmt::format("rail {} is {}", rail, name);
  const bool same = std::ranges::all_of(
      numbers, [](const auto& each) { return each.first == fmt::to_string(each.second); });
  return same ? "" : fmt::format("; {}", fmt::join(names, ", "));
}

/// Whether a column counts repeats of one measurement, or says when they were.
bool counts_repeats(const std::string& name) {
  const std::string lowered = lower(name);
  return std::any_of(std::begin(kRepeatWords), std::end(kRepeatWords),
                     [&lowered](std::string_view word) { return lowered.find(word) != std::string::npos; });
}

/// "test is alltoall_perf and sendrecv_perf": the columns that tell apart two rows of one pair. A number with
/// a fraction is measured, and tells nothing apart.
std::string differing_columns(const std::vector<std::string>& heading, const Cells& one, const Cells& other,
                              const std::set<std::size_t>& used) {
  const auto is_measured = [](const std::string& cell) {
    return leading_number(cell) && cell.find('.') != std::string::npos;
  };
  std::vector<std::string> columns;
  for (std::size_t column = 0; column < heading.size(); ++column) {
    const std::string& a = one.cells[column];
    const std::string& b = other.cells[column];
    if (a == b || used.contains(column) || is_measured(a) || is_measured(b) ||
        counts_repeats(heading[column]))
      continue;
    columns.push_back(fmt::format("{} is {} and {}", heading[column], a, b));
  }
  return fmt::format("{}", fmt::join(columns, "; "));
}

/// Whether burnin_csv wrote it.
bool is_own(const std::vector<std::string>& heading) {
  return heading == std::vector<std::string>{"from", "to", "rail", "gigabytes_per_second", "alone", "repeat"};
}

/// The columns of a table of pairs.
struct TableColumns {
  std::vector<std::string> heading;
  std::size_t rates = 0;
  std::optional<std::size_t> rails{};
  std::vector<std::size_t> others{};  ///< other statistics of the same rates
  std::set<std::size_t> used{};
};

TableColumns table_columns(std::vector<std::string> heading, const PairTableChoice& choice,
                           const PairEnds& ends, const std::string& file) {
  TableColumns columns{std::move(heading)};
  columns.rates = rate_column(columns.heading, choice.column, ends, file);
  columns.used = {ends.from, ends.to, columns.rates};
  columns.rails = rail_column(columns.heading, columns.used);
  if (columns.rails) columns.used.insert(*columns.rails);
  for (const auto& [column, cell] : choice.where)
    columns.used.insert(column_named(columns.heading, column, "--where"));
  if (choice.column.empty()) columns.others = other_statistics(columns.heading, columns.rates);
  columns.used.insert(columns.others.begin(), columns.others.end());
  return columns;
}

/// "; most pairs have one rate, taken for both directions, …".
std::string direction_words(PairCollector::Directions directions, bool mirrored) {
  if (!mirrored || directions == PairCollector::Directions::both) return "; each direction has its own rate";
  return fmt::format(
      "; {}, taken for both directions, so sending and receiving are not told apart",
      directions == PairCollector::Directions::mixed ? "most pairs have one rate" : "a pair has one rate");
}

BurninRecord from_table(const std::vector<Line>& lines, const std::string& file,
                        const PairTableChoice& choice, const PairEnds& ends) {
  const char separator = cell_separator(lines.front().text);
  const TableColumns columns =
      table_columns(delimited_cells(lines.front().text, separator), choice, ends, file);
  std::vector<Cells> rows = wanted_rows(lines, separator, columns.heading, file, choice);
  std::vector<std::size_t> rates = columns.others;
  rates.push_back(columns.rates);
  const std::string failed = leave_failed_out(rows, columns.heading, rates);
  const auto numbers =
      columns.rails ? rail_numbers(rows, *columns.rails, file) : std::map<std::string, int>{};
  const auto [unit, unit_name] = unit_of_rates(columns.heading[columns.rates]);
  const bool own = is_own(columns.heading);

  PairCollector pairs(file);
  for (const Cells& row : rows) pairs.know({row.cells[ends.from], row.cells[ends.to]});
  std::vector<PairCollector> of_others(columns.others.size(), pairs);
  std::map<std::tuple<int, int, int>, const Cells*> seen;
  std::size_t again = 0;
  std::size_t with_itself = 0;
  for (const Cells& row : rows) {
    const int rail = columns.rails ? numbers.at(row.cells[*columns.rails]) : 0;
    const int from = pairs.node(row.cells[ends.from], row.line);
    const int to = pairs.node(row.cells[ends.to], row.line);
    for (PairCollector& other : of_others) {
      (void)other.node(row.cells[ends.from], row.line);
      (void)other.node(row.cells[ends.to], row.line);
    }
    if (from == to) {
      ++with_itself;
      continue;
    }
    if (own) {
      const auto repeat = parse_integer(row.cells[5], 0, 1'000'000);
      pairs.add_own({.from = from,
                     .to = to,
                     .rail = rail,
                     .alone = row.cells[4] == "1",
                     .repeat = static_cast<int>(repeat.value_or(0))},
                    row.cells[columns.rates], unit, row.line);
      continue;
    }
    const auto [first, is_new] = seen.try_emplace({from, to, rail}, &row);
    again += is_new ? 0 : 1;
    if (const std::string apart =
            is_new ? "" : differing_columns(columns.heading, *first->second, row, columns.used);
        !apart.empty())
      throw usage_error(location(file, row.line),
                        fmt::format("{} and {} stand there more than once: {}", row.cells[ends.from],
                                    row.cells[ends.to], apart),
                        "choose one measurement with --where COLUMN=CELL");
    pairs.add(from, to, rail, row.cells[columns.rates], unit, row.line);
    for (std::size_t i = 0; i < columns.others.size(); ++i)
      of_others[i].add(from, to, rail, row.cells[columns.others[i]], unit, row.line);
  }
  const PairCollector::Directions directions = pairs.directions();
  const bool mirrored = !own && (!ends.directed || directions == PairCollector::Directions::one_each);
  if (own) return pairs.record(mirrored, fmt::format("as {} has it, written by collbench burnin", file));
  std::vector<std::string> chosen;
  for (const auto& [column, cell] : choice.where) chosen.push_back(fmt::format("{} {}", column, cell));
  std::vector<std::string> also;
  for (const std::size_t other : columns.others) also.push_back(columns.heading[other]);
  BurninRecord record = pairs.record(
      mirrored,
      fmt::format(
          "measured by others: {}, column {} in {}{}{}{}{}{}{}{}; whether pairs ran beside others is not "
          "known{}",
          file, columns.heading[columns.rates], unit_name, failed,
          chosen.empty() ? "" : fmt::format(", rows of {}", fmt::join(chosen, " and ")), rail_words(numbers),
          direction_words(directions, mirrored),
          again == 0 ? ""
                     : fmt::format("; {} measured a pair again, and the quickest of a pair counts",
                                   counted(again, "row")),
          with_itself == 0 ? ""
                           : fmt::format("; {} of a node with itself left out", counted(with_itself, "row")),
          pairs.other_names(),
          also.empty()
              ? ""
              : fmt::format("; who is named has to be slow by {}, too", fmt::join(also, " and by "))));
  for (std::size_t i = 0; i < columns.others.size(); ++i) {
    if (auto times = of_others[i].times(mirrored); !times.empty())
      record.other_columns.push_back({columns.heading[columns.others[i]], std::move(times)});
  }
  return record;
}

/// "n1,n2", "n1;n2" or "n1+n2", and with blanks.
std::vector<std::string> names_in(std::string cell) {
  std::replace_if(cell.begin(), cell.end(), [](char at) { return at == ',' || at == ';' || at == '+'; }, ' ');
  return split_words(cell);
}

/// A rate of each node, or of groups of them: as phases nodes and groups measure them.
BurninRecord from_rates(const std::vector<Line>& lines, const std::string& file,
                        const PairTableChoice& choice, std::size_t nodes) {
  const char separator = cell_separator(lines.front().text);
  const std::vector<std::string> heading = delimited_cells(lines.front().text, separator);
  const std::size_t rates = rate_column(heading, choice.column, {nodes, nodes}, file);
  const auto [unit, unit_name] = unit_of_rates(heading[rates]);
  PairCollector cells(file);
  std::vector<GroupRate> groups;
  std::vector<GroupFailure> failures;
  std::set<std::vector<int>> seen;
  std::vector<Cells> rows = wanted_rows(lines, separator, heading, file, choice);
  const std::string failed = leave_failed_out(rows, heading, {rates});
  for (const Cells& row : rows) cells.know(names_in(row.cells[nodes]));
  for (const Cells& row : rows) {
    std::set<int> members;
    const std::vector<std::string> names = names_in(row.cells[nodes]);
    for (const std::string& name : names) members.insert(cells.node(name, row.line));
    const GroupLaunch launch{.phase = members.size() == 1 ? BurninPhase::nodes : BurninPhase::groups,
                             .nodes = {members.begin(), members.end()}};
    const std::string problem = names.empty() ? "no node is named"
                                : members.size() < names.size()
                                    ? excerpt(row.cells[nodes]) + " has a node twice"
                                : !seen.insert(launch.nodes).second
                                    ? excerpt(row.cells[nodes]) + " stands there twice" + cells.other_names()
                                    : "";
    if (!problem.empty())
      throw usage_error(location(file, row.line), problem,
                        "give each node or group one row, or choose rows with --where COLUMN=CELL");
    const std::optional<double> rate = cells.rate(row.cells[rates], unit, row.line);
    if (rate == 0)
      failures.push_back({launch, fmt::format("no rate in {}", location(file, row.line))});
    else if (rate)
      groups.push_back({launch, heading[rates], *rate, *rate});
  }
  if (groups.empty() && failures.empty())
    throw usage_error(file, "no cell has a rate", "check the column of rates");
  const bool single =
      std::ranges::all_of(groups, [](const GroupRate& one) { return one.launch.nodes.size() == 1; });
  BurninRecord record = cells.record_of_groups(fmt::format(
      "measured by others: {}, column {} in {}{}{}; {}", file, heading[rates], unit_name, failed,
      cells.other_names(),
      single
          ? "a rate of each node: tells which is slower than the others, and nothing of what is between them"
          : "groups of nodes: tells which group is slow, and not which of its nodes; other groups with the "
            "same nodes, halves of it, would"));
  record.groups = std::move(groups);
  record.group_failures = std::move(failures);
  return record;
}

}  // namespace

BurninRecord burnin_from_pairs(std::string_view text, const std::string& file,
                               const PairTableChoice& choice) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  require_text(text, file, "the record of a burn-in, or a table or matrix of pairs", kMaxBytes);
  std::vector<Line> lines = clean_lines(text);
  std::erase_if(lines,
                [](const Line& line) { return trim(line.text).empty() || line.text.starts_with('#'); });
  if (lines.empty()) throw usage_error(file, "it has comments only", "check that it is the right file");
  if (is_nvbandwidth(lines)) {
    if (!choice.where.empty()) throw usage_error("--where", "a matrix has no such columns", "leave it out");
    BurninRecord record = burnin_from_matrix(nvbandwidth_matrix(lines, choice.column, file), file);
    record.source +=
        "; its nodes are the GPUs of one host, so what is said of a NIC, a cable or a host is of a GPU, its "
        "NVLinks or its PCIe link";
    return record;
  }
  if (is_pair_matrix(lines)) {
    if (!choice.column.empty() || !choice.where.empty())
      throw usage_error(choice.column.empty() ? "--where" : "--column", "a matrix has no such columns",
                        "leave it out");
    return burnin_from_matrix(lines, file);
  }
  const std::vector<std::string> heading =
      delimited_cells(lines.front().text, cell_separator(lines.front().text));
  if (const auto ends = pair_ends(heading)) return from_table(lines, file, choice, *ends);
  if (const auto nodes = nodes_column(heading)) return from_rates(lines, file, choice, *nodes);
  throw usage_error(
      location(file, lines.front().number),
      "it is neither a record of collbench burnin, nor a table with two columns of nodes, nor a matrix",
      "name the columns from and to, node_a and node_b, or src and dst; or node, or nodes, of a rate each");
}

}  // namespace collbench::analysis
