#include <algorithm>
#include <string>

#include "analysis/report/diff_report.hpp"
#include "analysis/report/html/markup.hpp"
#include "analysis/report/report.hpp"

namespace collbench::analysis {

std::string report_html(const DiffReport& diff) {
  constexpr std::size_t kMaxDrawings = 8;  // of a fleet's kinds of odd machines
  Document page = diff_document(diff);
  for (std::size_t i = 0; i < std::min(kMaxDrawings, diff.pairs.size()); ++i) {
    const ComparedHosts& pair = diff.pairs[i];
    std::vector<ReportBlock>& blocks = page.sections[i].blocks;
    if (pair.drawn && !pair.findings.empty())
      blocks.insert(blocks.begin() + 1,
                    machine_drawing(*pair.drawn, pair.b.front(), drawing_marks(pair.findings)));
  }
  return html_page(page);
}

}  // namespace collbench::analysis
