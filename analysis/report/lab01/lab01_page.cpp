#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/charts/run_charts.hpp"
#include "analysis/report/html/page.hpp"
#include "analysis/report/lab01/lab01.hpp"
#include "base/text_input.hpp"
#include "base/text_sinks.hpp"

// Lab 01 as a page of HTML: the same document as the Markdown, which is read back here. It is our own, of
// headings, tables, lists and paragraphs (lab01.cpp), and its text is escaped by markdown_text: that a
// character stands for itself is all that a backslash says.

namespace collbench::analysis {
namespace {

std::string without_escapes(std::string_view markdown) {
  std::string text;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    if (markdown[i] == '\\' && i + 1 < markdown.size()) ++i;
    text += markdown[i];
  }
  return text;
}

/// The parts between "**" that stand for themselves: plain, bold, plain, …
std::vector<std::string> by_boldness(std::string_view markdown) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    if (markdown.substr(i, 2) == "**") {
      parts.emplace_back();
      ++i;
      continue;
    }
    if (markdown[i] == '\\' && i + 1 < markdown.size()) parts.back() += markdown[i++];
    parts.back() += markdown[i];
  }
  for (std::string& part : parts) part = without_escapes(part);
  return parts;
}

/// A line whose bold words are those that a reader must not overlook.
ReportLine line_of_markdown(std::string_view markdown) {
  const std::vector<std::string> parts = by_boldness(markdown);
  std::string text;
  for (const std::string& part : parts) text += part;
  const bool all_bold = parts.size() == 3 && parts.front().empty() && trim(parts.back()).empty();
  return {std::move(text), all_bold ? Tone::warning : Tone::plain};
}

/// "| a | b |" without its outer bars, split at bars that are not escaped.
std::vector<std::string> markdown_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  line = trim(line);
  if (line.starts_with('|')) line.remove_prefix(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '|') {
      cells.emplace_back();
      continue;
    }
    if (line[i] == '\\' && i + 1 < line.size()) cells.back() += line[i++];
    cells.back() += line[i];
  }
  if (trim(cells.back()).empty()) cells.pop_back();
  for (std::string& cell : cells) cell = trim(cell);
  return cells;
}

std::string table_markup(const std::vector<std::string>& lines, const std::string& caption) {
  HtmlTable table{caption, {}, {}};
  for (const std::string& heading : markdown_cells(lines[0]))
    table.headings.push_back(line_of_markdown(heading).text);
  table.is_text = lines.size() < 2 || lines[1].find("---:") == std::string::npos;
  for (std::size_t i = 2; i < lines.size(); ++i) {
    std::vector<HtmlCell> cells;
    for (const std::string& cell : markdown_cells(lines[i])) {
      const ReportLine line = line_of_markdown(cell);
      cells.push_back({line.text, line.tone == Tone::warning ? "warning" : ""});
    }
    cells.resize(table.headings.size());
    table.rows.push_back(std::move(cells));
  }
  return html_table(table);
}

/// What a line begins with says what it is part of.
enum class BlockKind { none, table, list, paragraph };

BlockKind block_kind(std::string_view line) {
  if (trim(line).empty()) return BlockKind::none;
  if (line.starts_with('|')) return BlockKind::table;
  return line.starts_with("- ") ? BlockKind::list : BlockKind::paragraph;
}

std::string block_markup(BlockKind kind, const std::vector<std::string>& lines, const std::string& caption) {
  switch (kind) {
    case BlockKind::none:
      return {};
    case BlockKind::table:
      return table_markup(lines, caption);
    case BlockKind::list: {
      ReportLines items;
      for (const std::string& line : lines) items.push_back(line_of_markdown(line.substr(2)));
      return html_list(items);
    }
    case BlockKind::paragraph: {
      std::string text;
      for (const std::string& line : lines) text += (text.empty() ? "" : " ") + line;
      return html_paragraph(line_of_markdown(text).text);
    }
  }
  return {};
}

/// Tables are named after the heading that they stand under, and numbered where there are several.
std::string body_markup(const std::string& heading, const std::vector<std::string>& lines) {
  std::string body;
  std::vector<std::string> block;
  BlockKind kind = BlockKind::none;
  int tables = 0;
  const auto end_block = [&] {
    if (kind == BlockKind::table) ++tables;
    // Not the heading alone: a region in another one of the same name cannot be told from it.
    const std::string caption = heading + ", table" + (tables < 2 ? "" : " " + std::to_string(tables));
    body += block_markup(kind, std::exchange(block, {}), caption);
  };
  for (const std::string& line : lines) {
    if (const BlockKind next = block_kind(line); next != kind) {
      end_block();
      kind = next;
    }
    if (kind != BlockKind::none) block.push_back(line);
  }
  end_block();
  return body;
}

std::string charts_markup(const Run& run) {
  std::string charts;
  for (const OperationCharts& each : run_charts(run)) {
    if (each.operation != OperationId::all_reduce) continue;
    for (const Chart& chart : each.charts) charts += html_chart(chart);
  }
  return charts.empty() ? charts : "<div class=\"charts\">\n" + charts + "</div>\n";
}

}  // namespace

std::string lab01_page(const std::string& markdown, const Run& run) {
  std::string title;
  std::vector<std::pair<std::string, std::vector<std::string>>> parts{{"", {}}};
  for (const Line& line : clean_lines(markdown)) {
    if (line.text.starts_with("# ")) {
      title = without_escapes(line.text.substr(2));
    } else if (line.text.starts_with("## ")) {
      parts.emplace_back(without_escapes(line.text.substr(3)), std::vector<std::string>{});
    } else {
      parts.back().second.push_back(line.text);
    }
  }
  ReportLines lead;
  for (const std::string& line : parts.front().second) {
    if (!trim(line).empty()) lead.push_back(line_of_markdown(line));
  }
  std::vector<HtmlSection> sections;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto& [heading, lines] = parts[i];
    const bool has_charts = heading.starts_with("AllReduce");
    sections.push_back({"part-" + std::to_string(i), heading,
                        (has_charts ? charts_markup(run) : "") + body_markup(heading, lines)});
  }
  return page_text(html_page(title, lead, sections));
}

}  // namespace collbench::analysis
