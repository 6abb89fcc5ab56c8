#include "analysis/report/nccl_plan_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/report/text_layout.hpp"
#include "base/units.hpp"

namespace collbench::analysis {

std::string table_lines(const TextTable& table, std::size_t left) {
  std::vector<int> widths;
  for (const auto& row : table) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string text;
  for (const auto& row : table) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += " " + (i < left ? pad_right(row[i], widths[i]) : pad_left(row[i], widths[i])) + " ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string channel_rate(double bytes_per_second) {
  return fmt::format("{:.4g}", bytes_per_second / kGigabyte);
}

std::string graph_words(const std::optional<NcclSearchGraph>& graph) {
  if (!graph) return "none";
  return fmt::format("{} × {}/{} GB/s {}/{}{}{}", graph->channels,
                     channel_rate(graph->intra_bytes_per_second), channel_rate(graph->inter_bytes_per_second),
                     graph->intra_type, graph->inter_type,
                     graph->algorithm == "tree" ? fmt::format(" pattern {}", graph->pattern) : "",
                     graph->cross_nic > 0 ? fmt::format(" crossNic {}", graph->cross_nic) : "");
}

}  // namespace collbench::analysis
