#include "analysis/verdict/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/healthy_ranges.hpp"
#include "analysis/models/nccl/nccl_choices.hpp"
#include "analysis/verdict/fitting_machines.hpp"
#include "base/statistics.hpp"
#include "topology/catalog/gpus.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxRows = 3;
constexpr double kFaultBelow = 0.5;      // of the ring
constexpr double kSameAlgorithm = 0.01;  // of its time: by two names
constexpr int kBoardGpus = 8;            // 4 of the 8 GPUs of an H200 node were published at the ring's rate

bool same_sweep(const RowKey& a, const RowKey& b) {
  return a.operation == b.operation && a.type == b.type && a.reduction == b.reduction &&
         a.in_place == b.in_place && a.algorithm == b.algorithm;
}

bool same_series(const RowKey& a, RowKey b) {
  b.in_place = a.in_place;
  return same_sweep(a, b);
}

/// The largest rows, the largest first.
SizeSeries largest_rows(const SizeSeries& series) {
  SizeSeries rows;
  for (auto row = series.rbegin(); row != series.rend() && rows.size() < kMaxRows; ++row)
    if (has_expectation(**row) && (*row)->measurement.key.size_bytes >= kLargeSize) rows.push_back(*row);
  return rows;
}

template <class Value>
double median_of(const SizeSeries& rows, Value value) {
  std::vector<double> values;
  for (const Row* const row : rows) values.push_back(value(*row));
  return median(values);
}

/// Another algorithm in whose range the rows lie, as far as they can tell; empty where there is none.
std::string other_algorithm(const SizeSeries& rows, const HealthyRange& range) {
  struct Candidate {
    std::string_view name;
    std::optional<double> Expectation::* seconds;
  };
  constexpr std::array<Candidate, 3> kCandidates{{{"ring", &Expectation::ring_seconds},
                                                  {"tree", &Expectation::tree_seconds},
                                                  {"nvls", &Expectation::nvls_seconds}}};
  for (const Candidate& candidate : kCandidates) {
    const bool is_another = std::ranges::all_of(rows, [&](const Row* row) {
      const auto& seconds = row->expectation.*candidate.seconds;
      return seconds && std::fabs(*seconds / *row->expectation.expected_seconds - 1) > kSameAlgorithm;
    });
    if (!is_another) continue;
    const double ratio = median_of(rows, [&](const Row& row) {
      return *(row.expectation.*candidate.seconds) / row.measurement.seconds;
    });
    if (ratio >= range.below && ratio <= range.high) return std::string(candidate.name);
  }
  return {};
}

double quickest_ratio(const Row& row) {
  const auto& interval = row.measurement.interval;
  return *row.expectation.expected_seconds / (interval ? interval->low_seconds : row.measurement.seconds);
}

/// "tree" of "tree/ll"; "auto" where nobody told what ran.
std::string algorithm_of(const Row& row) {
  const std::string& ran = row.measurement.algorithm_ran;
  return ran.substr(0, ran.find('/'));
}

/// Whether the rows are known to have run what is expected of them.
bool ran_as_expected(const SizeSeries& rows) {
  return std::ranges::all_of(
      rows, [](const Row* row) { return row->expectation.expected_by == algorithm_of(*row); });
}

/// Where a row of that size is in a series by size, or would be.
SizeSeries::iterator slot_of(SizeSeries& series, std::uint64_t size_bytes) {
  return std::ranges::lower_bound(series, size_bytes, {},
                                  [](const Row* each) { return each->measurement.key.size_bytes; });
}

/// Measured over expected busbw, as medians over the largest rows.
struct SeriesRatios {
  double to_ring = 0;      ///< the ring, or the operation's only algorithm
  double to_expected = 0;  ///< the algorithm that is expected
  double to_below = 0;     ///< the quick end of the interval, where there is one, over the edge of BELOW
  double to_sound = 0;     ///< over the edge of SOUND
  double to_high = 0;      ///< over the range's upper end
};

SeriesRatios series_ratios(const SizeSeries& rows, const RangeOfRow& range_of) {
  const auto ratio = [](const Row& row) {
    return *row.expectation.expected_seconds / row.measurement.seconds;
  };
  const auto to_ring = [](const Row& row) {
    return row.expectation.ring_seconds.value_or(*row.expectation.expected_seconds) / row.measurement.seconds;
  };
  return {median_of(rows, to_ring), median_of(rows, ratio),
          median_of(rows, [&](const Row& row) { return quickest_ratio(row) / range_of(row).below; }),
          median_of(rows, [&](const Row& row) { return ratio(row) / range_of(row).sound; }),
          median_of(rows, [&](const Row& row) { return ratio(row) / range_of(row).high; })};
}

/// By the median of the largest rows alone.
void judge_largest(SeriesJudgement& result, const SizeSeries& rows, const SeriesRatios& ratios,
                   bool choice_is_known) {
  if (ratios.to_high > 1) {
    result.reason = VerdictReason::above;
    return;
  }
  if (ratios.to_sound >= 1) {
    result.word = VerdictWord::sound;
    result.reason = VerdictReason::none;
    return;
  }
  if (ratios.to_below >= 1) {
    result.reason = VerdictReason::between;
    return;
  }
  if (!ran_as_expected(rows)) result.other_algorithm = other_algorithm(rows, *result.range);
  // Between ring and tree NCCL's choice may turn on a few percent.
  const auto expected = find_gpu_algorithm(rows.front()->expectation.expected_by);
  if (!result.other_algorithm.empty() && (!choice_is_known || expected == GpuAlgorithm::tree)) {
    result.reason = VerdictReason::other_algorithm;
    return;
  }
  result.word = ratios.to_ring < kFaultBelow ? VerdictWord::fault : VerdictWord::below;
  result.reason = VerdictReason::slow;
  if (!result.other_algorithm.empty() && is_nvls(expected)) {
    result.reason = VerdictReason::no_nvls;
  } else {
    result.other_algorithm.clear();
  }
}

/// A provider's limit decides by itself; another row that is slow by itself is no SOUND machine's.
void judge_each(SeriesJudgement& result, const SizeSeries& rows, const RangeOfRow& range_of) {
  for (const Row* const row : rows) {
    const HealthyRange range = range_of(*row);
    if (is_bad(result.word) || quickest_ratio(*row) >= range.below) continue;
    const bool is_limit = range.below == range.sound;
    if (!is_limit && result.word != VerdictWord::sound) continue;
    result.word = is_limit ? VerdictWord::below : VerdictWord::unclear;
    result.reason = is_limit ? VerdictReason::slow : VerdictReason::uneven;
    result.decided_by = row;
    if (is_limit) {
      result.ratio = *row->expectation.expected_seconds / row->measurement.seconds;
      result.range = range;
    }
  }
}

/// Whether an AllGather is SOUND in place at its largest sizes: what it is slower by out of place is the copy
/// of a rank's own part, which no link carries.
bool is_sound_without_copy(const SizeSeries& quicker, const RangeOfRow& range_of) {
  if (quicker.empty()) return false;
  const SeriesRatios ratios = series_ratios(quicker, range_of);
  return ratios.to_sound >= 1 && ratios.to_high <= 1 && std::ranges::all_of(quicker, [](const Row* row) {
           return row->measurement.key.in_place && row->measurement.key.operation == OperationId::all_gather;
         });
}

void add_note(Run& run, std::string note) {
  std::vector<std::string>& notes = run.log->notes;
  if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
}

/// A log that names another GPU than the topology has: the verdict is about the wrong machine, and which
/// machines would be the right ones. Empty where they agree, or nobody knows.
std::string another_gpu(const Run& run, const GpuCluster& cluster) {
  if (!run.log || !run.log->gpu) return {};
  const topology::GpuModel* model = topology::find_gpu_model(run.log->gpu->value);
  if (model != nullptr && model->name == cluster.gpu) return {};
  if (cluster.gpu == kUnknownGpu && (model == nullptr || model->generation() == cluster.generation))
    return {};
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

/// The cluster with the algorithm that ran: asked for, told by the log, or seen by the observer. One that has
/// no model is named, and the expectation is over all algorithms, as it is where NVLS was lost and nobody
/// asked for another algorithm: a sound machine would have run it.
GpuCluster running(GpuCluster cluster, const std::string& algorithm) {
  const bool in_place_of_nvls = !cluster.run.lost_nvls.empty() && !cluster.run.settings_choose;
  if (!algorithm.empty() && algorithm != kLibraryChoice && !in_place_of_nvls)
    cluster.run.algorithm = algorithm;
  return cluster;
}

/// Whether NCCL has kernels of NVLS for it (ncclNvlsSupported in NCCL's src/include/device.h, 2.18 to 2.30):
/// not for 8-bit types, products and averages, nor the extremes of floats and doubles. What does not reduce
/// is copied as bytes.
bool nvls_has(const RowKey& key) {
  if (!key.reduction) return true;
  if (traits(key.type).bytes == 1) return false;
  const bool is_extreme = *key.reduction == Reduction::min || *key.reduction == Reduction::max;
  const bool is_wide_float = key.type == DataType::float32 || key.type == DataType::float64;
  return *key.reduction == Reduction::sum || (is_extreme && !is_wide_float);
}

/// NCCL's choice as the table has it, which is of floats; without NVLS where it has none for the row.
GpuCluster choosing(GpuCluster cluster, const RowKey& key) {
  if (nvls_has(key)) return with_table_choice(std::move(cluster), key.operation, key.size_bytes);
  cluster.run.no_nvls = true;
  cluster.run.no_nvls_tree = true;
  return cluster;
}

/// The same of a row, with the protocol; where nobody told, with NCCL's own choice, as far as it is known.
GpuCluster running(const GpuCluster& cluster, const Row& row) {
  const RowKey& key = row.measurement.key;
  const std::string& ran = row.measurement.algorithm_ran;
  GpuCluster found = running(cluster, algorithm_of(row));
  if (const auto slash = ran.find('/'); slash != std::string::npos)
    found.run.protocol = ran.substr(slash + 1);
  return choosing(std::move(found), key);
}

/// Whether NCCL of this version takes what is expected here: where its version is known, nothing forces
/// another algorithm, and all GPUs of a board take part.
bool choice_is_known(const GpuCluster& cluster) {
  return cluster.run.nccl_version != 0 && !cluster.run.settings_choose &&
         cluster.ranks_per_node >= kBoardGpus;
}

/// The same for a sweep's verdict, which is about its large rows: where they all ran one algorithm.
GpuCluster running(const GpuCluster& cluster, const SizeSeries& series) {
  std::set<std::string> algorithms;
  for (const Row* row : series) {
    if (row->measurement.key.size_bytes >= kLargeSize) algorithms.insert(algorithm_of(*row));
  }
  const RowKey& largest = series.back()->measurement.key;
  return choosing(algorithms.size() == 1 ? running(cluster, *algorithms.begin()) : cluster, largest);
}

/// Measured over expected at which a NIC would carry more than its line rate: no NIC does, so that the
/// machine or the rank count is another one.
double line_rate_ratio(const Row& row, const GpuCluster& cluster) {
  constexpr double kRounding = 1.02;  // of rates that providers print, and of the nodes' clocks
  const RowKey& key = row.measurement.key;
  const double algbw = static_cast<double>(key.size_bytes) / kGigabyte / *row.expectation.expected_seconds;
  const auto nic = link_loads(operation(key.operation), cluster, expected_algorithm(row), algbw).nic;
  const bool is_known = nic && *nic > 0 && cluster.nic_line_rate > 0;
  return is_known ? kRounding * cluster.nic_line_rate / *nic : std::numeric_limits<double>::infinity();
}

/// Of each row, by the expectation that it has. `ran` outlives it.
RangeOfRow ranges_on(const GpuCluster& ran) {
  return [&ran](const Row& row) {
    const RowKey& key = row.measurement.key;
    const double busbw = bus_bandwidth(operation(key.operation), key.size_bytes, ran.ranks(),
                                       *row.expectation.expected_seconds);
    HealthyRange range = healthy_range(key.operation, key.size_bytes, busbw / kGigabyte, ran);
    range.high = std::min(range.high, line_rate_ratio(row, ran));
    return range;
  };
}

/// Why nothing is expected of a row that the models have a formula for; empty: it is. They are of calls that
/// read memory and of the channels that NCCL takes by itself.
std::string outside_the_models(const Run& run, const RowKey& key) {
  if (asked_algorithm(key.algorithm).ctas > 0)
    return "no expectation: the models are of the CTAs that NCCL takes by itself";
  if (is_hot(run) && key.size_bytes < kBeyondL2)
    return fmt::format(
        "no expectation: timed calls repeat on one address (hot), so that sizes below {} may come from the "
        "L2",
        format_bytes(kBeyondL2));
  return {};
}

/// What the run itself shows that slows its rows: what held GPUs of `series` back, and other work on the
/// hosts.
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

/// `wrong_machine`: that no machine of the run's GPUs was asked for, in words; empty where one was.
void judge_rows_of(Run& run, const SizeSeries& series, const GpuCluster& cluster,
                   const std::string& wrong_machine) {
  const GpuCluster ran = running(cluster, series);
  SeriesJudgement judgement =
      judge_series(series, quicker_rows(run.rows, series), ranges_on(ran), choice_is_known(ran));
  if (judgement.word == VerdictWord::sound)
    judgement.hidden = hidden_losses(*series.back(), *judgement.range, ran);
  std::vector<std::string> seen = losses_stated(run, cluster, has_algorithms(*series.back()));
  for (std::string& each : slowdowns_seen(run, series)) seen.push_back(std::move(each));
  std::string why = explain_series(series, judgement, ran, seen);
  if (!wrong_machine.empty() && !why.empty()) {
    // That no machine of these GPUs was asked for is the explanation; what other GPUs would give is none.
    why = judgement.reason == VerdictReason::above ? fmt::format("{}.", wrong_machine)
                                                   : fmt::format("{}. {}", wrong_machine, why);
  }
  const double peak = peak_busbw(series, ran);
  const RowKey largest = series.back()->measurement.key;
  for (Row& row : run.rows) {
    const RowKey& key = row.measurement.key;
    if (!row.measurement.unavailable.empty() || row.measurement.seconds <= 0) continue;
    if (!in_series(row, series) || has_wrong_data(row.measurement)) continue;
    const std::string outside = outside_the_models(run, key);
    row.verdict = {judgement.word, outside.empty() ? explain_row(row, peak, ran) : outside, judgement.ratio,
                   judgement.range, judgement.hidden};
    if (key.size_bytes == largest.size_bytes && !why.empty()) row.verdict.explanation = why;
  }
}

}  // namespace

std::vector<SizeSeries> series_of(const std::vector<Row>& rows) {
  std::vector<SizeSeries> all_series;
  for (const Row& row : rows) {
    if (!row.measurement.unavailable.empty() || row.measurement.seconds <= 0) continue;
    const auto found = std::ranges::find_if(all_series, [&](const SizeSeries& series) {
      return same_sweep(series.front()->measurement.key, row.measurement.key);
    });
    if (found != all_series.end()) {
      found->push_back(&row);
    } else {
      all_series.push_back({&row});
    }
  }
  for (SizeSeries& series : all_series) {
    std::ranges::sort(series, [](const Row* a, const Row* b) {
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

std::vector<SizeSeries> verdict_series_of(const std::vector<Row>& rows) {
  std::vector<SizeSeries> merged;
  for (SizeSeries& series : judged_series_of(rows)) {
    const RowKey& key = series.front()->measurement.key;
    const auto counterpart = std::ranges::find_if(
        merged, [&](const SizeSeries& each) { return same_series(each.front()->measurement.key, key); });
    if (counterpart == merged.end()) {
      merged.push_back(std::move(series));
      continue;
    }
    for (const Row* const row : series) {
      const std::uint64_t size = row->measurement.key.size_bytes;
      const auto slot = slot_of(*counterpart, size);
      if (slot == counterpart->end() || (*slot)->measurement.key.size_bytes != size) {
        counterpart->insert(slot, row);
      } else if (row->measurement.seconds > (*slot)->measurement.seconds) {
        *slot = row;
      }
    }
  }
  return merged;
}

bool in_series(const Row& row, const SizeSeries& series) {
  return same_series(series.front()->measurement.key, row.measurement.key);
}

SizeSeries quicker_rows(const std::vector<Row>& rows, const SizeSeries& series) {
  SizeSeries quicker = series;
  for (const Row& row : rows) {
    if (!has_expectation(row) || has_wrong_data(row.measurement) || !in_series(row, series)) continue;
    const auto each = slot_of(quicker, row.measurement.key.size_bytes);
    if (row.measurement.seconds < (*each)->measurement.seconds) *each = &row;
  }
  return quicker;
}

SeriesJudgement judge_series(const SizeSeries& series, const SizeSeries& quicker, const RangeOfRow& range_of,
                             bool choice_is_known) {
  SeriesJudgement result;
  if (std::ranges::none_of(series, [](const Row* row) { return has_expectation(*row); })) return result;
  result.word = VerdictWord::unclear;
  result.reason = VerdictReason::no_large_row;
  if (const SizeSeries rows = largest_rows(series); !rows.empty()) {
    const SeriesRatios ratios = series_ratios(rows, range_of);
    result.ratio = ratios.to_expected;
    result.range = range_of(*rows[rows.size() / 2]);
    judge_largest(result, rows, ratios, choice_is_known);
    const SizeSeries quick_rows = largest_rows(quicker);
    if (result.word == VerdictWord::below && is_sound_without_copy(quick_rows, range_of)) {
      result = {VerdictWord::unclear,
                VerdictReason::copy,
                series_ratios(quick_rows, range_of).to_expected,
                result.range,
                {},
                nullptr,
                {}};
    }
    judge_each(result, rows, range_of);
  }
  // What only one of both places shows is a hiccup.
  const Row* const collapsed = is_bad(result.word) ? nullptr : collapsed_row(quicker);
  if (collapsed != nullptr) {
    result.word = VerdictWord::below;
    result.reason = VerdictReason::collapsed;
    result.decided_by = collapsed;
    result.ratio = *collapsed->expectation.expected_seconds / collapsed->measurement.seconds;
  }
  return result;
}

void require_times_of_gpus(const Run& run, const std::string& where) {
  if (!run.gpus_simulated) return;
  throw usage_error(where, "the run is of simulated GPUs, whose times are the CPU's",
                    "give a run of real GPUs; collbench report shows this one");
}

Run judged_on_gpus(Run run, const GpuCluster& cluster) {
  // No model holds for simulated GPUs, nor for those of another maker, whatever machine was given.
  const bool is_other_maker =
      run.log && run.log->gpu && !topology::other_gpu_maker(run.log->gpu->value).empty();
  if (run.gpus_simulated || is_other_maker) {
    for (Row& row : run.rows) {
      row.verdict = {};
      row.expectation = {};
    }
    return run;  // no log has nodes alone, and those of simulated GPUs pass here, too
  }
  const std::string wrong_machine = another_gpu(run, cluster);
  if (!wrong_machine.empty()) add_note(run, wrong_machine);
  warn_of_another_transport(run, cluster);
  for (Row& row : run.rows) {
    const RowKey& key = row.measurement.key;
    row.verdict = {};
    row.expectation = outside_the_models(run, key).empty()
                          ? expect_on_gpus(key.operation, key.size_bytes, running(cluster, row))
                          : Expectation{};
  }
  for (const SizeSeries& series : verdict_series_of(run.rows))
    judge_rows_of(run, series, cluster, wrong_machine);
  judge_beside_rows(run, cluster);
  return run;
}

void explain_bad(Run& run, const std::string& sentence) {
  if (sentence.empty()) return;
  for (const SizeSeries& series : verdict_series_of(run.rows)) {
    const RowKey largest = series.back()->measurement.key;
    for (Row& row : run.rows)
      if (is_bad(row.verdict.word) && row.measurement.key.size_bytes == largest.size_bytes &&
          same_series(largest, row.measurement.key))
        row.verdict.explanation += " " + sentence;
  }
}

std::string explained_loss(const Run& judged, const GpuCluster& found) {
  constexpr double kAsGood = 0.02;  // of the expected rate
  const Row* worst = nullptr;
  for (const SizeSeries& series : verdict_series_of(judged.rows)) {
    const Row* const largest = series.back();
    if (!is_bad(largest->verdict.word) || !largest->expectation.expected_seconds) continue;
    if (worst == nullptr || largest->verdict.ratio.value_or(1) < worst->verdict.ratio.value_or(1))
      worst = largest;
  }
  if (worst == nullptr) return {};
  const RowKey& key = worst->measurement.key;
  const auto as_found =
      expect_on_gpus(key.operation, key.size_bytes, running(found, *worst)).expected_seconds;
  const double sound = *worst->expectation.expected_seconds;
  if (!as_found || sound / *as_found > 1 - kAsGood) return {};
  constexpr double kContradicts = 0.8;  // of the measured rate
  const double found_share = sound / *as_found;
  const double measured_share = sound / worst->measurement.seconds;
  const std::string sentence =
      fmt::format("As it was found, the machine would give {:.2f} of the expected rate, ", found_share);
  if (found_share < kContradicts * measured_share)
    return sentence + "less than was measured: that was not its state during this run.";
  const double explained = (1 - found_share) / (1 - measured_share);
  return sentence +
         fmt::format("which explains {} of the loss of {}.",
                     explained > 0.95 ? std::string("all") : fmt::format("{:.0f} %", 100 * explained),
                     operation(key.operation).name);
}

bool is_judged(const Run& run) {
  return std::ranges::any_of(run.rows, [](const Row& row) { return row.verdict.word != VerdictWord::none; });
}

}  // namespace collbench::analysis
