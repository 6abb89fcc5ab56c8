#include "analysis/report/sections.hpp"

#include <algorithm>

#include "base/text_sinks.hpp"
#include "base/units.hpp"

namespace collbench::analysis {

std::string format_row(const RowKey& key) {
  std::string text = fmt::format("{} {} {}", operation(key.operation).name, format_bytes(key.size_bytes),
                                 traits(key.type).name);
  if (key.reduction) text += fmt::format(" {}", name(*key.reduction));
  if (operation(key.operation).has_in_place) text += key.in_place ? ", in place" : ", out of place";
  return text + (key.algorithm == kLibraryChoice ? "" : ", " + one_line(key.algorithm));
}

std::string wrong_beyond_rows_words(const Run& run) {
  const std::uint64_t wrong = wrong_values_beyond_rows(run);
  if (wrong == 0) return {};
  const bool all_checked = std::ranges::all_of(
      run.rows, [](const Row& row) { return row.measurement.wrong_elements.has_value(); });
  return fmt::format("WRONG DATA: the log counts {} (line {}), and {}", counted(wrong, "wrong value"),
                     run.log->out_of_bounds->line,
                     !all_checked ? "its rows do not say where"
                     : wrong == 1 ? "no row here has it"
                                  : "no row here has them");
}

std::string wrong_data_words(const Measurement& measured) {
  return fmt::format("WRONG DATA: {}: {} wrong{}", format_row(measured.key),
                     counted(measured.wrong_elements.value_or(0), "element"),
                     measured.source.empty() ? "" : fmt::format(" ({})", one_line(measured.source)));
}

std::string format_span(const std::string& from, const std::string& to) {
  return from == to ? from : fmt::format("{} to {}", from, to);
}

std::string format_sizes(const std::set<std::uint64_t>& sizes_bytes) {
  const std::string span =
      format_span(format_bytes(*sizes_bytes.begin()), format_bytes(*sizes_bytes.rbegin()));
  return sizes_bytes.size() == 1 ? span : fmt::format("{} sizes from {}", sizes_bytes.size(), span);
}

std::vector<std::string> hosts_in_order(const Run& run) {
  std::vector<std::string> hosts;
  for (const Identity& rank : run.ranks)
    if (std::ranges::find(hosts, rank.host) == hosts.end()) hosts.push_back(rank.host);
  return hosts;
}

}  // namespace collbench::analysis
