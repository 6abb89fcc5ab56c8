#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <sstream>
#include <utility>

#include "base/document/document.hpp"
#include "base/document/text_layout.hpp"

namespace collbench {
namespace {

constexpr int kMinCell = 8;       ///< of a cell of words that is cut
constexpr int kMinName = 40;      ///< what other words should have before a spare column is left out for them
constexpr int kMinLastCell = 20;  ///< and a last column of words

/// A table's cells below their headings, how wide the columns are, and how many at its sides are words.
struct LaidOut {
  TextTable cells;
  std::vector<int> widths;
  std::size_t left;
  std::size_t right;

  [[nodiscard]] bool is_words(std::size_t column) const {
    return column < left || column + right >= widths.size();
  }
  [[nodiscard]] bool ends_in_words() const { return is_words(widths.size() - 1); }
  /// Columns of a line, with the indent.
  [[nodiscard]] int width() const {
    return std::accumulate(widths.begin(), widths.end(), static_cast<int>(2 * widths.size()));
  }
};

LaidOut laid_out(const ReportTable& table) {
  TextTable cells{table.headings};
  cells.reserve(table.rows.size() + 1);
  for (const std::vector<ReportCell>& row : table.rows) {
    std::vector<std::string>& line = cells.emplace_back();
    line.reserve(row.size());
    for (const ReportCell& cell : row) line.push_back(one_line(cell.text));
  }
  std::vector<int> widths = column_widths(cells);
  return {std::move(cells), std::move(widths), table.left, table.right};
}

void leave_out(LaidOut& table, std::size_t column) {
  if (column < table.left)
    --table.left;
  else if (column + table.right >= table.widths.size())
    --table.right;
  drop_column(table.cells, column);
  table.widths.erase(table.widths.begin() + static_cast<std::ptrdiff_t>(column));
}

void cut(LaidOut& table, std::size_t column, int width) {
  if (table.widths[column] <= width) return;
  for (std::vector<std::string>& row : table.cells) row[column] = shorten(row[column], width);
  table.widths[column] = width;
}

/// The widest column of words, but for the last; none where numbers only stand before the last.
std::optional<std::size_t> widest_words(const LaidOut& table) {
  std::optional<std::size_t> widest;
  for (std::size_t column = 0; column + 1 < table.widths.size(); ++column)
    if (table.is_words(column) && (!widest || table.widths[column] > table.widths[*widest])) widest = column;
  return widest;
}

/// Columns that a line lacks, though its words are cut to `name` columns, and to `last` at its end.
int lacking(const LaidOut& table, int width, int name, int last) {
  int needed = table.width() - width;
  if (const auto widest = widest_words(table)) needed -= std::max(0, table.widths[*widest] - name);
  if (table.ends_in_words()) needed -= std::max(0, table.widths.back() - last);
  return needed;
}

/// Takes out the spare columns that a line does not hold. Whether the words at the end of a line now stand
/// for others that did.
bool leave_out_spare(LaidOut& table, const std::vector<std::string>& spare, int width) {
  bool is_last_out = false;
  for (const std::string& name : spare) {
    if (lacking(table, width, kMinName, kMinLastCell) <= 0) break;
    const std::vector<std::string>& names = table.cells.front();
    const auto at = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    if (at == names.size()) continue;
    is_last_out = is_last_out || at + 1 == names.size();
    leave_out(table, at);
  }
  return is_last_out && table.ends_in_words();
}

/// What is still too wide is cut: the widest words, and the last ones, which may go on below themselves.
void cut_words(LaidOut& table, int width, bool wraps) {
  const int lacks = lacking(table, width, std::numeric_limits<int>::max(), kMinCell);
  if (const auto widest = widest_words(table); widest && lacks > 0)
    cut(table, *widest, std::max(kMinCell, table.widths[*widest] - lacks));
  if (table.ends_in_words() && !wraps)
    cut(table, table.widths.size() - 1, std::max(kMinCell, table.widths.back() + width - table.width()));
}

/// The last cell of each row goes on below itself.
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

/// Columns that a line does not hold go on below, behind the first column again.
std::string broken_into_lines(LaidOut table, int width) {
  cut(table, 0, std::max(kMinCell, width / 2));
  std::string text;
  for (std::size_t from = 1; from < table.widths.size();) {
    std::size_t to = from;
    int used = 2 + table.widths[0];
    while (to < table.widths.size() && (to == from || used + 2 + table.widths[to] <= width))
      used += 2 + table.widths[to++];
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
  if (table.rows.empty()) return {};
  LaidOut fitted = laid_out(table);
  if (table.breaks && fitted.widths.size() > 1 && fitted.width() > layout.columns)
    return broken_into_lines(std::move(fitted), layout.columns);
  const bool wraps = leave_out_spare(fitted, table.spare, layout.columns) || table.wraps;
  cut_words(fitted, layout.columns, wraps);
  const int room = std::max(kMinCell, layout.columns - fitted.width() + fitted.widths.back());
  if (wraps) fitted.cells = with_last_wrapped(std::move(fitted.cells), room);
  return table_lines(fitted.cells, fitted.left, fitted.right);
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
    std::string line = pad_right(finding.severity, kSeverity) + one_line(finding.code);
    if (!finding.where.empty())
      line += "  " + shorten(finding.where, std::max(kMinCell, layout.columns - display_width(line) - 2));
    all += (all.empty() ? "" : "\n") + line + "\n";
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

/// Tables and code stand apart from the prose around them, which is indented below a heading.
std::string section_text(const ReportSection& section, TextLayout layout) {
  const std::string heading = section.heading.empty() ? "" : text(ReportLine{section.heading}, layout);
  if (layout.mark.empty() && !heading.empty()) layout.mark = "  ";
  std::string all;
  bool was_prose = true;
  for (const ReportBlock& block : section.blocks) {
    const std::string words =
        std::visit([&layout](const auto& each) { return block_text(each, layout); }, block);
    if (words.empty()) continue;
    const bool is_below_heading =
        all.empty() && !heading.empty() && std::holds_alternative<ReportFindings>(block);
    if (is_below_heading || (!all.empty() && !(was_prose && is_prose(block)))) all += "\n";
    all += words;
    was_prose = is_prose(block);
  }
  // A section without blocks is its heading, which then is a sentence.
  return all.empty() && !section.blocks.empty() ? "" : heading + all;
}

}  // namespace

std::string text(const ReportLine& line, const TextLayout& layout) {
  return wrap(line.text, layout.columns, layout.mark, std::string(layout.mark) + "  ");
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
