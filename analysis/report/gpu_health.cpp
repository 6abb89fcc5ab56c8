#include "analysis/report/sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/probe/siblings.hpp"
#include "base/units.hpp"
#include "base/word_list.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxNamedGpus = 3;
constexpr std::size_t kMaxAlike = 3;
constexpr std::size_t kMaxNotes = 1;

/// What to do about it. The reasons are nvidia-smi's own (nvidia-smi --help-query-gpu).
std::string_view next_step(GpuTrouble trouble) {
  switch (trouble) {
    case GpuTrouble::sw_power_cap:
      return "the power limit capped the clocks: nvidia-smi -q -d POWER shows it, -pl raises it if allowed";
    case GpuTrouble::hw_thermal_slowdown:
    case GpuTrouble::sw_thermal_slowdown:
      return "too hot: check fans, airflow and inlet temperature (nvidia-smi -q -d TEMPERATURE)";
    case GpuTrouble::hw_power_brake_slowdown:
      return "the power supply asked for less: check the PSUs and the rack's power budget";
    case GpuTrouble::hw_slowdown:
      return "too hot or too much power: nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER shows which";
    case GpuTrouble::sync_boost:
      return "another GPU of its sync boost group limited it: nvidia-smi -q -d PERFORMANCE on all of them";
    case GpuTrouble::ecc_corrected:
      return "its memory had errors that were corrected: nvidia-smi -q -d ECC,ROW_REMAPPER; watch it";
    case GpuTrouble::ecc_uncorrected:
      return "its memory is failing: nvidia-smi -q -d ECC,ROW_REMAPPER; drain the host";
    case GpuTrouble::pcie_replays:
      return "its PCIe link had errors: dmesg and lspci -vvv show which; reseat the card or its riser";
  }
  return "";
}

std::string format_gpus(const std::set<std::pair<std::string, std::string>>& gpus) {
  std::vector<std::string> named;
  for (const auto& [host, gpu] : gpus) named.push_back(fmt::format("{} of {}", gpu, host));
  return join_first(named, kMaxNamedGpus);
}

/// One trouble over all rows.
struct Occurrences {
  std::size_t rows = 0;
  std::set<std::pair<std::string, std::string>> gpus;  // host, GPU
};

void add_marks(const Run& run, ReportLines& facts) {
  std::map<GpuTrouble, Occurrences> troubles;
  for (const Row& row : run.rows) {
    std::set<GpuTrouble> of_row;
    for (const RowMark& mark : row.measurement.marks) {
      of_row.insert(mark.trouble);
      troubles[mark.trouble].gpus.emplace(mark.host, mark.gpu);
    }
    for (const GpuTrouble trouble : of_row) ++troubles[trouble].rows;
  }
  for (const auto& [trouble, where] : troubles) {
    add(facts, Tone::warning, "! {} in {} of {}, {}: {}", name(trouble), where.rows,
        counted(run.rows.size(), "row"), format_gpus(where.gpus), next_step(trouble));
  }
}

/// "SM clock 1410 to 1980 MHz", of all GPUs; that it is not known where none tells.
std::string range(const Telemetry& telemetry, std::optional<Gauge> GpuTelemetry::* figure,
                  std::string_view what, double unit, std::string_view unit_name) {
  std::optional<Gauge> all;
  for (const GpuTelemetry& gpu : telemetry.gpus) {
    const std::optional<Gauge>& gauge = gpu.*figure;
    if (!gauge) continue;
    if (!all) all = gauge;
    all->least = std::min(all->least, gauge->least);
    all->most = std::max(all->most, gauge->most);
  }
  if (!all) return fmt::format("{} unknown", what);
  return fmt::format("{} {:.0f} to {:.0f} {}", what, all->least / unit, all->most / unit, unit_name);
}

/// "no ECC errors", where every GPU has the counter and none moved.
std::string count(const Telemetry& telemetry, std::optional<CounterChange> GpuTelemetry::* figure,
                  std::string_view what) {
  std::uint64_t total = 0;
  for (const GpuTelemetry& gpu : telemetry.gpus) {
    const std::optional<CounterChange>& counter = gpu.*figure;
    if (!counter) return fmt::format("{} unknown", what);
    total += counter->after - std::min(counter->before, counter->after);
  }
  return total == 0 ? fmt::format("no {}", what) : fmt::format("{} {}", total, what);
}

/// The names of what the GPUs were read with: one, or both where hosts differ.
std::set<std::string_view> sources(const Telemetry& telemetry) {
  std::set<std::string_view> names;
  for (const GpuTelemetry& gpu : telemetry.gpus) names.insert(name(gpu.source));
  return names;
}

}  // namespace

ReportLines gpu_health_lines(const Run& run) {
  ReportLines facts;
  if (!run.telemetry) return facts;
  const Telemetry& telemetry = *run.telemetry;
  add_marks(run, facts);
  if (!telemetry.gpus.empty()) {
    add(facts, "{} in {} ({}): {}, {}, {}; {}, {}, {}", counted(telemetry.gpus.size(), "GPU"),
        counted(telemetry.readings, "reading"), fmt::join(sources(telemetry), ", "),
        range(telemetry, &GpuTelemetry::sm_clock_hertz, "SM clock", 1e6, "MHz"),
        range(telemetry, &GpuTelemetry::temperature_celsius, "temperature", 1, "°C"),
        range(telemetry, &GpuTelemetry::power_watts, "power", 1, "W"),
        count(telemetry, &GpuTelemetry::ecc_corrected, "corrected ECC errors"),
        count(telemetry, &GpuTelemetry::ecc_uncorrected, "uncorrected ECC errors"),
        count(telemetry, &GpuTelemetry::pcie_replays, "PCIe replays"));
  }
  for (const std::string& note : telemetry.notes)
    facts.push_back({"clocks, throttling and errors of the GPUs of " + note});
  return facts;
}

namespace {

/// Of a GPU that a probe names by CUDA's index, which is another in another process; empty where not known.
std::string pci_address(const Run& run, const std::string& host, const std::string& gpu) {
  for (const ProbeRecord& probe : run.gpu_probes)
    for (const ProbeGpu& each : probe.gpus)
      if (probe.host == host && each.name == gpu) return each.address;
  return {};
}

/// Those of `verdict` that are bad, or those that are suspect, are added to `found`.
void add_found(const Run& run, const ProbeVerdict& verdict, bool bad, std::vector<GpuAlone>& found) {
  for (const SlowPart& slow : verdict.slow) {
    if (slow.bad != bad) continue;
    const auto same = std::ranges::find_if(found, [&](const GpuAlone& each) {
      return each.host == slow.part.host && each.name == slow.part.name;
    });
    if (same != found.end()) {
      same->more += 1;
      continue;
    }
    const std::string address = pci_address(run, slow.part.host, slow.part.name);
    found.push_back({slow.part.host, slow.part.name, bad,
                     fmt::format("{} by itself: {}{}", bad ? "bad" : "suspect", slow.evidence,
                                 address.empty() ? "" : "; PCI " + address)});
  }
}

std::vector<GpuAlone> found_in(const Run& run, const ProbeVerdict& verdict) {
  std::vector<GpuAlone> found;
  for (const bool bad : {true, false}) add_found(run, verdict, bad, found);
  for (GpuAlone& each : found)
    if (each.more > 0) each.words += fmt::format(" (and in {})", counted(each.more, "more measurement"));
  return found;
}

}  // namespace

std::set<std::string> gpus_measured(const ProbeRecord& probe, GpuWork work) {
  std::set<std::string> measured;
  for (const ProbeMeasurement& each : probe.measurements)
    for (const ProbePart& part : each.parts)
      if (!part.peer && (work == GpuWork::any || each.size > 0)) measured.insert(part.name);
  return measured;
}

std::vector<GpuAlone> gpus_found_alone(const Run& run) {
  return run.gpu_probes.empty() ? std::vector<GpuAlone>() : found_in(run, judge_probes(run.gpu_probes));
}

ReportLines gpus_alone_lines(const Run& run) {
  ReportLines facts;
  if (run.gpu_probes.empty()) return facts;
  const ProbeVerdict verdict = judge_probes(run.gpu_probes);
  for (GpuAlone& each : found_in(run, verdict))
    facts.push_back({std::move(each.words), each.bad ? Tone::alarm : Tone::warning});
  std::size_t gpus = 0;
  for (const ProbeRecord& probe : run.gpu_probes) gpus += gpus_measured(probe, GpuWork::any).size();
  if (gpus > 0)
    add(facts, "{}, each alone: {}", counted(gpus, "GPU"),
        verdict.healthy.empty() ? "none was compared with others"
                                : "alike: " + join_first(verdict.healthy, kMaxAlike, "; "));
  if (!verdict.not_judged.empty())
    add(facts, "GPUs alone, not compared: {}", join_first(verdict.not_judged, kMaxNotes, "; "));
  for (const ProbeRecord& probe : run.gpu_probes)
    if (!probe.notes.empty())
      add(facts, "GPUs of {}, each alone: {}", probe.host, join_first(probe.notes, kMaxNotes, "; "));
  return facts;
}

}  // namespace collbench::analysis
