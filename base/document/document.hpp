#pragma once
#include <fmt/format.h>

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/document/chart.hpp"

// What a page says, without the marks of any format: each format escapes the text itself, once.

namespace collbench {

/// How loudly something is said where there is color.
enum class Tone { plain, quiet, warning, alarm };

/// One sentence of a report, without the marks of any format.
struct ReportLine {
  std::string text;
  Tone tone = Tone::quiet;
};

using ReportLines = std::vector<ReportLine>;

/// Adds a line in fmt's form: a quiet one, one of a tone, or a warning that begins with the word.
template <class... Args>
void add(ReportLines& lines, fmt::format_string<Args...> form, Args&&... args) {
  lines.push_back({fmt::format(form, std::forward<Args>(args)...)});
}
template <class... Args>
void add(ReportLines& lines, Tone tone, fmt::format_string<Args...> form, Args&&... args) {
  lines.push_back({fmt::format(form, std::forward<Args>(args)...), tone});
}
template <class... Args>
void warn(ReportLines& lines, fmt::format_string<Args...> form, Args&&... args) {
  lines.push_back({"warning: " + fmt::format(form, std::forward<Args>(args)...), Tone::warning});
}

/// The class of page.css that shows a tone; empty where nothing is to be noticed.
[[nodiscard]] std::string_view tone_class(Tone tone);

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
  std::size_t left = 1;                         ///< the columns of words before the numbers
  std::size_t right = 0;                        ///< and behind them
  std::vector<std::string> spare{};  ///< headings of columns that a narrow text drops, the first one first
  bool wraps = false;                ///< in text the last column goes on below itself; else it is cut
  bool breaks = false;  ///< in text columns that a line does not hold go on below, behind the first one again
};

using ReportList = std::vector<std::string>;

/// Lines for a shell: no width breaks them.
struct ReportCode {
  std::vector<std::string> lines;
};

/// Lines of which none stands out.
[[nodiscard]] ReportLines as_lines(const ReportList& texts);

/// What was found, how bad it is, where, and what is said of it: each line a label ("cost"; empty: what it
/// is) and words. A page and Markdown have them as a table whose columns are the labels.
struct ReportFinding {
  std::string severity;
  Tone tone = Tone::plain;
  std::string code;
  std::string where{};
  std::vector<std::pair<std::string, std::string>> lines{};
};
using ReportFindings = std::vector<ReportFinding>;
[[nodiscard]] ReportTable as_table(const ReportFindings& findings);

/// An SVG document, which only a page shows. `description` is for who does not see it.
struct ReportPicture {
  std::string svg;
  std::string caption;
  std::string description;
};

/// A string is a paragraph. Markdown and text have the numbers of charts in their tables, and no pictures.
using ReportBlock = std::variant<std::string, ReportList, ReportLines, ReportTable, ReportFindings,
                                 ReportCode, std::vector<Chart>, ReportPicture>;

struct ReportSection {
  std::string heading;  ///< empty: the blocks go on with what stands before them
  std::vector<ReportBlock>
      blocks;        ///< none: the heading says it all; none that says anything: it is left out
  std::string id{};  ///< of a page: letters, digits and hyphens; empty: by its number
};

struct Document {
  std::string title;
  std::vector<ReportSection> sections;
  ReportLines lead{};     ///< what it is about: below the title of a page, and the headline
  ReportLine headline{};  ///< the answer, in one sentence: the first line of text
};

/// What is a warning or an alarm is bold.
[[nodiscard]] std::string markdown(const ReportLines& lines);
[[nodiscard]] std::string markdown_table(const ReportTable& table);
[[nodiscard]] std::string markdown(const ReportSection& section);
[[nodiscard]] std::string markdown(const Document& document);

/// For a terminal, a file or a mail.
struct TextLayout {
  int columns = 120;
  std::string_view mark{};  ///< before each line that is of no table, such as "# "
};

/// The headline first (the title where there is none), then the lead and the sections that say something.
[[nodiscard]] std::string text(const Document& document, const TextLayout& layout);

/// A line of prose, wrapped.
[[nodiscard]] std::string text(const ReportLine& line, const TextLayout& layout);

/// The letters that a terminal's chart may have.
enum class ChartLetters {
  unicode,  ///< signs for points, dots for lines, shade for the band
  ascii,
};

/// The chart in `columns` (40 at least; more than 110 are not used) and about 20 lines, each with its
/// newline: what was measured as points with a sign for each series, what is expected as a line and a band,
/// reference lines. Without what a ring or a tree would give.
[[nodiscard]] std::string terminal_chart(const Chart& chart, int columns, ChartLetters letters);

// What a page of HTML is made of: pure functions from data to markup. All text may come from anywhere: each
// function passes it through xml_text (base/text_sinks.hpp), so none of it is markup. The page needs nothing
// but itself: styles, scripts and pictures stand in it, and its Content-Security-Policy allows no others.

/// The blocks of a section as markup. A table without a caption is named after the heading, and numbered
/// where there are several.
[[nodiscard]] std::string html_body(const ReportSection& section);

/// The whole page, but for sections of which nothing is to be shown.
[[nodiscard]] std::string html_page(const Document& document);

/// A chart for page.js, with every number also as people read it, so that the script formats none. Both
/// scales of y are there, the chart's own first.
[[nodiscard]] std::string chart_json(const Chart& chart);

}  // namespace collbench
