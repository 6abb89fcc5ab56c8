#include "base/document/document.hpp"

#include <fmt/format.h>

#include "base/text_sinks.hpp"

namespace collbench {
namespace {

std::string block_markdown(const std::string& paragraph) { return markdown_text(paragraph) + "\n"; }

std::string block_markdown(const ReportList& items) { return markdown(as_lines(items)); }

std::string block_markdown(const ReportLines& lines) { return markdown(lines); }

std::string block_markdown(const ReportTable& table) { return markdown_table(table); }

std::string block_markdown(const std::vector<Chart>&) { return ""; }

std::string block_markdown(const ReportPicture&) { return ""; }

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
  std::string text = "\n## " + markdown_text(section.heading) + "\n";
  for (const auto& block : section.blocks) {
    if (&block != &section.blocks.front()) text += "\n";
    text += std::visit([](const auto& each) { return block_markdown(each); }, block);
  }
  return text;
}

std::string markdown(const Document& document) {
  std::string text = "# " + markdown_text(document.title) + "\n";
  for (const ReportSection& section : document.sections) text += markdown(section);
  return text;
}

}  // namespace collbench
