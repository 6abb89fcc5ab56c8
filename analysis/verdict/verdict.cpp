#include "analysis/verdict/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/models/nccl/bands.hpp"
#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/nccl_choices.hpp"
#include "analysis/verdict/fitting_machines.hpp"
#include "base/statistics.hpp"
#include "topology/catalog/gpus.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxRows = 3;
constexpr double kFaultBelow = 0.5;   // of the ring
constexpr double kWrongAbove = 1.05;  // of the best algorithm

bool judged(const Row& row) {
  return row.measurement.unavailable.empty() && row.measurement.seconds > 0 &&
         row.expectation.slowest_seconds && row.expectation.expected_seconds;
}

bool same_sweep(const RowKey& a, const RowKey& b) {
  return a.operation == b.operation && a.type == b.type && a.reduction == b.reduction &&
         a.in_place == b.in_place && a.algorithm == b.algorithm;
}

double low_seconds(const Row& row, const LowMargin& margin) {
  return *row.expectation.slowest_seconds * (margin ? margin(row) : 1);
}

/// The whole interval of busbw below the band and its margin.
bool surely_below(const Row& row, const LowMargin& margin) {
  return row.measurement.interval && row.measurement.interval->low_seconds > low_seconds(row, margin);
}

bool low_by_intervals(const SizeSeries& series, const LowMargin& margin) {
  bool previous = false;
  for (const Row* row : series) {
    if (!judged(*row)) continue;
    const bool below = surely_below(*row, margin);
    if (below && (previous || row->measurement.key.size_bytes >= kLargeSize)) return true;
    previous = below;
  }
  return false;
}

bool has_intervals(const SizeSeries& series) {
  return std::any_of(series.begin(), series.end(),
                     [](const Row* row) { return row->measurement.interval.has_value(); });
}

}  // namespace

double low_margin(const Row& row, const GpuCluster& cluster) {
  const RowKey& key = row.measurement.key;
  const Band& edges =
      band(band_class(key.operation, cluster), static_cast<double>(key.size_bytes), cluster.ranks());
  return edges.low / edges.surely_low;
}

std::vector<SizeSeries> series_of(const std::vector<Row>& rows) {
  std::vector<SizeSeries> all_series;
  for (const Row& row : rows) {
    if (!row.measurement.unavailable.empty() || row.measurement.seconds <= 0) continue;
    const auto found = std::find_if(all_series.begin(), all_series.end(), [&](const SizeSeries& series) {
      return same_sweep(series.front()->measurement.key, row.measurement.key);
    });
    if (found != all_series.end()) {
      found->push_back(&row);
    } else {
      all_series.push_back({&row});
    }
  }
  for (SizeSeries& series : all_series) {
    std::sort(series.begin(), series.end(), [](const Row* a, const Row* b) {
      return std::pair(a->measurement.key.size_bytes, a) < std::pair(b->measurement.key.size_bytes, b);
    });
  }
  return all_series;
}

std::vector<SizeSeries> judged_series_of(const std::vector<Row>& rows) {
  std::vector<SizeSeries> all_series = series_of(rows);
  for (SizeSeries& series : all_series)
    std::erase_if(series, [](const Row* row) { return has_wrong_data(row->measurement); });
  std::erase_if(all_series, [](const SizeSeries& series) { return series.empty(); });
  return all_series;
}

std::optional<SeriesRatios> series_ratios(const SizeSeries& series, const LowMargin& margin) {
  std::vector<double> ring;
  std::vector<double> best;
  std::vector<double> edge;
  std::vector<double> low;
  std::vector<double> upper_edge;
  for (auto row = series.rbegin(); row != series.rend() && ring.size() < kMaxRows; ++row) {
    if (!judged(**row) || (*row)->measurement.key.size_bytes < kLargeSize) continue;
    const Expectation& expected = (*row)->expectation;
    const double seconds = (*row)->measurement.seconds;
    ring.push_back(expected.ring_seconds.value_or(*expected.expected_seconds) / seconds);
    best.push_back(*expected.expected_seconds / seconds);
    edge.push_back(*expected.slowest_seconds / seconds);
    low.push_back(low_seconds(**row, margin) / seconds);
    upper_edge.push_back(expected.fastest_seconds.value_or(*expected.expected_seconds) / seconds);
  }
  if (ring.empty()) return std::nullopt;
  return SeriesRatios{median(ring), median(best), median(edge), median(low), median(upper_edge), ring.size()};
}

VerdictWord verdict_of(const SizeSeries& series, const LowMargin& margin) {
  if (std::none_of(series.begin(), series.end(), [](const Row* row) { return judged(*row); })) {
    return VerdictWord::none;
  }
  const auto ratios = series_ratios(series, margin);
  if (ratios && ratios->to_ring < kFaultBelow && ratios->to_lower_edge < 1) return VerdictWord::fault;
  if (ratios && ratios->to_best > kWrongAbove && ratios->to_upper_edge > 1) {
    return VerdictWord::model_or_ranks_wrong;
  }
  if (has_intervals(series)) {
    if (low_by_intervals(series, margin)) return VerdictWord::low;
    return low_by_intervals(series, {}) ? VerdictWord::none : VerdictWord::as_expected;
  }
  if (!ratios) return VerdictWord::none;
  if (ratios->to_lower_edge >= 1) return VerdictWord::as_expected;
  return ratios->rows > 1 && ratios->to_low < 1 ? VerdictWord::low : VerdictWord::none;
}

namespace {

bool is_low(const Row& row) {
  return row.verdict.word == VerdictWord::low || row.verdict.word == VerdictWord::fault;
}

void add_note(Run& run, std::string note) {
  std::vector<std::string>& notes = run.log->notes;
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

/// A log that names another GPU than the topology has: the verdict is about the wrong machine, and which
/// machines would be the right ones. Empty where they agree, or nobody knows.
std::string another_gpu(const Run& run, const GpuCluster& cluster) {
  if (!run.log || !run.log->gpu) return {};
  const topology::GpuModel* model = topology::find_gpu_model(run.log->gpu->value);
  if (model != nullptr && model->name == cluster.gpu) return {};
  if (cluster.gpu == kUnknownGpu && (model == nullptr || model->sm == cluster.sm)) return {};
  if (cluster.gpu.find(run.log->gpu->value) != std::string::npos) return {};
  const std::string fits = fitting_words(fitting_machines(*run.log));
  return fmt::format("the log's GPUs are {} (line {}), but it is judged as a machine with {}{}{}",
                     run.log->gpu->value, run.log->gpu->line, cluster.gpu, fits.empty() ? "" : ": ", fits);
}

/// A log that shows another transport than it is judged by, which the user gave.
void warn_of_another_transport(Run& run, const GpuCluster& cluster) {
  if (!run.log || cluster.run.logged == Transport::unknown || cluster.run.logged == cluster.transport) return;
  add_note(run, fmt::format("the log says network {}, but it is judged as {}", cluster.run.network,
                            traits(cluster.transport).name));
}

/// "tree" of "tree/ll"; "auto" where nobody told what ran.
std::string algorithm_of(const Row& row) {
  const std::string& ran = row.measurement.algorithm_ran;
  return ran.substr(0, ran.find('/'));
}

/// The cluster with the algorithm that ran: asked for, told by the log, or seen by the observer. One that has
/// no model is named, and the expectation is over all algorithms.
GpuCluster running(GpuCluster cluster, const std::string& algorithm) {
  if (!algorithm.empty() && algorithm != kLibraryChoice) cluster.run.algorithm = algorithm;
  return cluster;
}

/// The same of a row, with the protocol; where nobody told, with NCCL's own choice, as far as it is known.
GpuCluster running(const GpuCluster& cluster, const Row& row) {
  const RowKey& key = row.measurement.key;
  const std::string& ran = row.measurement.algorithm_ran;
  GpuCluster found = running(cluster, algorithm_of(row));
  if (const auto slash = ran.find('/'); slash != std::string::npos)
    found.run.protocol = ran.substr(slash + 1);
  return with_table_choice(std::move(found), key.operation, key.size_bytes);
}

/// The same for a sweep's verdict, which is about its large rows: where they all ran one algorithm.
GpuCluster running(const GpuCluster& cluster, const SizeSeries& series) {
  std::set<std::string> algorithms;
  for (const Row* row : series) {
    if (row->measurement.key.size_bytes >= kLargeSize) algorithms.insert(algorithm_of(*row));
  }
  const RowKey& largest = series.back()->measurement.key;
  return with_table_choice(algorithms.size() == 1 ? running(cluster, *algorithms.begin()) : cluster,
                           largest.operation, largest.size_bytes);
}

}  // namespace

std::vector<std::string> slowdowns_seen(const Run& run, const SizeSeries& series) {
  std::vector<std::string> seen;
  std::map<std::string_view, std::string> troubles;  // the first GPU that had it
  for (const Row* row : series)
    for (const RowMark& mark : row->measurement.marks)
      if (mark.trouble != GpuTrouble::ecc_corrected)
        troubles.try_emplace(name(mark.trouble), fmt::format("{} of {}", mark.gpu, mark.host));
  for (const auto& [trouble, gpu] : troubles) seen.push_back(fmt::format("{} on {}", trouble, gpu));
  if (!run.load_notes.empty()) seen.emplace_back("other work on the hosts' cores (above)");
  return seen;
}

Run judged_on_gpus(Run run, const GpuCluster& cluster) {
  // No model holds for GPUs of another maker, whatever machine was given.
  if (run.log && run.log->gpu && !topology::other_gpu_maker(run.log->gpu->value).empty()) {
    for (Row& row : run.rows) {
      row.verdict = {};
      row.expectation = {};
    }
    return run;
  }
  const std::string wrong_machine = another_gpu(run, cluster);
  if (!wrong_machine.empty()) add_note(run, wrong_machine);
  warn_of_another_transport(run, cluster);
  for (Row& row : run.rows) {
    row.verdict = {};
    row.expectation =
        expect_on_gpus(row.measurement.key.operation, row.measurement.key.size_bytes, running(cluster, row));
  }
  for (const SizeSeries& series : judged_series_of(run.rows)) {
    const GpuCluster ran = running(cluster, series);
    const VerdictWord word = verdict_of(series, [&](const Row& row) { return low_margin(row, ran); });
    std::string why = explain_series(series, word, ran, slowdowns_seen(run, series));
    if (!wrong_machine.empty() && !why.empty()) {
      // That no machine of these GPUs was asked for is the explanation; what other GPUs would give is none.
      why = word == VerdictWord::model_or_ranks_wrong ? fmt::format("{}.", wrong_machine)
                                                      : fmt::format("{}. {}", wrong_machine, why);
    }
    const double peak = peak_busbw(series, ran);
    for (const Row* row : series) {
      // The sweep shows the rows of `run` to read; here they are ours to write.
      Row& own = run.rows[static_cast<std::size_t>(row - run.rows.data())];
      own.verdict.word = word;
      const bool last = row == series.back() && !why.empty();
      own.verdict.explanation = last ? why : explain_row(*row, peak, ran);
    }
  }
  return run;
}

void explain_low(Run& run, const std::string& sentence) {
  if (sentence.empty()) return;
  for (const SizeSeries& series : judged_series_of(run.rows)) {
    Row& last = run.rows[static_cast<std::size_t>(series.back() - run.rows.data())];
    if (is_low(last)) last.verdict.explanation += " " + sentence;
  }
}

bool is_low(const Run& run) {
  return std::any_of(run.rows.begin(), run.rows.end(), [](const Row& row) { return is_low(row); });
}

bool is_judged(const Run& run) {
  return std::any_of(run.rows.begin(), run.rows.end(),
                     [](const Row& row) { return row.verdict.word != VerdictWord::none; });
}

}  // namespace collbench::analysis
