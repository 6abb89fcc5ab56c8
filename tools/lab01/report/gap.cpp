#include "tools/lab01/report/gap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "analysis/models/host/host_expectation.hpp"
#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/nic_channels.hpp"
#include "analysis/report/columns.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr double kFewer = 0.9;  // of what the topology has: less is links missing, not another way to count

/// What a call moves as busbw counts it: busbw is this over the time.
double bus_bytes(const Run& run, const Row& row) {
  const RowKey& key = row.measurement.key;
  return static_cast<double>(key.size_bytes) *
         bus_factor(operation(key.operation), static_cast<int>(run.ranks.size()));
}

void add_measured(const Row& row, Gap& gap) {
  if (row.measurement.seconds > 0) gap.levels.push_back({kLeft, row.measurement.seconds});
}

std::optional<Gap> on_gpus(const Run& run, const Row& row, const Lab01Machine& machine,
                           const Lab01Ceilings& ceilings) {
  const AlgorithmCeiling* ceiling = ceilings.find(row.expectation.expected_by);
  if (ceiling == nullptr || !ceiling->reachable) return std::nullopt;
  const double expected = *row.expectation.expected_seconds;
  if (ceiling->bound() <= 0) return std::nullopt;
  const RowKey& key = row.measurement.key;
  const double bytes = bus_bytes(run, row);
  Gap gap{ceiling->name, {{kLineRate, bytes / ceiling->bound()}}};
  // On Volta copies reach more than NCCL counts: then the step between would go up and down again.
  const auto& nccl = ceiling->by_nccl;
  if (ceiling->line_rate && nccl && *nccl < *ceiling->line_rate && *nccl >= *ceiling->reachable) {
    gap.levels.push_back({kByNccl, bytes / *nccl});
  }
  gap.levels.push_back({kProtocol, bytes / *ceiling->reachable});
  gap.levels.push_back({kFill, expected});
  if (auto seen = with_links_of_log(machine.cluster, run)) {
    seen->run.algorithm = row.expectation.expected_by;
    const Expectation with_these = expect_on_gpus(key.operation, key.size_bytes, *seen);
    if (with_these.expected_by == row.expectation.expected_by && *with_these.expected_seconds > expected) {
      gap.levels.push_back({kLogLinks, *with_these.expected_seconds});
    }
  }
  add_measured(row, gap);
  return gap;
}

/// The calibration of a machine that reduces and copies in no time.
Calibration links_alone(Calibration calibration) {
  for (CalibrationPoint& point : calibration.points) {
    if (point.kind == CalibrationKind::reduce_local || point.kind == CalibrationKind::copy) point.seconds = 0;
  }
  for (ReductionCost& cost : calibration.gammas) cost.seconds_per_byte = 0;
  calibration.kappa_seconds_per_byte = 0;
  return calibration;
}

std::optional<Gap> on_host_memory(const Run& run, const Row& row, const Lab01Ceilings& ceilings) {
  if (!run.calibration || ceilings.links.empty()) return std::nullopt;
  const std::string& algorithm = row.expectation.expected_by;
  const Expectation alone =
      expect_on_host_memory(row.measurement.key, algorithm, links_alone(*run.calibration), run.ranks,
                            run.traffic.value_or(TrafficMatrix{}));
  if (!alone.expected_seconds || *alone.expected_seconds <= 0) return std::nullopt;
  Gap gap{algorithm,
          {{kLineRate, bus_bytes(run, row) / ceilings.links.front().bytes_per_second},
           {kSteps, *alone.expected_seconds},
           {kCompute, *row.expectation.expected_seconds}}};
  add_measured(row, gap);
  return gap;
}

/// "0.56 (0.5 %)", "−10.85 (−8.8 %)": a part of the call's time `all`.
std::string with_share(std::int64_t value, std::int64_t all, int decimals) {
  const std::string_view sign = value < 0 ? "−" : "";
  const double percent = 100.0 * static_cast<double>(std::abs(value)) / static_cast<double>(all);
  return fmt::format("{0}{1} ({0}{2:.1f} %)", sign, fixed_point(std::abs(value), decimals), percent);
}

struct TermMeaning {
  std::string_view term;
  std::string_view meaning;
};
constexpr std::array<TermMeaning, 7> kMeanings{
    {{kByNccl, "what NCCL takes a link for in place of its line rate: see the links above"},
     {kProtocol, "what transport and algorithm lose on large buffers: down to the reachable rate above"},
     {kFill, "launch, steps, changes of protocol and pipelines that fill, by the model (docs/model.md)"},
     {kLogLinks, "the model again with the NICs and NVLinks that the log lists"},
     {kSteps, "latency of the steps, cache misses, the algorithm's own way (docs/model.md)"},
     {kCompute, "summing and copying on the cores, as calibrated"},
     {kLeft, "not explained by the model; negative: faster than it"}}};

/// The fewest decimals of a microsecond that show every level with three digits; 4 at most.
int gap_decimals(const std::vector<SizeGap>& gaps) {
  constexpr int kMax = 4;
  constexpr int kDigits = 3;
  int decimals = 0;
  for (const SizeGap& each : gaps) {
    for (const GapLevel& level : each.gap.levels) {
      const double microseconds = level.seconds / kMicrosecond;
      if (microseconds <= 0) continue;
      decimals = std::max(decimals, kDigits - 1 - static_cast<int>(std::floor(std::log10(microseconds))));
    }
  }
  return std::min(decimals, kMax);
}

/// The levels in units of 10^-decimals µs: what is printed are these and their differences, so that what a
/// reader adds up is exact.
std::vector<std::int64_t> rounded_levels(const Gap& gap, int decimals) {
  std::vector<std::int64_t> rounded;
  rounded.reserve(gap.levels.size());
  for (const GapLevel& level : gap.levels) {
    rounded.push_back(std::llround(level.seconds / kMicrosecond * std::pow(10, decimals)));
  }
  return rounded;
}

}  // namespace

std::optional<GpuCluster> with_links_of_log(const GpuCluster& cluster, const Run& run) {
  if (!run.log) return std::nullopt;
  const LogFacts& log = *run.log;
  GpuCluster seen = cluster;
  const bool sockets = uses_sockets(log);
  if (log.nics && !sockets && cluster.domains() > 1 && cluster.nics > 0) {
    // Ports of one NIC may be listed one by one, or fused into one: by their rate where the log tells it.
    const auto listed = static_cast<double>(log.nics->value.size());
    const double nics = log.nic_bytes_per_second && cluster.nic_line_rate > 0
                            ? listed * log.nic_bytes_per_second->value / kGigabyte / cluster.nic_line_rate
                            : listed;
    if (nics < kFewer * cluster.nics) use_nics(seen, std::max(1, static_cast<int>(std::lround(nics))));
  }
  // NCCL's line is about a pair: it is all of a GPU's links behind switches, and where there are two GPUs.
  const bool pair_is_all = cluster.nvswitch || cluster.ranks_per_node == 2;
  if (log.nvlink_least_bytes_per_second && pair_is_all && cluster.nvlinks > 0) {
    const double one = topology::traits(cluster.generation).nvlink.gigabytes_per_second * kGigabyte;
    const double links = log.nvlink_least_bytes_per_second->value / one;
    if (links < kFewer * cluster.nvlinks) seen.nvlinks = std::max(1, static_cast<int>(std::lround(links)));
  }
  if (seen == cluster) return std::nullopt;
  return seen;
}

std::optional<Gap> gap_of(const Run& run, const Row& row, const std::optional<Lab01Machine>& machine,
                          const Lab01Ceilings& ceilings) {
  if (!row.expectation.expected_seconds || *row.expectation.expected_seconds <= 0) return std::nullopt;
  if (!measures_gpus(run.backend)) return on_host_memory(run, row, ceilings);
  return machine ? on_gpus(run, row, *machine, ceilings) : std::nullopt;
}

std::string fixed_point(std::int64_t value, int decimals) {
  return fmt::format("{:.{}f}", static_cast<double>(value) / std::pow(10, decimals), decimals);
}

ReportSection gap_section(const Run& run, const Lab01Options& options, const std::vector<SizeGap>& gaps) {
  const int decimals = gap_decimals(gaps);
  const bool measured = options.prediction.empty();
  ReportTable table{.headings = {"µs"}, .right = 1};
  std::vector<ReportCell> algorithms{"algorithm"};
  std::vector<ReportCell> first{measures_gpus(run.backend) ? options.ceilings.are_bounds
                                                                 ? "the bytes at line rate"
                                                                 : "the bytes over the links as above"
                                                           : "the bytes over the link at its fastest"};
  const std::string_view bold = tone_class(Tone::warning);
  std::vector<ReportCell> last{{measured ? "measured" : "expected", bold}};
  for (const SizeGap& each : gaps) {
    const auto levels = rounded_levels(each.gap, decimals);
    table.headings.push_back(each.size);
    algorithms.emplace_back(each.gap.algorithm);
    first.emplace_back(with_share(levels.front(), levels.back(), decimals));
    last.emplace_back(fixed_point(levels.back(), decimals), bold);
  }
  table.headings.emplace_back("what it is");
  algorithms.emplace_back("that the expectation is of");
  first.emplace_back("");
  last.emplace_back("the sum of the lines above");
  table.rows = {algorithms, first};
  for (const TermMeaning& each : kMeanings) {
    std::vector<ReportCell> cells{each.term};
    bool any = false;
    for (const auto& [size, size_bytes, gap] : gaps) {
      const auto levels = rounded_levels(gap, decimals);
      const auto at = std::find_if(gap.levels.begin() + 1, gap.levels.end(),
                                   [&](const GapLevel& level) { return level.term == each.term; });
      any = any || at != gap.levels.end();
      const auto i = static_cast<std::size_t>(at - gap.levels.begin());
      cells.emplace_back(at == gap.levels.end()
                             ? std::string(kNoValue)
                             : with_share(levels[i] - levels[i - 1], levels.back(), decimals));
    }
    const bool error_known = each.term == kLeft && measures_gpus(run.backend);
    cells.emplace_back(std::string(each.meaning) +
                       (error_known ? ". Inside the band it is within the model's error" : ""));
    if (any) table.rows.push_back(std::move(cells));
  }
  table.rows.push_back(std::move(last));
  ReportSection section{
      "Where the time goes",
      {fmt::format("µs of one call, and its share of the {} time; each column adds up from top to bottom.",
                   measured ? "measured" : "expected"),
       std::move(table)}};
  if (options.machine && options.machine->cluster.domains() > 1 &&
      traits(options.machine->cluster.transport).slower_than_nics) {
    section.blocks.emplace_back(fmt::format(
        "No source says how far runs over {} stay below the NICs: {}.",
        traits(options.machine->cluster.transport).name,
        measured ? fmt::format("that part is in \"{}\"", kLeft) : "the expectation is a ceiling"));
  }
  return section;
}

}  // namespace collbench::analysis
