#include "src/cli/help.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string_view>

#include "analysis/report/text_layout.hpp"

namespace collbench::program {
namespace {

/// Where the line's text goes on: below an option's description, which follows two blanks or more, else a
/// little behind the line's own beginning.
std::size_t continuation_column(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  if (begin == 0) return 0;
  const std::size_t gap = line.find("  ", begin);
  const std::size_t description = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  constexpr std::size_t kMaxColumn = 50;
  return description > kMaxColumn ? begin : description;
}

}  // namespace

std::string wrapped_help(const std::string& text, int columns) {
  const int width = std::clamp(columns, 60, 100);
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (analysis::display_width(line) <= width) {
      result += line + "\n";
      continue;
    }
    const std::size_t column = continuation_column(line);
    const std::string indent(column, ' ');
    result += analysis::wrap(std::string_view(line).substr(column), width, line.substr(0, column), indent);
  }
  return result;
}

}  // namespace collbench::program
