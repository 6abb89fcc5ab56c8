#include "analysis/compare/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/report/diff_report.hpp"
#include "analysis/report/sections.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"
#include "topology/cluster/cluster_topology.hpp"

namespace collbench::analysis {
namespace {

using Lines = std::vector<std::string>;

/// "NCCL 2.28.9 → 2.30.7"; nothing where they are equal or both are empty.
void add_change(Lines& lines, const std::string& what, const std::string& before, const std::string& after) {
  if (before == after) return;
  const auto shown = [](const std::string& text) { return text.empty() ? std::string("none") : text; };
  lines.push_back(fmt::format("{}: {} → {}", what, shown(before), shown(after)));
}

void add_versions(Lines& lines, const Versions& a, const Versions& b) {
  add_change(lines, "collbench", a.collbench, b.collbench);
  add_change(lines, "MPI", a.mpi, b.mpi);
  add_change(lines, "NCCL", a.nccl, b.nccl);
  add_change(lines, "CUDA", a.cuda, b.cuda);
  add_change(lines, "hwloc", a.hwloc, b.hwloc);
}

void add_environment(Lines& lines, const Run& a, const Run& b) {
  std::set<std::string> names;
  for (const auto& [variable, value] : a.environment) names.insert(variable);
  for (const auto& [variable, value] : b.environment) names.insert(variable);
  const auto value_in = [](const Run& run, const std::string& variable) {
    const auto found = run.environment.find(variable);
    return found == run.environment.end() ? std::string() : found->second;
  };
  names.erase("SLURM_JOB_ID");  // no two jobs share one, and it changes nothing
  for (const std::string& variable : names)
    add_change(lines, variable, value_in(a, variable), value_in(b, variable));
}

std::string host_words(const Run& run) { return fmt::format("{}", fmt::join(hosts_in_order(run), ", ")); }

/// "8, 8": which ranks share a node decides which links are used.
std::string layout_of(const Run& run) {
  return fmt::format("{}", fmt::join(ranks_per_node(run.ranks), ", "));
}

std::string placement_of(const Run& run) {
  if (!run.cluster) return {};
  Lines parts;
  for (const PlacedRank& rank : run.cluster->placement)
    parts.push_back(fmt::format("rank {} {} {}", rank.rank, rank.gpu, rank.nic));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// The first suspect of a change: the machines, the usual kind of each run against the other's.
void add_topology(Lines& lines, const Run& a, const Run& b) {
  if (!a.cluster || !b.cluster) return;
  try {
    const auto before = cluster_groups(topology::read_cluster_record(*a.cluster, "the base"));
    const auto after = cluster_groups(topology::read_cluster_record(*b.cluster, "the new run"));
    if (before.empty() || after.empty()) return;
    DiffReport diff = compare_with(before.front(), after, false);
    std::erase_if(diff.pairs, [](const ComparedHosts& pair) { return pair.findings.empty(); });
    for (std::string& line : cluster_finding_lines(diff, static_cast<int>(b.cluster->nodes.size())))
      lines.push_back("topology: " + std::move(line));
  } catch (const Error& error) {
    lines.push_back(fmt::format("topology: not compared ({})", error.what()));
  }
}

constexpr double kNotableGauge = 0.02;  // clocks move by steps of 15 MHz, power by the watt

/// Of the GPUs that tell it, the median of what each reached at most; 0 where none does.
double highest_of(const Run& run, std::optional<Gauge> GpuTelemetry::* gauge) {
  std::vector<double> values;
  if (!run.telemetry) return 0;
  for (const GpuTelemetry& gpu : run.telemetry->gpus) {
    if (gpu.*gauge) values.push_back((*(gpu.*gauge)).most);
  }
  return values.empty() ? 0 : median(values);
}

std::string throttling_of(const Run& run) {
  std::set<std::string_view> reasons;
  if (!run.telemetry) return {};
  for (const GpuTelemetry& gpu : run.telemetry->gpus) {
    for (const GpuTrouble trouble : gpu.troubles) {
      if (is_throttling(trouble)) reasons.insert(name(trouble));
    }
  }
  return fmt::format("{}", fmt::join(reasons, ", "));
}

/// What the GPUs' state does to every row at once.
void add_gpu_state(Lines& lines, const Run& a, const Run& b) {
  if (!a.telemetry || !b.telemetry) return;
  const auto add_gauge = [&](const char* what, std::optional<Gauge> GpuTelemetry::* gauge, double unit,
                             const char* unit_name) {
    const double before = highest_of(a, gauge);
    const double after = highest_of(b, gauge);
    if (before <= 0 || after <= 0 || std::abs(after / before - 1) < kNotableGauge) return;
    lines.push_back(fmt::format("{} (the median GPU's highest): {:.0f} → {:.0f} {}", what, before / unit,
                                after / unit, unit_name));
  };
  add_gauge("SM clock", &GpuTelemetry::sm_clock_hertz, 1e6, "MHz");
  add_gauge("power", &GpuTelemetry::power_watts, 1, "W");
  add_change(lines, "reasons for lower clocks", throttling_of(a), throttling_of(b));
}

/// Whether a rank's part may be other than with counts that are rounded to 16 bytes.
bool has_uneven_parts(const Row& row) {
  constexpr std::uint64_t kRoundedTo = 16;
  const RowKey& key = row.measurement.key;
  switch (operation(key.operation).size_meaning) {
    case SizeMeaning::total:
      return key.count * traits(key.type).bytes % kRoundedTo != 0;
    case SizeMeaning::largest_rank_total:
      return true;
    case SizeMeaning::buffer:
    case SizeMeaning::message:
    case SizeMeaning::hypercube_base:
      return false;
  }
  return false;
}

bool has_launches(const std::vector<Run>& runs) {
  return std::ranges::any_of(runs, [](const Run& run) {
    return std::ranges::any_of(run.rows,
                               [](const Row& row) { return row.measurement.launch_passes.size() > 1; });
  });
}

}  // namespace

std::uint64_t cold_below(const std::vector<Run>& base, const std::vector<Run>& current) {
  std::vector<std::uint64_t> walks;
  for (const std::vector<Run>* const side : {&base, &current}) {
    for (const Run& run : *side)
      if (measures_gpus(run.backend) && run.buffers.walk_bytes) walks.push_back(*run.buffers.walk_bytes);
  }
  if (walks.empty()) return 0;
  const auto [least, most] = std::ranges::minmax_element(walks);
  return 2 * *least >= *most ? 0 : std::min(*most, kBeyondL2);  // the walk of a log is its largest size
}

std::string counts_difference(const Run& base, const Run& current) {
  const std::optional<bool>& before = base.buffers.exact_counts;
  const std::optional<bool>& after = current.buffers.exact_counts;
  if (!before || !after || *before == *after) return {};
  const Run& exact = *before ? base : current;
  if (std::ranges::none_of(exact.rows, has_uneven_parts)) return {};
  return fmt::format(
      "each rank's part is rounded to whole elements in the {}, and to 16 bytes in the {}: rows where that "
      "makes a difference are not the same calls, and most have other sizes",
      *before ? "base" : "new run", *before ? "new run" : "base");
}

Lines run_differences(const Run& base, const Run& current) {
  Lines lines;
  add_topology(lines, base, current);
  add_change(lines, "hosts", host_words(base), host_words(current));
  add_change(lines, "ranks per node", layout_of(base), layout_of(current));
  if (placement_of(base) != placement_of(current)) lines.emplace_back("GPUs and NICs of the ranks differ");
  add_versions(lines, base.versions, current.versions);
  add_environment(lines, base, current);
  add_change(lines, "backend", std::string(name(base.backend)), std::string(name(current.backend)));
  add_change(lines, "buffers allocated by", base.buffers.allocator, current.buffers.allocator);
  if (base.buffers.registration && current.buffers.registration)
    add_change(lines, "buffers registered", std::string(name(*base.buffers.registration)),
               std::string(name(*current.buffers.registration)));
  if (std::string counts = counts_difference(base, current); !counts.empty())
    lines.push_back(std::move(counts));
  if (base.buffers.unaligned_elements != current.buffers.unaligned_elements)
    add_change(lines, "elements before the data of each buffer",
               fmt::to_string(base.buffers.unaligned_elements),
               fmt::to_string(current.buffers.unaligned_elements));
  if (base.graph_launches != current.graph_launches)
    add_change(lines, "graph launches", fmt::to_string(base.graph_launches),
               fmt::to_string(current.graph_launches));
  const auto before = process_of(base);
  const auto after = process_of(current);
  if (before && after && *before != *after)
    lines.push_back(
        fmt::format("{} → {}: small sizes are limited by launch time where a process drives several GPUs",
                    words(*before), words(*after)));
  add_gpu_state(lines, base, current);
  for (std::vector<std::string> Run::* const notes : {&Run::load_notes, &Run::network_notes}) {
    for (const std::string& note : base.*notes) lines.push_back("base: " + note);
    for (const std::string& note : current.*notes) lines.push_back("new run: " + note);
  }
  return lines;
}

std::vector<std::string> record_lines(const std::vector<Run>& base, const std::vector<Run>& current) {
  const auto was_cut = [](const Run& run) { return !run.complete; };
  std::vector<std::string> lines;
  if (std::ranges::any_of(base, was_cut))
    lines.emplace_back("base: a run was cut short, or is still going: rows may be missing");
  if (std::ranges::any_of(current, was_cut))
    lines.emplace_back("new run: cut short, or still going: rows may be missing");
  if (const std::uint64_t bytes = cold_below(base, current); bytes > 0) {
    lines.push_back(fmt::format(
        "timed calls repeat on the same addresses in some records, or nearly (hot), and walk through memory "
        "in others (cold): rows below {} say nothing, for hot ones may come from the L2 cache",
        format_bytes(bytes)));
  }
  if (base.size() + current.size() > 2 && (has_launches(base) || has_launches(current)))
    lines.emplace_back("several records: the launches of one are one value, their median, counted once");
  return lines;
}

}  // namespace collbench::analysis
