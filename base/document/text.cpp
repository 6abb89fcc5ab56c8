#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/document/document.hpp"
#include "base/document/text_layout.hpp"

namespace collbench {
namespace {

constexpr int kMinCell = 8;       ///< of a cell of words that is cut
constexpr int kMinName = 36;      ///< what other words should have before a spare column is left out for them
constexpr int kMinLastCell = 20;  ///< and a last column of words
constexpr int kMaxWhere = 42;     ///< of where a finding is, behind its code

/// A table's cells below their headings, and how many columns at its sides are words.
struct LaidOut {
  TextTable cells;
  std::size_t left;
  std::size_t right;
  bool wraps;

  [[nodiscard]] std::size_t columns() const { return cells.front().size(); }
  [[nodiscard]] bool is_words(std::size_t column) const {
    return column < left || column + right >= columns();
  }
  /// Columns of a line before the last column of the table.
  [[nodiscard]] int before_last() const { return table_width(cells) - column_widths(cells).back(); }
};

void leave_out(LaidOut& table, std::size_t column) {
  if (column < table.left)
    --table.left;
  else if (column + table.right >= table.columns())
    --table.right;
  drop_column(table.cells, column);
}

/// The widest column of words, but for the last; none where numbers only stand before the last.
std::optional<std::size_t> widest_words(const LaidOut& table, const std::vector<int>& widths) {
  std::optional<std::size_t> widest;
  for (std::size_t column = 0; column + 1 < table.columns(); ++column)
    if (table.is_words(column) && (!widest || widths[column] > widths[*widest])) widest = column;
  return widest;
}

/// Columns that a line lacks, though its words are cut to `name` columns, and to `last` at its end.
int lacking(const LaidOut& table, int width, int name, int last) {
  const std::vector<int> widths = column_widths(table.cells);
  int needed = table_width(table.cells);
  if (const auto widest = widest_words(table, widths)) needed -= std::max(0, widths[*widest] - name);
  if (table.is_words(table.columns() - 1)) needed -= std::max(0, widths.back() - last);
  return needed - width;
}

/// Takes out the spare columns that a line does not hold.
void leave_out_spare(LaidOut& table, const std::vector<std::string>& spare, int width) {
  for (const std::string& name : spare) {
    if (lacking(table, width, kMinName, kMinLastCell) <= 0) return;
    const std::vector<std::string>& names = table.cells.front();
    const auto at = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    if (at == names.size()) continue;
    table.wraps = table.wraps || at + 1 == names.size();
    leave_out(table, at);
  }
}

/// Cuts the widest column of words, but for the last, by what a line lacks.
void cut_words(LaidOut& table, int width) {
  const std::vector<int> widths = column_widths(table.cells);
  const auto widest = widest_words(table, widths);
  if (!widest) return;
  const int lacks = lacking(table, width, widths[*widest], kMinCell);
  if (lacks <= 0) return;
  for (std::vector<std::string>& row : table.cells)
    row[*widest] = shorten(row[*widest], std::max(kMinCell, widths[*widest] - lacks));
}

TextTable with_last_wrapped(TextTable cells, int room) {
  TextTable lines;
  for (std::vector<std::string>& row : cells) {
    std::istringstream pieces(wrap(row.back(), room, "", ""));
    while (std::getline(pieces, row.back())) {
      lines.push_back(row);
      row.assign(row.size(), "");
    }
  }
  return lines;
}

TextTable with_last_cut(const LaidOut& table, int room) {
  TextTable cells = table.cells;
  if (table.is_words(table.columns() - 1))
    for (std::vector<std::string>& row : cells) row.back() = shorten(row.back(), room);
  return cells;
}

/// Columns of numbers that a line does not hold go on below, behind the first column again.
std::string broken_into_lines(const LaidOut& table, int width) {
  const std::vector<int> widths = column_widths(table.cells);
  std::string text;
  for (std::size_t from = 1; from < table.columns();) {
    std::size_t to = from;
    int used = 2 + widths[0];
    while (to < table.columns() && (to == from || used + 2 + widths[to] <= width)) used += 2 + widths[to++];
    TextTable part;
    for (const std::vector<std::string>& row : table.cells) {
      std::vector<std::string>& cells = part.emplace_back(1, row.front());
      cells.insert(cells.end(), row.begin() + static_cast<std::ptrdiff_t>(from),
                   row.begin() + static_cast<std::ptrdiff_t>(to));
    }
    text += (from > 1 ? "\n" : "") + table_lines(part, 1);
    from = to;
  }
  return text;
}

std::string block_text(const ReportTable& table, const TextLayout& layout) {
  LaidOut laid_out{{table.headings}, table.left, table.right, table.wraps};
  for (const std::vector<ReportCell>& row : table.rows) {
    std::vector<std::string>& cells = laid_out.cells.emplace_back();
    for (const ReportCell& cell : row) cells.push_back(one_line(cell.text));
  }
  leave_out_spare(laid_out, table.spare, layout.columns);
  if (table.left == 1 && table.right == 0 && table.spare.empty() &&
      table_width(laid_out.cells) > layout.columns)
    return broken_into_lines(laid_out, layout.columns);
  cut_words(laid_out, layout.columns);
  const int room = std::max(kMinCell, layout.columns - laid_out.before_last());
  return table_lines(laid_out.wraps ? with_last_wrapped(laid_out.cells, room) : with_last_cut(laid_out, room),
                     laid_out.left, laid_out.right);
}

std::string block_text(const ReportLines& lines, const TextLayout& layout) {
  std::string all;
  for (const ReportLine& line : lines) all += text(line, layout);
  return all;
}

std::string block_text(const std::string& paragraph, const TextLayout& layout) {
  return text(ReportLine{paragraph}, layout);
}

std::string block_text(const ReportList& items, const TextLayout& layout) {
  return block_text(as_lines(items), layout);
}

std::string block_text(const ReportFindings& findings, const TextLayout& layout) {
  constexpr int kSeverity = 10;  // columns of a severity, and the lines' indent
  const std::string indent(kSeverity, ' ');
  std::string all;
  for (const ReportFinding& finding : findings) {
    all += fmt::format("{}{}{}{}\n", all.empty() ? "" : "\n", pad_right(finding.severity, kSeverity),
                       one_line(finding.code),
                       finding.where.empty() ? "" : "  " + shorten(finding.where, kMaxWhere));
    for (const auto& [label, words] : finding.lines)
      all +=
          wrap(words, layout.columns, label.empty() ? indent : fmt::format("{}{}: ", indent, one_line(label)),
               label.empty() ? indent : indent + "  ");
  }
  return all;
}

std::string block_text(const ReportCode& code, const TextLayout& /*layout*/) {
  std::string all;
  for (const std::string& line : code.lines) all += one_line(line) + "\n";
  return all;
}

std::string block_text(const std::vector<Chart>& /*charts*/, const TextLayout& /*layout*/) { return ""; }

std::string block_text(const ReportPicture& /*picture*/, const TextLayout& /*layout*/) { return ""; }

bool is_prose(const ReportBlock& block) {
  return std::holds_alternative<std::string>(block) || std::holds_alternative<ReportList>(block) ||
         std::holds_alternative<ReportLines>(block);
}

/// Tables and code stand apart from the prose around them.
std::string section_text(const ReportSection& section, const TextLayout& layout) {
  std::string all;
  bool was_prose = true;
  for (const ReportBlock& block : section.blocks) {
    const std::string words =
        std::visit([&layout](const auto& each) { return block_text(each, layout); }, block);
    if (words.empty()) continue;
    if (!all.empty() && !(was_prose && is_prose(block))) all += "\n";
    all += words;
    was_prose = is_prose(block);
  }
  if (all.empty() || section.heading.empty()) return all;
  return text(ReportLine{section.heading}, layout) + all;
}

}  // namespace

std::string text(const ReportLine& line, const TextLayout& layout) {
  const std::string lines = wrap(line.text, layout.columns, layout.mark, std::string(layout.mark) + "  ");
  if (!layout.color || tone_class(line.tone).empty()) return lines;
  return fmt::format("\x1b[{}m{}\x1b[0m\n", line.tone == Tone::alarm ? 31 : 33,  // red, yellow
                     lines.substr(0, lines.size() - 1));
}

std::string text(const Document& document, const TextLayout& layout) {
  const ReportLine& first = document.headline;
  std::string all = text(first.text.empty() ? ReportLine{document.title} : first, layout) +
                    block_text(document.lead, layout);
  for (const ReportSection& section : document.sections)
    if (const std::string words = section_text(section, layout); !words.empty()) all += "\n" + words;
  return all;
}

}  // namespace collbench
