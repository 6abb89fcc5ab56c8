#include "analysis/report/html/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/columns.hpp"
#include "analysis/report/run_charts.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxMaps = 8;

/// One series of rows: what each rank's time is over the median rank's, by size.
struct RankMap {
  std::string name;
  std::vector<std::uint64_t> sizes_bytes;
  std::map<int, std::vector<double>> ratios;  ///< by rank; 0: not known
};

double median_of_ranks(const std::vector<RankTimes>& ranks) {
  std::vector<double> seconds;
  for (const RankTimes& each : ranks) seconds.push_back(each.median_seconds);
  return median(std::move(seconds));
}

RankMap map_of(const SizeSeries& series) {
  RankMap map{series_name(series.front()->measurement.key), {}, {}};
  for (const Row* row : series) {
    const std::vector<RankTimes>& ranks = row->measurement.ranks;
    const double usual = ranks.size() < 2 ? 0 : median_of_ranks(ranks);
    if (!(usual > 0)) continue;
    const std::size_t column = map.sizes_bytes.size();
    map.sizes_bytes.push_back(row->measurement.key.size_bytes);
    for (const RankTimes& each : ranks) {
      std::vector<double>& own = map.ratios[each.rank];
      own.resize(column + 1, 0);
      own[column] = each.median_seconds / usual;
    }
  }
  return map;
}

/// How far a rank stands out: of all its sizes, by the median.
double oddness(const std::vector<double>& ratios) {
  std::vector<double> known;
  for (const double ratio : ratios) {
    if (ratio > 0) known.push_back(std::fabs(std::log(ratio)));
  }
  return known.empty() ? 0 : median(std::move(known));
}

/// The ranks that are shown, ascending.
std::vector<int> shown_ranks(const RankMap& map) {
  std::vector<std::pair<double, int>> by_oddness;
  for (const auto& [rank, ratios] : map.ratios) by_oddness.emplace_back(-oddness(ratios), rank);
  std::ranges::sort(by_oddness);
  by_oddness.resize(std::min(by_oddness.size(), kMaxMapRanks));
  std::vector<int> ranks;
  for (const auto& [odd, rank] : by_oddness) ranks.push_back(rank);
  std::ranges::sort(ranks);
  return ranks;
}

/// Short calls are those of who comes late.
std::string_view heat(double ratio) {
  if (ratio <= 0) return "";
  if (ratio < 0.5) return "late3";
  if (ratio < 0.75) return "late2";
  if (ratio < 0.9) return "late1";
  if (ratio > 2) return "early2";
  return ratio > 1.1 ? "early1" : "";
}

std::string rank_label(const Run& run, int rank) {
  const bool known = rank >= 0 && static_cast<std::size_t>(rank) < run.ranks.size();
  return known ? fmt::format("{} {}", rank, run.ranks[static_cast<std::size_t>(rank)].host)
               : fmt::to_string(rank);
}

ReportTable table_of(const Run& run, const RankMap& map) {
  const std::vector<int> ranks = shown_ranks(map);
  ReportTable table{map.name, {"rank, host"}, {}};
  if (ranks.size() < map.ratios.size())
    table.caption += fmt::format(": the {} of {} ranks that differ most; the record has all", ranks.size(),
                                 map.ratios.size());
  for (const std::uint64_t size : map.sizes_bytes) table.headings.push_back(format_bytes(size));
  for (const int rank : ranks) {
    std::vector<ReportCell> cells{{rank_label(run, rank)}};
    std::vector<double> ratios = map.ratios.at(rank);
    ratios.resize(map.sizes_bytes.size(), 0);
    for (const double ratio : ratios) {
      cells.emplace_back(ratio > 0 ? fmt::format("{:.2f}", ratio) : std::string(kNoValue), heat(ratio));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// What the probes found of each rank, the latest first.
std::optional<ReportTable> probe_table(const Run& run) {
  if (!run.rank_probe || run.rank_probe->ranks.empty()) return std::nullopt;
  std::vector<RankLateness> ranks = run.rank_probe->ranks;
  std::ranges::sort(ranks, [](const RankLateness& a, const RankLateness& b) {
    return std::pair(-a.entry_seconds, a.rank) < std::pair(-b.entry_seconds, b.rank);
  });
  ReportTable table{"Probes of the ranks one by one: medians",
                    {"rank, host", "enters later than the others by", "inside the call",
                     "its quickest partner waits longer for 8 B by"},
                    {}};
  if (ranks.size() > kMaxMapRanks) {
    table.caption +=
        fmt::format("; the latest {} of {} ranks, the record has all", kMaxMapRanks, ranks.size());
    ranks.resize(kMaxMapRanks);
  }
  for (const RankLateness& each : ranks) {
    table.rows.push_back({{rank_label(run, each.rank)},
                          {fmt::format("{:.2f} µs", each.entry_seconds / kMicrosecond)},
                          {fmt::format("{:.2f} µs", each.inside_seconds / kMicrosecond)},
                          {fmt::format("{:.2f} µs", each.message_seconds / kMicrosecond)}});
  }
  return table;
}

}  // namespace

std::vector<ReportBlock> rank_map(const Run& run) {
  std::vector<ReportBlock> blocks;
  std::size_t count = 0;
  std::vector<std::string> rooted;
  for (const SizeSeries& series : series_of(run.rows)) {
    const RankMap map = map_of(series);
    if (map.ratios.size() < 2) continue;
    const Operation& traits = operation(series.front()->measurement.key.operation);
    if (traits.has_root) {
      if (std::ranges::find(rooted, traits.name) == rooted.end()) rooted.emplace_back(traits.name);
    } else if (++count <= kMaxMaps) {
      blocks.emplace_back(table_of(run, map));
    }
  }
  if (count > kMaxMaps)
    blocks.emplace_back(
        fmt::format("{} more tables are left out; the record has all times", count - kMaxMaps));
  if (!blocks.empty())
    blocks.emplace(blocks.begin(),
                   "Each number is a rank's own time inside the call over that of the median rank (1.00). A "
                   "rank that comes late waits least: its calls are the shortest, below 0.90 orange, below "
                   "0.75 and 0.50 darker. Above 1.10, blue, the rank waits longer than most. Scatter alone "
                   "gives such cells too: who is late beyond chance is said under Outcome.");
  if (!rooted.empty())
    blocks.emplace_back(
        fmt::format("No table of {}: there a rank is done when its own part is, and the algorithm gives each "
                    "another part, so that a short call is no sign of who comes late.",
                    fmt::join(rooted, ", ")));
  if (auto probes = probe_table(run)) blocks.emplace_back(*std::move(probes));
  return blocks;
}

}  // namespace collbench::analysis
