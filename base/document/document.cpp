#include "base/document/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include "base/text_sinks.hpp"

namespace collbench {
namespace {

constexpr std::string_view kWhere = "where";
constexpr std::string_view kUnlabeled = "what";  ///< the column of a finding's lines without a label

std::string block_markdown(const std::string& paragraph) { return markdown_text(paragraph) + "\n"; }

std::string block_markdown(const ReportList& items) { return markdown(as_lines(items)); }

std::string block_markdown(const ReportLines& lines) { return markdown(lines); }

std::string block_markdown(const ReportTable& table) {
  return table.rows.empty() ? "" : markdown_table(table);
}

std::string block_markdown(const ReportFindings& findings) { return block_markdown(as_table(findings)); }

std::string block_markdown(const ReportCode& code) {
  std::string text;
  for (const std::string& line : code.lines) text += one_line(line) + "\n";
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  return fmt::format("{0}\n{1}{0}\n", fence, text);
}

std::string block_markdown(const std::vector<Chart>& /*charts*/) { return ""; }

std::string block_markdown(const ReportPicture& /*picture*/) { return ""; }

/// Where the words of a label stand; behind the last column where they have none yet.
std::size_t column_of(const std::vector<std::string>& headings, std::string_view label) {
  const auto at = std::ranges::find(headings, label.empty() ? kUnlabeled : label);
  return static_cast<std::size_t>(at - headings.begin());
}

/// What some finding has, in the order in which the first of them has it.
std::vector<std::string> headings_of(const ReportFindings& findings) {
  std::vector<std::string> headings{"severity", "finding"};
  const auto add_column = [&headings](std::string_view label) {
    if (column_of(headings, label) == headings.size())
      headings.emplace_back(label.empty() ? kUnlabeled : label);
  };
  for (const ReportFinding& finding : findings) {
    if (!finding.where.empty()) add_column(kWhere);
    for (const auto& [label, words] : finding.lines) add_column(label);
  }
  return headings;
}

}  // namespace

std::string_view tone_class(Tone tone) {
  switch (tone) {
    case Tone::plain:
    case Tone::quiet:
      return "";
    case Tone::warning:
      return "warning";
    case Tone::alarm:
      return "alarm";
  }
  return "";
}

ReportLines as_lines(const ReportList& texts) {
  ReportLines lines;
  for (const std::string& text : texts) lines.push_back({text});
  return lines;
}

ReportTable as_table(const ReportFindings& findings) {
  ReportTable table{.headings = headings_of(findings), .is_text = true};
  table.left = table.headings.size();
  for (const ReportFinding& finding : findings) {
    std::vector<ReportCell>& cells = table.rows.emplace_back(table.headings.size(), "");
    cells[0] = {finding.severity, tone_class(finding.tone)};
    cells[1] = finding.code;
    if (!finding.where.empty()) cells[column_of(table.headings, kWhere)] = finding.where;
    for (const auto& [label, words] : finding.lines) {
      std::string& cell = cells[column_of(table.headings, label)].text;
      const char* const between = cell.ends_with('.') ? " " : label.empty() ? ". " : "; ";
      cell += (cell.empty() ? "" : between) + words;
    }
  }
  return table;
}

std::string markdown(const ReportLines& lines) {
  std::string text;
  for (const ReportLine& line : lines)
    text += fmt::format("- {0}{1}{0}\n", tone_class(line.tone).empty() ? "" : "**", markdown_text(line.text));
  return text;
}

std::string markdown_table(const ReportTable& table) {
  std::string names = "|";
  std::string rule = "|";
  for (std::size_t column = 0; column < table.headings.size(); ++column) {
    const bool is_words = column < table.left || column + table.right >= table.headings.size();
    names += fmt::format(" {} |", markdown_text(table.headings[column]));
    rule += is_words ? " --- |" : " ---: |";
  }
  std::string text = names + "\n" + rule + "\n";
  for (const std::vector<ReportCell>& row : table.rows) {
    text += "|";
    for (const ReportCell& cell : row)
      text += fmt::format(" {0}{1}{0} |", cell.style.empty() ? "" : "**", markdown_text(cell.text));
    text += "\n";
  }
  return text;
}

std::string markdown(const ReportSection& section) {
  std::string text;
  for (const auto& block : section.blocks) {
    const std::string words = std::visit([](const auto& each) { return block_markdown(each); }, block);
    if (!words.empty()) text += (text.empty() ? "" : "\n") + words;
  }
  if (text.empty() && !section.blocks.empty()) return {};
  return (section.heading.empty() ? "\n" : "\n## " + markdown_text(section.heading) + "\n") + text;
}

std::string markdown(const Document& document) {
  std::string text = "# " + markdown_text(document.title) + "\n";
  if (!document.headline.text.empty())
    text += fmt::format("\n**{}**\n", markdown_text(document.headline.text));
  if (!document.lead.empty()) text += "\n" + markdown(document.lead);
  for (const ReportSection& section : document.sections) text += markdown(section);
  return text;
}

}  // namespace collbench
