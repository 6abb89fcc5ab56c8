#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/report/columns.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/sections.hpp"
#include "base/document/text_layout.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kPaddingBytes = 4;  ///< before a cell, about
constexpr int kNarrowTable = 80;          ///< columns of the table that leaves most out

int line_width(const TextOptions& options) { return std::max(options.columns, kNarrowTable); }

std::string paint(const std::string& text, Tone tone, const TextOptions& options) {
  if (!options.color || tone == Tone::plain) return text;
  const int code = tone == Tone::quiet ? 2 : tone == Tone::warning ? 33 : 31;  // ECMA-48: faint, yellow, red
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

/// A fact as lines that begin with "#". The newline stays outside the paint.
std::string wrapped_line(const ReportLine& fact, const TextOptions& options) {
  std::string lines = wrap(fact.text, line_width(options), "# ", "#   ");
  lines.pop_back();
  return paint(lines, fact.tone, options) + "\n";
}

std::string wrapped_lines(const ReportLines& facts, const TextOptions& options) {
  std::string lines;
  for (const ReportLine& fact : facts) lines += wrapped_line(fact, options);
  return lines;
}

/// A column that this page shows, with the width of its widest cell.
struct PageColumn {
  ReportColumn column;
  int width;
};

/// The columns that there is room for, and the cells of all rows: a run of a log may have a million.
struct Page {
  std::vector<PageColumn> columns;
  std::string cells;                    ///< row after row, each cell with a NUL behind it
  std::vector<std::size_t> row_starts;  ///< in `cells`
};

/// Columns of the page from which a table shows `column`: those that only some tables have take their room
/// from those that a narrow page leaves out.
int min_page(const ReportColumn& column, const std::vector<const ReportColumn*>& shown) {
  if (column.min_page == 0 || column.wanted != nullptr) return column.min_page;
  int more = 0;
  for (const ReportColumn* const each : shown) {
    if (each->wanted != nullptr) more += each->min_width + 1;
  }
  return column.min_page + more;
}

/// The widths come from all rows of the run, so that the tables of all operations line up.
Page page_of(const std::vector<const ReportColumn*>& shown, const std::vector<ReportRow>& rows,
             const TextOptions& options) {
  Page page;
  for (const ReportColumn* const column : shown) {
    if (min_page(*column, shown) <= options.columns) page.columns.push_back({*column, column->min_width});
  }
  page.row_starts.reserve(rows.size());
  for (const ReportRow& row : rows) {
    page.row_starts.push_back(page.cells.size());
    for (PageColumn& column : page.columns) {
      const std::string cell = column.column.cell(row);
      column.width = std::max(column.width, display_width(cell));
      page.cells.append(cell).push_back('\0');
    }
  }
  return page;
}

std::vector<ReportRow> rows_that_ran(const Run& run) {
  std::vector<ReportRow> rows;
  rows.reserve(run.rows.size());
  for (const Row& row : run.rows) {
    if (row.measurement.unavailable.empty()) {
      rows.push_back({row, rates(row, static_cast<int>(run.ranks.size()))});
    }
  }
  return rows;
}

/// Adds a cell to the line: right-aligned, the last one left-aligned in what room is left.
void add_cell(std::string& line, int& used, std::string_view cell, const PageColumn& column, bool last,
              Tone tone, const TextOptions& options) {
  if (used > 0) line += ' ';
  used += used > 0 ? 1 : 0;
  if (last) {
    line += paint(shorten(cell, std::max(1, line_width(options) - used)), tone, options);
    return;
  }
  used += std::max(column.width, display_width(cell));
  line += paint(pad_left(cell, column.width), tone, options);
}

template <class CellOf>
void add_line(std::string& text, const std::vector<PageColumn>& page, const TextOptions& options,
              CellOf cell_of) {
  int used = 0;
  for (const PageColumn& column : page) {
    const auto [cell, tone] = cell_of(column.column);
    add_cell(text, used, cell, column, &column == &page.back(), tone, options);
  }
  text.erase(text.find_last_not_of(' ') + 1).push_back('\n');
}

/// The names of the groups over the first column of each.
std::string group_line(const std::vector<PageColumn>& page) {
  std::string line;
  int used = 0;
  std::string_view group;
  for (const PageColumn& column : page) {
    if (column.column.group != group) {
      group = column.column.group;
      if (!group.empty()) line = pad_right(line, used + column.width - 4) + std::string(group);
    }
    used += column.width + 1;
  }
  return line;
}

std::string heading_lines(const std::vector<PageColumn>& page, const TextOptions& options) {
  const auto line = [&](std::string_view ReportColumn::* part) {
    std::string text;
    add_line(text, page, TextOptions{.columns = options.columns},
             [&](const ReportColumn& column) { return std::pair(column.*part, Tone::plain); });
    text.pop_back();
    text.front() = '#';
    return paint(text, Tone::quiet, options) + "\n";
  };
  std::string groups = group_line(page);
  groups.front() = '#';
  return paint(groups, Tone::quiet, options) + "\n" + line(&ReportColumn::title) + line(&ReportColumn::unit);
}

/// The rows of one operation under their headings; nothing where none ran.
void add_rows(std::string& text, const Page& page, const std::vector<ReportRow>& rows, OperationId id,
              const TextOptions& options) {
  bool has_heading = false;
  text.reserve(text.size() + page.cells.size() + rows.size() * page.columns.size() * kPaddingBytes);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].row.measurement.key.operation != id) continue;
    if (!std::exchange(has_heading, true)) text += heading_lines(page.columns, options);
    std::string_view cells = std::string_view(page.cells).substr(page.row_starts[i]);
    add_line(text, page.columns, options, [&](const ReportColumn& column) {
      const std::string_view cell = cells.substr(0, cells.find('\0'));
      cells.remove_prefix(cell.size() + 1);
      return std::pair(cell, column.tone != nullptr ? column.tone(rows[i]) : Tone::plain);
    });
  }
}

/// The rows of all operations as they are laid out, and their calls' distribution where it is asked for.
struct Tables {
  std::vector<ReportRow> rows;
  Page measured;
  Page percentiles;
};

Tables tables_of(const Run& run, const TextOptions& options) {
  Tables tables{rows_that_ran(run), {}, {}};
  tables.measured = page_of(columns_for(run, tables.rows), tables.rows, options);
  if (options.percentiles)
    tables.percentiles = page_of(percentile_columns(tables.rows), tables.rows, options);
  return tables;
}

/// The tables of one operation, its title first.
void add_operation(std::string& text, const Run& run, const Tables& tables, OperationId id,
                   const TextOptions& options) {
  const bool ran = std::ranges::any_of(
      tables.rows, [id](const ReportRow& row) { return row.row.measurement.key.operation == id; });
  const std::string unavailable = wrapped_lines(unavailable_lines(run, id), options);
  if (!ran) {
    if (!unavailable.empty()) text += "\n" + unavailable;
    return;
  }
  text += "\n" + wrapped_line(operation_line(id, static_cast<int>(run.ranks.size())), options);
  add_rows(text, tables.measured, tables.rows, id, options);
  text += unavailable;
  if (!options.percentiles) return;
  const bool sampled = !tables.percentiles.columns.empty();
  const ReportLine title{
      fmt::format("{}: {}", operation(id).name, sampled ? kPercentilesTitle : kNoPercentiles)};
  text += "\n" + wrapped_line(title, options);
  if (sampled) add_rows(text, tables.percentiles, tables.rows, id, options);
}

/// "terminal narrower than 118 columns, hidden: count, algbw", for each width that shows more.
std::vector<std::string> hidden_columns(const Run& run, const std::vector<ReportRow>& rows, int width) {
  std::map<int, std::vector<std::string_view>> left_out;  // by the page that has room
  const std::vector<const ReportColumn*> shown = columns_for(run, rows);
  for (const ReportColumn* const column : shown) {
    const int columns = min_page(*column, shown);
    if (columns > width) left_out[columns].push_back(column->title);
  }
  std::vector<std::string> lines;
  for (const auto& [columns, titles] : left_out)
    lines.push_back(
        fmt::format("terminal narrower than {} columns, hidden: {}", columns, fmt::join(titles, ", ")));
  return lines;
}

BriefHeader brief_page(const Run& run, const std::vector<ReportRow>& rows, const TextOptions& options) {
  const std::vector<std::string> hidden = hidden_columns(run, rows, options.columns);
  return brief_header(run, hidden.empty() ? "" : hidden.front(), line_width(options));
}

std::string header_text(const Run& run, const std::vector<ReportRow>& rows, const TextOptions& options) {
  if (options.quiet) return wrapped_lines(loud(header_lines(run)), options);
  if (options.brief) return wrapped_lines(brief_page(run, rows, options).lines, options);
  std::string text = wrapped_lines(header_lines(run), options) + wrapped_lines(legend_lines(run), options);
  for (const std::string& line : hidden_columns(run, rows, options.columns))
    text += wrapped_line({line}, options);
  return text;
}

void add_results(std::string& text, const Run& run, const Tables& tables, const TextOptions& options) {
  for (const OperationId id : operations_in(run)) add_operation(text, run, tables, id, options);
  ReportLines lines = footer_lines(run);
  if (options.quiet) {
    lines = loud(std::move(lines));
  } else if (options.brief) {
    const ReportLines below = brief_page(run, tables.rows, options).below;
    lines.insert(lines.begin(), below.begin(), below.end());
  }
  if (!lines.empty()) text += "\n" + wrapped_lines(lines, options);
}

}  // namespace

std::string report_text_header(const Run& run, const TextOptions& options) {
  return header_text(run, rows_that_ran(run), options);
}

std::string report_text_results(const Run& run, const TextOptions& options) {
  std::string text = wrapped_lines(verdict_headline(run), options);
  add_results(text, run, tables_of(run, options), options);
  return text;
}

std::string report_text(const Run& run, const TextOptions& options) {
  const Tables tables = tables_of(run, options);
  std::string text = wrapped_lines(verdict_headline(run), options) + header_text(run, tables.rows, options);
  add_results(text, run, tables, options);
  return text;
}

}  // namespace collbench::analysis
