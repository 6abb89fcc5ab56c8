// brief_header() and loud() of sections.hpp: what a run says first, where its reader waits for the rows.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "analysis/report/sections.hpp"
#include "base/document/text_layout.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// Lines that `text` takes as the text report wraps it.
int height(const std::string& text, int columns) {
  const std::string lines = wrap(text, columns, "# ", "#   ");
  return static_cast<int>(std::ranges::count(lines, '\n'));
}

/// What must be said below where the header has no room for it.
bool is_urgent(HeaderPart part) { return part == HeaderPart::warning || part == HeaderPart::nodes; }

/// The header's last line: what the table's column of verdicts means, and where the rest is.
std::string where_the_rest_is(std::size_t below) {
  const std::string more = "meas/exp below 1 is slower than expected; more: -v, collbench help columns";
  return below == 0 ? more : fmt::format("{} below the tables; {}", counted(below, "note"), more);
}

}  // namespace

BriefHeader brief_header(const Run& run, const std::string& hidden, int columns) {
  std::vector<HeaderLine> all = header_parts(run);
  for (ReportLine& line : legend_lines(run))  // why a column is empty; what the others mean is in the help
    if (line.tone == Tone::warning) all.push_back({std::move(line), HeaderPart::warning});
  if (!hidden.empty()) all.push_back({{hidden}, HeaderPart::setting});
  std::vector<std::size_t> by_part(all.size());
  std::iota(by_part.begin(), by_part.end(), std::size_t{0});
  std::ranges::sort(by_part, [&all](std::size_t a, std::size_t b) {
    return std::pair(all[a].part, a) < std::pair(all[b].part, b);
  });
  int room = kBriefHeaderLines - height(where_the_rest_is(all.size()), columns);
  std::vector<bool> is_shown(all.size(), false);
  std::size_t below = 0;
  for (const std::size_t at : by_part) {
    const HeaderLine& each = all[at];
    const int lines = height(each.line.text, columns);
    if (each.part == HeaderPart::setting && below > 0) break;  // room is for what is urgent
    is_shown[at] = each.part == HeaderPart::title || lines <= room;
    if (is_shown[at]) room -= lines;
    if (!is_shown[at] && is_urgent(each.part)) ++below;
  }
  BriefHeader header;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (is_shown[at]) {
      header.lines.push_back(std::move(all[at].line));
    } else if (is_urgent(all[at].part)) {
      header.below.push_back(std::move(all[at].line));
    }
  }
  header.lines.push_back({where_the_rest_is(below)});
  return header;
}

ReportLines loud(ReportLines lines) {
  std::erase_if(lines,
                [](const ReportLine& line) { return line.tone == Tone::quiet || line.tone == Tone::plain; });
  return lines;
}

}  // namespace collbench::analysis
