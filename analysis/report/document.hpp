#pragma once
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/report/sections.hpp"

// What a page says, without the marks of any format: each format escapes the text itself, once.

namespace collbench::analysis {

/// The class of page.css that shows a tone; empty where nothing is to be noticed.
[[nodiscard]] std::string_view tone_class(Tone tone);

/// What stands in a cell.
struct ReportCell {
  template <std::convertible_to<std::string_view> Text>
  ReportCell(const Text& words, std::string_view shown_as = {})
      : text(std::string_view(words)), style(shown_as) {}

  std::string text;
  std::string style;  ///< a class of page.css, and bold in Markdown; empty: none
};

struct ReportTable {
  std::string caption{};                        ///< of HTML
  std::vector<std::string> headings;            ///< the first column names its row
  std::vector<std::vector<ReportCell>> rows{};  ///< as many cells as headings
  bool is_text = false;                         ///< cells are words, which HTML does not put at the right
  std::size_t left = 1;                         ///< the columns of words before the numbers, in Markdown
  std::size_t right = 0;                        ///< and behind them
};

using ReportList = std::vector<std::string>;

/// Lines of which none stands out.
[[nodiscard]] ReportLines as_lines(const ReportList& texts);

struct ReportSection {
  std::string heading;
  std::vector<std::variant<std::string, ReportList, ReportTable>> blocks;  ///< a string is a paragraph
};

struct Document {
  std::string title;
  std::vector<ReportSection> sections;
};

[[nodiscard]] std::string markdown_table(const ReportTable& table);
[[nodiscard]] std::string markdown(const ReportSection& section);
[[nodiscard]] std::string markdown(const Document& document);

}  // namespace collbench::analysis
