#include "src/cli/plot.hpp"

#include <fmt/format.h>

#include "analysis/charts/chosen_charts.hpp"
#include "analysis/charts/svg_chart.hpp"
#include "analysis/charts/terminal_chart.hpp"
#include "analysis/report/text_layout.hpp"
#include "base/error.hpp"
#include "src/cli/standard_streams.hpp"

namespace collbench::program {

bool is_picture(const OutputDocument& document) { return document.format == "svg"; }

std::string chart_picture(const std::vector<analysis::Chart>& charts, const OutputDocument& document) {
  const std::vector<analysis::Chart> chosen = analysis::chosen_charts(charts, document.chart);
  if (chosen.empty()) throw usage_error(document.option, "nothing was measured that a chart could show", "");
  return analysis::svg_chart(chosen.front());
}

std::string text_plots(const std::vector<analysis::Chart>& charts, const OutputDocument& document,
                       int columns) {
  if (!document.with_plots) return {};
  const bool ascii = document.path.empty() && locale_is_ascii();
  const auto letters = ascii ? analysis::ChartLetters::ascii : analysis::ChartLetters::unicode;
  try {
    std::string text;
    for (const analysis::Chart& chart : analysis::chosen_charts(charts, document.chart)) {
      text += "\n" + analysis::terminal_chart(chart, columns, letters);
    }
    return text.empty() ? "\n--plot: nothing was measured that it could show\n" : text;
  } catch (const Error& error) {
    return "\n" +
           analysis::wrap(fmt::format("--plot: {}; {}", error.what(), error.next_step()), columns, "", "  ");
  }
}

}  // namespace collbench::program
