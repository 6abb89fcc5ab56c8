#include "analysis/probe/gpu_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/statistics.hpp"
#include "base/units.hpp"
#include "topology/catalog/gpus.hpp"
#include "topology/catalog/training_gpus.hpp"

namespace collbench::analysis {
namespace {

constexpr double kHertzPerMegahertz = 1e6;
constexpr int kMinPublishedSize = 8192;
/// A power cap is what a healthy GPU meets in products; these are heat, and a power supply that asked for
/// less.
constexpr std::array kSignsOfTrouble{GpuTrouble::hw_slowdown, GpuTrouble::hw_thermal_slowdown,
                                     GpuTrouble::hw_power_brake_slowdown, GpuTrouble::sw_thermal_slowdown};

/// "power limit 700 W, driver 550.54.15"; what is not known is left out.
std::string setup_of(const ProbeGpu& gpu) {
  std::vector<std::string> words;
  if (gpu.power_limit_watts) words.push_back(fmt::format("power limit {:.0f} W", *gpu.power_limit_watts));
  if (!gpu.driver.empty()) words.push_back(fmt::format("driver {}", gpu.driver));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string setup_of(const ProbeRecord& record, const std::string& gpu_name) {
  const auto gpu = std::ranges::find(record.gpus, gpu_name, &ProbeGpu::name);
  const std::string count = counted(record.gpus.size(), "GPU");
  return gpu == record.gpus.end() ? count : fmt::format("{}, {}", count, setup_of(*gpu));
}

/// The median of those windows in which it was read.
std::optional<double> median_of(const ProbePart& part, std::optional<double> GpuWindow::* figure) {
  std::vector<double> values;
  for (const GpuWindow& window : part.telemetry) {
    if (window.*figure) values.push_back(*(window.*figure));
  }
  return values.empty() ? std::nullopt : std::optional(median(values));
}

std::optional<double> highest_temperature(const ProbePart& part) {
  std::optional<double> highest;
  for (const GpuWindow& window : part.telemetry) highest = std::max(highest, window.temperature_celsius);
  return highest;
}

/// "HW thermal slowdown in 2 of 5 windows", for each of the reasons that `counts` says yes to.
template <typename Counts>
std::vector<std::string> reasons_of(const ProbePart& part, const Counts& counts) {
  std::map<GpuTrouble, int> windows;
  for (const GpuWindow& window : part.telemetry) {
    for (const GpuTrouble trouble : window.throttled_by) windows[trouble] += counts(trouble) ? 1 : 0;
  }
  std::vector<std::string> words;
  for (const auto& [trouble, count] : windows) {
    if (count > 0)
      words.push_back(fmt::format("{} in {} of {} windows", name(trouble), count, part.telemetry.size()));
  }
  return words;
}

std::string beside(const ProbePart& part) {
  std::vector<std::string> words;
  if (const auto clock = median_of(part, &GpuWindow::sm_clock_hertz))
    words.push_back(fmt::format("SM clock {:.0f} MHz", *clock / kHertzPerMegahertz));
  if (const auto power = median_of(part, &GpuWindow::power_watts))
    words.push_back(fmt::format("{:.0f} W", *power));
  if (const auto degrees = highest_temperature(part)) words.push_back(fmt::format("{:.0f} °C", *degrees));
  for (std::string& reason : reasons_of(part, [](GpuTrouble) { return true; }))
    words.push_back(std::move(reason));
  return fmt::format("{}", fmt::join(words, ", "));
}

ProbeRate rate_of(const ProbeRecord& record, const ProbePart& part, std::string kind,
                  const std::string& gpu) {
  return {.host = record.host,
          .name = part.name,
          .model = part.model,
          .kind = std::move(kind),
          .rate = median(part.windows),
          .drift = window_drift(part.windows),
          .setup = setup_of(record, gpu),
          .sm_clock_hertz = median_of(part, &GpuWindow::sm_clock_hertz),
          .beside = beside(part)};
}

/// What a GPU makes with all others one after the other: as much to each of them, so the harmonic mean.
struct PeerSum {
  double times = 0;  ///< of a byte
  int pairs = 0;
  std::string model;
};

void add_ends(const ProbeRecord& record, const std::map<std::string, PeerSum>& ends, bool is_sender,
              std::vector<ProbeRate>& rates) {
  for (const auto& [gpu, sum] : ends) {
    const ProbePart part{
        .name = is_sender ? fmt::format("{} to the others", gpu) : fmt::format("the others to {}", gpu),
        .model = sum.model,
        .windows = {sum.pairs / sum.times}};
    rates.push_back(rate_of(record, part, is_sender ? "GPU sender" : "GPU receiver", gpu));
    // One that lacks a pair is compared with those that lack as many.
    rates.back().setup += fmt::format(", {} pairs", sum.pairs);
  }
}

/// The GPUs of a pair that failed; none of a single GPU.
std::optional<std::pair<std::string, std::string>> ends_of(const ProbeFailure& failure) {
  constexpr std::string_view kBetween = " to ";
  const std::size_t at = failure.part.find(kBetween);
  if (at == std::string::npos) return std::nullopt;
  return std::pair(failure.part.substr(0, at), failure.part.substr(at + kBetween.size()));
}

SlowPart failed_part(const ProbeRecord& record, const ProbeFailure& failure) {
  const bool is_pair = ends_of(failure).has_value();
  return {{record.host, failure.part, "", "GPU"},
          failure.measurement,
          0,
          fmt::format("{} of {}: {} stopped{}: {}", failure.part, record.host, failure.measurement,
                      is_pair ? "" : " it", failure.what),
          is_pair || !failure.what.starts_with(kAfterAnotherFailure)};
}

/// A GPU that all failed pairs have in common, with two others or more. Suspect and not bad, for what fails
/// after the first pair may fail because of that.
void add_common_end(const ProbeRecord& record, std::vector<SlowPart>& found) {
  std::map<std::string, std::set<std::string>> others;
  std::map<std::string, std::size_t> pairs_of;
  std::size_t pairs = 0;
  std::string measurement;
  for (const ProbeFailure& failure : record.failures) {
    const auto ends = ends_of(failure);
    if (!ends) continue;
    ++pairs;
    measurement = failure.measurement;
    others[ends->first].insert(ends->second);
    others[ends->second].insert(ends->first);
    ++pairs_of[ends->first];
    ++pairs_of[ends->second];
  }
  for (const auto& [gpu, with] : others) {
    if (pairs_of[gpu] != pairs || with.size() < 2) continue;
    found.push_back({{record.host, gpu, "", "GPU"},
                     measurement,
                     0,
                     fmt::format("{} of {}: it is in all {} pairs of GPUs whose {} failed", gpu, record.host,
                                 pairs, measurement),
                     false});
  }
}

/// Whose product has which result.
struct ProductResult {
  const ProbeRecord& record;
  const ProbePart& part;
};
struct ProductResults {
  std::string measurement;
  std::map<std::string, std::vector<ProductResult>> by_result{};
  std::size_t gpus = 0;
};

SlowPart wrong_result(const ProductResult& of, const std::string& measurement, const std::string& why) {
  return {{of.record.host, of.part.name, of.part.model, "GPU"},
          measurement,
          0,
          fmt::format(
              "{} of {}: {}: {}: possible silent data corruption by its arithmetic or memory; probe it again",
              of.part.name, of.record.host, measurement, why),
          false};
}

void judge_results_of(const ProductResults& all, ProbeVerdict& verdict) {
  const auto& most =
      *std::ranges::max_element(all.by_result, {}, [](const auto& each) { return each.second.size(); });
  const bool is_known = most.second.size() * 2 > all.gpus;
  for (const auto& [result, parts] : all.by_result)
    for (const ProductResult& each : parts)
      if (is_known && result != most.first)
        verdict.slow.push_back(wrong_result(each, all.measurement,
                                            fmt::format("its result is not bitwise identical to that of {}",
                                                        counted(most.second.size(), "other GPU"))));
  if (!is_known)
    verdict.not_judged.push_back(
        fmt::format("{}: the results of {} are not bitwise identical; which are wrong is not known",
                    all.measurement, counted(all.gpus, "GPU")));
}

}  // namespace

void judge_results(const std::vector<ProbeRecord>& records, ProbeVerdict& verdict) {
  using Setup = std::tuple<std::string, int, std::string, std::string, std::string>;
  std::map<Setup, ProductResults> products;
  std::size_t results = 0;
  bool is_wrong = false;
  for (const ProbeRecord& record : records) {
    for (const ProbeMeasurement& each : record.measurements) {
      for (const ProbePart& part : each.parts) {
        if (part.results.empty()) continue;
        const std::string name = measurement_name(each);
        ++results;
        if (part.results.front() != part.results.back()) {
          is_wrong = true;
          verdict.slow.push_back(
              wrong_result({record, part}, name,
                           "its first and last products of the same inputs are not bitwise identical"));
          continue;
        }
        ProductResults& all = products[{each.id, each.size, each.by, each.work, part.model}];
        all.measurement = name;
        all.by_result[part.results.front()].push_back({record, part});
        ++all.gpus;
      }
    }
  }
  const bool are_several =
      std::ranges::any_of(products, [](const auto& each) { return each.second.gpus > 1; });
  const std::size_t known = verdict.slow.size() + verdict.not_judged.size();
  for (const auto& [setup, all] : products) judge_results_of(all, verdict);
  if (results > 0 && !is_wrong && known == verdict.slow.size() + verdict.not_judged.size())
    verdict.healthy.push_back(fmt::format("{} on GPUs: first and last result bitwise identical{}",
                                          counted(results, "product"),
                                          are_several ? ", also between GPUs of the same model" : ""));
}

std::vector<ProbeRate> gpu_rates(const ProbeRecord& record, const ProbeMeasurement& measurement) {
  std::vector<ProbeRate> rates;
  std::map<std::string, PeerSum> senders;
  std::map<std::string, PeerSum> receivers;
  for (const ProbePart& part : measurement.parts) {
    if (part.numa) continue;
    if (!part.peer) {
      rates.push_back(rate_of(record, part, "GPU", part.name));
      continue;
    }
    rates.push_back(rate_of(record, part, "GPU pair", part.peer->from));
    rates.back().setup += part.peer->direct ? ", direct" : ", through the host";
    for (const auto& [ends, gpu] :
         {std::pair(&senders, &part.peer->from), std::pair(&receivers, &part.peer->to)}) {
      PeerSum& sum = (*ends)[*gpu];
      sum.times += 1 / rates.back().rate;
      sum.model = part.model;
      ++sum.pairs;
    }
  }
  add_ends(record, senders, true, rates);
  add_ends(record, receivers, false, rates);
  return rates;
}

std::optional<double> published_rate(const ProbeMeasurement& measurement, const std::string& model) {
  if (topology::is_slice_of_gpu(model)) return std::nullopt;
  const topology::GpuModel* const known = topology::find_gpu_model(model);
  if (known == nullptr) return std::nullopt;
  const auto all = topology::training_gpus();
  const auto gpu = std::ranges::find(all, known->name, &topology::TrainingGpu::name);
  if (gpu == all.end()) return std::nullopt;
  double rate = 0;
  if (measurement.id == "gpu-hbm-copy")
    rate = gpu->hbm_rate;
  else if (measurement.size < kMinPublishedSize)
    return std::nullopt;
  else if (measurement.id == "gpu-gemm-bf16" || measurement.id == "gpu-soak")
    rate = gpu->gemm_bf16;
  else if (measurement.id == "gpu-gemm-fp8")
    rate = gpu->gemm_fp8;
  return rate > 0 ? std::optional(rate) : std::nullopt;
}

std::vector<SlowPart> gpu_findings(const ProbeRecord& record, const std::vector<SlowPart>& slow) {
  std::vector<SlowPart> found;
  for (const ProbeFailure& failure : record.failures) found.push_back(failed_part(record, failure));
  add_common_end(record, found);
  std::set<std::string> named;  // with what throttled them
  for (const SlowPart& each : slow)
    if (each.part.host == record.host && !each.part.beside.empty()) named.insert(each.part.name);
  for (const ProbeMeasurement& each : record.measurements) {
    for (const ProbePart& part : each.parts) {
      const std::vector<std::string> reasons = reasons_of(part, [](GpuTrouble trouble) {
        return std::ranges::find(kSignsOfTrouble, trouble) != kSignsOfTrouble.end();
      });
      if (reasons.empty() || !named.insert(part.name).second) continue;
      const auto degrees = highest_temperature(part);
      found.push_back(
          {rate_of(record, part, "GPU", part.name), measurement_name(each), 1,
           fmt::format("{} of {}: {} of {}{}", part.name, record.host, fmt::join(reasons, ", "),
                       measurement_name(each), degrees ? fmt::format(", {:.0f} °C", *degrees) : ""),
           false});
    }
    for (const ProbeRate& rate : gpu_rates(record, each)) {
      const auto published = published_rate(each, rate.model);
      if (!published || rate.rate >= kPublishedShare * *published) continue;
      found.push_back({rate, measurement_name(each), rate.rate / *published,
                       fmt::format("{} of {}: {} makes {:.3f} of what is published of its model{}", rate.name,
                                   record.host, measurement_name(each), rate.rate / *published,
                                   rate.beside.empty() ? "" : "; " + rate.beside),
                       false});
    }
  }
  return found;
}

std::string gpu_inventory(const std::vector<std::string>& models) {
  std::map<std::string, int> counts;
  for (const std::string& model : models) ++counts[model];
  std::vector<std::string> words;
  for (const auto& [model, count] : counts) words.push_back(fmt::format("{} × {}", count, model));
  return fmt::format("{}", fmt::join(words, " + "));
}

std::string gpu_title(const ProbeRecord& record) {
  std::vector<std::string> models;
  std::set<std::string> setups;
  for (const ProbeGpu& gpu : record.gpus) {
    models.push_back(gpu.model);
    setups.insert(setup_of(gpu));
  }
  std::string title = gpu_inventory(models);
  for (const std::string& setup : setups)
    title += setup.empty() ? "" : (setups.size() > 1 ? " or " : ", ") + setup;
  return title;
}

}  // namespace collbench::analysis
