#include "analysis/probe/siblings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/probe/gpu_findings.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMinSiblings = 3;

ProbeRate part_rate(const ProbeRecord& record, const ProbePart& part, std::string kind) {
  return {.host = record.host,
          .name = part.name,
          .model = part.model,
          .kind = std::move(kind),
          .rate = median(part.windows),
          .drift = window_drift(part.windows),
          .cpu_share = part.cpu_share};
}

/// Adds the windows of a part to those of a sum; windows that only some parts have are left out. The lower
/// share of the cores remains, and none where one is not known.
void add_windows(ProbePart& sum, const ProbePart& part) {
  if (sum.windows.empty()) {
    sum.windows.assign(part.windows.size(), 0);
    sum.cpu_share = part.cpu_share;
  }
  // None is less than any number.
  sum.cpu_share = std::min(sum.cpu_share, part.cpu_share);
  sum.windows.resize(std::min(sum.windows.size(), part.windows.size()));
  for (std::size_t i = 0; i < sum.windows.size(); ++i) sum.windows[i] += part.windows[i];
}

/// Rates that are compared with each other.
struct Siblings {
  std::string measurement;
  std::vector<ProbeRate> rates;
  /// Whether a line says that they are alike: not of what each GPU has with few others of other hosts.
  bool is_listed = true;
};

/// By what makes them alike: the measurement, its size, code, work and time, the kind, the model with what
/// else GPUs have, and the host where nothing names the model, or the pair of GPUs.
using SiblingSets = std::map<std::tuple<std::string, int, std::string, std::string, double, std::string,
                                        std::string, std::string, std::string>,
                             Siblings>;

/// Whether something else ran on the core, or on one of several, or that is not known.
bool was_shared(const ProbeRate& rate) { return !rate.cpu_share || *rate.cpu_share < 1 - kTakenShare; }

bool is_of_gpu(const ProbeRate& rate) { return rate.kind.starts_with("GPU"); }

/// Whether the rate says something of the part alone.
bool can_be_judged(const ProbeRecord& record, const ProbeMeasurement& measurement, const ProbeRate& rate) {
  if (is_of_gpu(rate)) return true;
  if (rate.kind == "core" && measurement.unit == ProbeUnit::byte) return false;
  return !was_disturbed(record) && !was_shared(rate);
}

bool has_named_parts(const ProbeMeasurement& measurement) { return !measurement.parts.front().model.empty(); }

/// Whether it depends on where a GPU is on the board: what it makes with the host or with other GPUs.
bool is_of_board(const ProbeMeasurement& measurement, const ProbeRate& rate) {
  return rate.kind == "GPU sender" || rate.kind == "GPU receiver" ||
         (rate.kind == "GPU" && (measurement.id == "gpu-h2d" || measurement.id == "gpu-d2h"));
}

/// Whether the GPUs of a host were seen to reach each other alike: all pairs with peer access.
bool has_alike_gpus(const ProbeRecord& record) {
  const auto peers = std::ranges::find(record.measurements, "gpu-peer", &ProbeMeasurement::id);
  return peers != record.measurements.end() && std::ranges::all_of(peers->parts, [](const ProbePart& part) {
           return part.peer && part.peer->direct;
         });
}

/// With three hosts a GPU is compared with those of the same index; with fewer only where the board is alike.
bool is_compared(const std::vector<ProbeRecord>& records, const ProbeRecord& record,
                 const ProbeMeasurement& measurement, const ProbeRate& rate) {
  return !is_of_board(measurement, rate) || records.size() >= kMinSiblings || has_alike_gpus(record);
}

bool has_siblings(const std::vector<ProbeRecord>& records, const ProbeRecord& record,
                  const ProbeMeasurement& measurement, const ProbeRate& rate) {
  return can_be_judged(record, measurement, rate) && is_compared(records, record, measurement, rate);
}

SiblingSets sets_of(const std::vector<ProbeRecord>& records) {
  SiblingSets sets;
  for (const ProbeRecord& record : records) {
    for (const ProbeMeasurement& each : record.measurements) {
      for (const ProbeRate& rate : probe_rates(record, each)) {
        if (!has_siblings(records, record, each, rate)) continue;
        const bool is_by_name =
            rate.kind == "GPU pair" || (records.size() >= kMinSiblings && is_of_board(each, rate));
        const std::string only_among = is_by_name              ? rate.name
                                       : has_named_parts(each) ? std::string()
                                                               : record.host;
        Siblings& set = sets[{each.id, each.size, each.by, each.work,
                              is_of_gpu(rate) ? record.gpu_window_seconds : record.window_seconds, rate.kind,
                              rate.model, rate.setup, only_among}];
        set.measurement = measurement_name(each);
        set.is_listed = !is_by_name;
        set.rates.push_back(rate);
      }
    }
  }
  return sets;
}

/// What share of the median of healthy siblings may be by their scatter alone.
double scatter_line(const std::vector<double>& rates) {
  std::vector<double> logarithms;
  for (const double rate : rates) logarithms.push_back(std::log(rate));
  return std::exp(-population_line(logarithms));
}

/// "; SM clock 1305 MHz, 512 W, 86 °C; the others' clock 1755 MHz", of a GPU that was read.
std::string beside_words(const ProbeRate& rate, const Siblings& set) {
  if (rate.beside.empty()) return {};
  std::vector<double> clocks;
  for (const ProbeRate& other : set.rates) {
    if (&other != &rate && other.sm_clock_hertz) clocks.push_back(*other.sm_clock_hertz);
  }
  constexpr double kToMegahertz = 1e-6;
  return fmt::format(
      "; {}{}", rate.beside,
      clocks.empty() ? "" : fmt::format("; the others' clock {:.0f} MHz", median(clocks) * kToMegahertz));
}

void judge_set(const Siblings& set, ProbeVerdict& verdict) {
  const std::string who = counted(set.rates.size(), set.rates.front().kind);
  std::vector<double> values;
  for (const ProbeRate& rate : set.rates) values.push_back(rate.rate);
  const auto [low, high] = std::ranges::minmax_element(values);
  const std::string range = fmt::format("within {:.1f} %", 100 * (*high / *low - 1));
  if (set.rates.size() < kMinSiblings) {
    // A single host or GPU of its model needs no line; of two the difference is worth one.
    if (set.rates.size() == 2 && set.is_listed) {
      verdict.not_judged.push_back(
          fmt::format("{}: {} {}; of two nobody knows which is slow", set.measurement, who, range));
    }
    return;
  }
  const double middle = median(values);
  const double scatter = scatter_line(values);
  const double suspect_share = std::min(kSuspectShare, scatter);
  const double bad_share = std::min(kBadShare, scatter);
  const std::size_t before = verdict.slow.size();
  for (const ProbeRate& rate : set.rates) {
    const double share = rate.rate / middle;
    if (share >= suspect_share) continue;
    verdict.slow.push_back({rate, set.measurement, share,
                            fmt::format("{} of {}: {} makes {:.3f} of the median of {}{}", rate.name,
                                        rate.host, set.measurement, share, who, beside_words(rate, set)),
                            share < bad_share});
  }
  if (verdict.slow.size() != before || !set.is_listed) return;
  if (scatter >= kBadShare) {
    verdict.healthy.push_back(fmt::format("{}: {} {}", set.measurement, who, range));
  } else {
    verdict.not_judged.push_back(
        fmt::format("{}: {} {}; they scatter so that only one below {:.2f} of their median would be named",
                    set.measurement, who, range, scatter));
  }
}

/// What is said of a host whose cores are not judged as one; empty: nothing.
std::string disturbance(const ProbeRecord& record) {
  if (!record.taken_share)
    return fmt::format("the cores of {}: what others took of their time is not known", record.host);
  if (was_disturbed(record)) {
    return fmt::format(
        "the cores of {}: others took {:.0f} % of their time meanwhile; by how much what is shown is low is "
        "not known",
        record.host, 100 * *record.taken_share);
  }
  std::string first;
  std::size_t count = 0;
  std::optional<double> lowest = 1;
  for (const ProbeMeasurement& each : record.measurements) {
    for (const ProbeRate& rate : probe_rates(record, each)) {
      if (rate.kind != "core" || !was_shared(rate)) continue;
      lowest = std::min(lowest, rate.cpu_share);
      if (count++ == 0) first = fmt::format("{} of {} in {}", rate.name, record.host, each.name);
    }
  }
  if (count == 0) return {};
  if (!lowest) {
    return fmt::format("the cores of {}: how much of the time each was at work is not known", record.host);
  }
  return fmt::format(
      "{}{}: something else had up to {:.0f} % of the time there (a process, a CPU quota, the kernel); nor "
      "is what has such a core",
      first, count > 1 ? fmt::format(" and {} more", count - 1) : "", 100 * (1 - *lowest));
}

}  // namespace

bool was_disturbed(const ProbeRecord& record, double share) {
  return !record.taken_share || *record.taken_share > share;
}

std::vector<ProbeRate> probe_rates(const ProbeRecord& record, const ProbeMeasurement& measurement) {
  std::vector<ProbeRate> rates;
  std::map<int, ProbePart> nodes;
  std::map<int, std::size_t> cores_of;
  ProbePart all{.name = "all cores"};
  for (const ProbePart& part : measurement.parts) {
    if (!part.numa) continue;
    rates.push_back(part_rate(record, part, "core"));
    ProbePart& node = nodes[*part.numa];
    node.name = fmt::format("NUMA node {}", *part.numa);
    node.model = all.model = part.model;
    ++cores_of[*part.numa];
    add_windows(node, part);
    add_windows(all, part);
  }
  if (nodes.size() > 1) {
    for (auto& [number, node] : nodes) {
      node.model += fmt::format(", {}", counted(cores_of[number], "core"));
      rates.push_back(part_rate(record, node, "NUMA node"));
    }
  }
  // As nodes, hosts are alike where as many cores worked.
  all.model += fmt::format(", {}", counted(record.cores, "core"));
  if (!nodes.empty()) rates.push_back(part_rate(record, all, "host"));
  for (ProbeRate& rate : gpu_rates(record, measurement)) rates.push_back(std::move(rate));
  return rates;
}

double window_drift(const std::vector<double>& windows) {
  if (windows.size() < 4) return windows.back() / windows.front() - 1;
  const std::size_t last = windows.size() - 1;
  return (windows[last - 1] + windows[last]) / (windows[0] + windows[1]) - 1;
}

std::string measurement_name(const ProbeMeasurement& measurement) {
  const bool is_of_gpu = measurement.id.starts_with("gpu-");
  return is_of_gpu && measurement.size > 0 ? fmt::format("{}, n = {}", measurement.name, measurement.size)
                                           : measurement.name;
}

double rate_of_all_cores(const ProbeMeasurement& measurement) {
  ProbePart all;
  for (const ProbePart& part : measurement.parts) {
    if (part.numa) add_windows(all, part);
  }
  return all.windows.empty() ? 0 : median(all.windows);
}

ProbeVerdict judge_probes(const std::vector<ProbeRecord>& records) {
  ProbeVerdict verdict;
  for (const auto& [key, set] : sets_of(records)) judge_set(set, verdict);
  judge_results(records, verdict);
  for (const ProbeRecord& record : records) {
    for (const ProbeMeasurement& each : record.measurements) {
      const std::vector<ProbeRate> rates = probe_rates(record, each);
      const auto left_out = std::ranges::count_if(
          rates, [&](const ProbeRate& rate) { return !is_compared(records, record, each, rate); });
      if (left_out < static_cast<std::ptrdiff_t>(kMinSiblings)) continue;
      verdict.not_judged.push_back(
          fmt::format("{} of {}: GPUs are not compared: it differs by the board", each.name, record.host));
    }
    for (SlowPart& found : gpu_findings(record, verdict.slow)) verdict.slow.push_back(std::move(found));
    const bool has_cores = std::ranges::any_of(record.measurements,
                                               [](const auto& each) { return rate_of_all_cores(each) > 0; });
    if (!has_cores) continue;
    if (std::string line = disturbance(record); !line.empty()) verdict.not_judged.push_back(std::move(line));
    if (records.size() > 1 && !has_named_parts(record.measurements.front())) {
      verdict.not_judged.push_back(
          fmt::format("{} beside other hosts: the kernel does not name its processor", record.host));
    }
  }
  std::ranges::sort(verdict.slow, [](const SlowPart& a, const SlowPart& b) {
    return std::tie(a.share, a.evidence) < std::tie(b.share, b.evidence);
  });
  return verdict;
}

}  // namespace collbench::analysis
