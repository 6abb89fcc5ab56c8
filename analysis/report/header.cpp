#include "analysis/report/sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "analysis/report/columns.hpp"
#include "base/document/text_layout.hpp"
#include "base/units.hpp"
#include "topology/cluster/cluster_topology.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxNamedRanks = 4;

/// "rank 3: GPU3 (guess), mlx5_3, NUMA 0; 2 ranks share this GPU".
std::string format_placed_rank(const PlacedRank& placed) {
  std::string text = fmt::format("rank {}: {}", placed.rank, placed.gpu.empty() ? "no GPU" : placed.gpu);
  if (placed.guess) text += " (guess)";
  if (!placed.nic.empty()) text += ", " + placed.nic;
  if (placed.numa_node) text += fmt::format(", NUMA {}", *placed.numa_node);
  if (!placed.note.empty()) text += fmt::format(" ({})", placed.note);
  return text;
}

constexpr std::size_t kMaxNamedHosts = 8;
constexpr std::size_t kMaxNamedGammas = 4;
constexpr double kUselessFit =
    0.99;  ///< of a calibration point: the fitted line has nothing of it, or twice as much
constexpr int kMaxValue = 60;  ///< columns of a variable's value; the record holds all of it

std::string_view backend_text(const Run& run) {
  switch (run.backend) {
    case BackendId::mpi:
      return run.buffers.allocator.empty() ? "host memory through MPI" : "GPUs' memory through MPI";
    case BackendId::nccl:
      return "GPUs through NCCL";
  }
  return "";
}

/// An imported log may not say on how many hosts its ranks were.
std::string ranks_text(const Run& run) {
  std::string ranks = counted(run.ranks.size(), "rank");
  if (run.log && !run.log->nodes) return ranks;
  return fmt::format("{} on {}", ranks, counted(node_count(run.ranks), "host"));
}

std::string launches_text(const Run& run) { return counted(run.launches, "launch"); }

ReportLine headline(const Run& run) {
  if (run.log) {
    return {fmt::format("collbench {}, imported from {} ({}): {}, {}{}", run.versions.collbench,
                        run.log->file, run.log->format, backend_text(run), ranks_text(run),
                        run.started.empty() ? "" : ", started " + run.started),
            Tone::plain};
  }
  return {fmt::format("collbench {}, {}, {}{}, started {}{}", run.versions.collbench, backend_text(run),
                      ranks_text(run), run.repeated ? ", " + launches_text(run) : "", run.started,
                      run.simulated ? ", in SimGrid's simulated time" : ""),
          Tone::plain};
}

ReportLine label(const Run& run) { return {run.label.empty() ? "" : "label: " + run.label}; }

/// First of all, where there is one: the rows are not all that was asked for. A log's stands in its headline
/// where the machine has a word, and has no time and no status.
ReportLine incident(const Run& run) {
  if (!run.incident || (run.log && machine_word(run) != VerdictWord::none)) return {};
  const Incident& what = *run.incident;
  if (run.log) return {fmt::format("INCIDENT: {}", what.sentence), Tone::alarm};
  return {fmt::format("INCIDENT ({}, {}, exit status {}): {}", name(what.kind), what.time, what.exit_status,
                      what.sentence),
          Tone::alarm};
}

ReportLine versions(const Run& run) {
  std::string text = run.versions.mpi;
  const std::array<std::pair<std::string_view, const std::string&>, 3> libraries{
      {{"hwloc", run.versions.hwloc}, {"NCCL", run.versions.nccl}, {"CUDA", run.versions.cuda}}};
  for (const auto& [name, version] : libraries) {
    if (!version.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name, version);
  }
  return {text};
}

/// "ranks 0-3,8": those of one node.
std::string rank_list(const Identities& ranks, int node) {
  std::string text;
  for (std::size_t first = 0; first < ranks.size(); ++first) {
    if (ranks[first].node != node) continue;
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1].node == node) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (last > first) text += fmt::format("-{}", last);
    first = last;
  }
  const bool one = text.find_first_of(",-") == std::string::npos;
  return (one ? "rank " : "ranks ") + text;
}

ReportLine hosts(const Run& run) {
  const auto nodes = static_cast<std::size_t>(node_count(run.ranks));
  std::vector<std::string> named;
  for (std::size_t node = 0; node < std::min(nodes, kMaxNamedHosts); ++node) {
    const auto any = std::ranges::find(run.ranks, static_cast<int>(node), &Identity::node);
    if (any == run.ranks.end() || any->host.empty()) continue;
    std::string text = fmt::format("{} has {}", any->host, rank_list(run.ranks, static_cast<int>(node)));
    if (node < run.cores_per_node.size()) {
      text += fmt::format(" on {}", counted(run.cores_per_node[node], "core"));
    }
    named.push_back(std::move(text));
  }
  if (nodes > kMaxNamedHosts && !named.empty())
    named.push_back(fmt::format("and {} more hosts", nodes - kMaxNamedHosts));
  return {fmt::format("{}", fmt::join(named, ", "))};
}

ReportLine environment(const Run& run) {
  std::string text;
  for (const auto& [name, value] : run.environment) {
    text += fmt::format(" {}={}", name, shorten(value, kMaxValue));
  }
  return {text.empty() ? text : "environment:" + text};
}

std::string per_byte(double seconds) {
  constexpr double kNanosecond = 1e-9;
  return format_significant(seconds / kNanosecond, 2, 7) + " ns/B";
}

std::string format_tier(const Tier& tier) {
  return fmt::format("α {}, B {}, {}", format_seconds(tier.alpha_seconds), format_rate(tier.bytes_per_second),
                     tier.eager_limit_bytes > 0 ? "eager up to " + format_bytes(tier.eager_limit_bytes)
                                                : "eager limit unknown");
}

std::string format_costs(const Calibration& measured) {
  std::vector<std::string> words;
  for (const ReductionCost& gamma : measured.gammas) {
    if (words.size() == kMaxNamedGammas) break;
    words.push_back(fmt::format("{} ({} {})", per_byte(gamma.seconds_per_byte), traits(gamma.type).name,
                                name(gamma.reduction)));
  }
  if (measured.gammas.size() > kMaxNamedGammas) {
    words.push_back(fmt::format("{} more in the record", measured.gammas.size() - kMaxNamedGammas));
  }
  return fmt::format("{}{}copy κ {}", words.empty() ? "" : "reduction γ ",
                     words.empty() ? "" : fmt::format("{}; ", fmt::join(words, ", ")),
                     per_byte(measured.kappa_seconds_per_byte));
}

void add_calibration(const Run& run, ReportLines& facts) {
  if (!run.calibration) return;
  const Calibration& measured = *run.calibration;
  if (!measured.intra && !measured.inter) return;  // not fitted: a note says so
  if (measured.intra) facts.push_back({"calibrated within a host: " + format_tier(*measured.intra)});
  if (measured.inter) {
    std::string text = "calibrated across hosts: " + format_tier(*measured.inter);
    if (measured.inter_host_bytes_per_second) {
      text += fmt::format(", all ranks of a host {}", format_rate(*measured.inter_host_bytes_per_second));
    }
    facts.push_back({text});
  }
  add(facts, "calibrated on all ranks at once: {}; worst calibration point is {} % off the fitted line",
      format_costs(measured), format_significant(measured.fit_relative_error * 100, 2, 7));
  if (measured.fit_relative_error >= kUselessFit) {
    facts.push_back(
        {"warning: with a calibration point so far off, exp and meas/exp may be off by as much; run again "
         "with a core for each rank and nothing beside them",
         Tone::warning});
  }
}

std::string_view aggregate_text(RankAggregate how) {
  switch (how) {
    case RankAggregate::rank0:
      return "rank 0's";
    case RankAggregate::average:
      return "the average over ranks";
    case RankAggregate::minimum:
      return "the fastest rank's";
    case RankAggregate::maximum:
      return "the slowest rank's";
  }
  return "";
}

std::string_view size_text(SizeMeaning meaning) {
  switch (meaning) {
    case SizeMeaning::buffer:
      return "one rank's buffer";
    case SizeMeaning::total:
      return "ranks × count × the type's bytes";
    case SizeMeaning::largest_rank_total:
      return "the most that one rank sends or receives";
    case SizeMeaning::message:
      return "what one rank sends";
    case SizeMeaning::hypercube_base:
      return "the largest exchange";
  }
  return "";
}

/// Empty where they begin at once, or nobody says.
std::string unaligned_text(const Buffers& buffers) {
  if (buffers.unaligned_elements == 0) return "";
  return fmt::format("buffers: start {} past their alignment (-u {})",
                     counted(buffers.unaligned_elements, "element"), buffers.unaligned_elements);
}

/// Empty where no buffer was registered, or nobody says.
std::string buffers_text(const Buffers& buffers) {
  const std::string memory =
      buffers.allocator.empty() ? "" : fmt::format("memory of {}, ", buffers.allocator);
  switch (buffers.registration.value_or(BufferRegistration::none)) {
    case BufferRegistration::none:
      return "";
    case BufferRegistration::local:
      return fmt::format("buffers: {}registered with NCCL (-R local: ncclCommRegister)", memory);
    case BufferRegistration::symmetric:
      return fmt::format("buffers: {}registered with NCCL (-R symmetric: ncclCommWindowRegister)", memory);
  }
  return "";
}

/// Empty on host memory, of a log, and where nobody says.
std::string walk_text(const Run& run) {
  if (run.log || !measures_gpus(run.backend) || !run.buffers.walk_bytes) return "";
  if (*run.buffers.walk_bytes == 0)
    return "buffers: timed calls repeat on the same addresses (hot): sizes that fit into the L2 come from "
           "there";
  return fmt::format("buffers: timed calls walk through {} of each (cold)",
                     format_bytes(*run.buffers.walk_bytes));
}

/// What a column from NCCL holds, or why it is empty.
ReportLine nccl_column(std::string_view title, std::string_view meaning, const std::string& reason) {
  if (reason.empty()) return {fmt::format("{}: {}", title, meaning)};
  return {fmt::format("{}: not reported: {}", title, reason), Tone::warning};
}

}  // namespace

std::string gpu_model(const Run& run) {
  if (measures_host_memory(run.backend)) return {};
  if (run.log && run.log->gpu) return run.log->gpu->value;
  if (!run.cluster) return {};
  for (const topology::Host& host :
       topology::read_cluster_record(*run.cluster, "the record").distinct_hosts) {
    if (!host.gpus.empty()) return host.gpus.front().model.value.value_or("");
  }
  return {};
}

std::string format_placement(const std::vector<PlacedRank>& placement) {
  std::vector<PlacedRank> known;
  const auto take = [&](auto fits) { std::ranges::copy_if(placement, std::back_inserter(known), fits); };
  take([](const PlacedRank& placed) { return !placed.note.empty(); });
  take([](const PlacedRank& placed) { return placed.note.empty() && !placed.gpu.empty(); });
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(kMaxNamedRanks, known.size()); ++i)
    words.push_back(format_placed_rank(known[i]));
  if (known.size() > kMaxNamedRanks)
    words.push_back(fmt::format("{} more in the record", known.size() - kMaxNamedRanks));
  return words.empty() ? "" : fmt::format("GPUs of the ranks: {}", fmt::join(words, "; "));
}

std::vector<HeaderLine> header_parts(const Run& run) {
  const ReportLine simulated{std::string(run.gpus_simulated ? kSimulatedGpus : ""), Tone::warning};
  std::vector<HeaderLine> parts{{simulated, HeaderPart::title},
                                {incident(run), HeaderPart::title},
                                {headline(run), HeaderPart::title},
                                {label(run), HeaderPart::setting},
                                {versions(run), HeaderPart::setting}};
  const auto add = [&parts](HeaderPart part, ReportLine line) { parts.push_back({std::move(line), part}); };
  if (run.cluster) {
    const std::vector<std::string>& summary = run.cluster->summary;
    for (const std::string& line : summary)
      add(line == summary.front() ? HeaderPart::machine : HeaderPart::nodes, {line});
    add(HeaderPart::setting, {format_placement(run.cluster->placement)});
  }
  add(HeaderPart::setting, hosts(run));
  add(HeaderPart::setting, environment(run));
  if (!run.config_file.empty()) add(HeaderPart::setting, {"options also read from " + run.config_file});
  add(HeaderPart::setting, {buffers_text(run.buffers)});
  add(HeaderPart::setting, {walk_text(run)});
  add(HeaderPart::warning, {unaligned_text(run.buffers)});  // no table of aligned ones
  if (run.traffic) add(HeaderPart::setting, {"AllToAllv traffic matrix: " + run.traffic->source});
  if (run.log)
    for (ReportLine& line : imported_log_lines(*run.log, measures_gpus(run.backend)))
      add(HeaderPart::setting, std::move(line));
  for (const std::string& note : run.environment_notes)
    add(HeaderPart::warning, {"warning: " + note, Tone::warning});
  ReportLines calibration;
  add_calibration(run, calibration);
  for (ReportLine& line : calibration)
    add(line.tone == Tone::warning ? HeaderPart::warning : HeaderPart::setting, std::move(line));
  std::erase_if(parts, [](const HeaderLine& each) { return each.line.text.empty(); });
  return parts;
}

ReportLines header_lines(const Run& run) {
  ReportLines lines;
  for (HeaderLine& each : header_parts(run)) lines.push_back(std::move(each.line));
  return lines;
}

ReportLines legend_lines(const Run& run) {
  if (run.log) {
    return {{fmt::format("time: from the log, one value per row, {}; no interval",
                         aggregate_text(run.time_reduction))},
            {"ring, tree, exp: expected busbw; meas/exp: measured over expected, below 1 is slower; GB = "
             "10^9 bytes"},
            {std::string(kRingAndTreeColumns)}};
  }
  const std::string in_graphs = run.graph_launches == 0
                                    ? ""
                                    : fmt::format(", run as {} launch{} of a CUDA graph", run.graph_launches,
                                                  run.graph_launches == 1 ? "" : "es");
  const bool has_states =
      std::ranges::any_of(run.rows, [](const Row& row) { return !row.measurement.states.empty(); });
  const std::string of_state = has_states ? ", while the machine was in its commonest state (see below)" : "";
  ReportLines facts{
      {fmt::format("time: elapsed time of a pass divided by its iterations{}, {}; the median of the passes{}",
                   in_graphs, aggregate_text(run.time_reduction),
                   run.repeated ? ", then the median over launches" : "")},
      {(run.repeated ? "±95%: half the 95 % interval of that median over launches"
                     : "±95%: half the 95 % interval of that median, over the passes of this launch only") +
       of_state},
      {"ring, tree, exp: busbw expected from the ring, the tree, and the algorithm that ran (the fastest one "
       "where that is unknown); docs/model.md"},
      {"meas/exp: measured over expected busbw, below 1 is slower (yellow below 0.8); GB = 10^9 bytes"}};
  if (run.backend == BackendId::nccl) {
    const NcclObserverStatus& status = run.nccl_observer_status;
    facts.push_back(
        nccl_column("NCCL", "the time that NCCL's own model predicts for what it used", status.expectation));
    facts.push_back(nccl_column(
        "algorithm", "what NCCL used (algorithm/protocol/channels), and what was requested", status.use));
    facts.push_back({std::string(kRingAndTreeColumns)});
  }
  return facts;
}

ReportLine operation_line(OperationId id, int ranks) {
  const Operation& meant = operation(id);
  if (!meant.has_bandwidth) {
    return {fmt::format("{}: compute, then AllReduce of size bytes on each rank; it has no bandwidth",
                        meant.name),
            Tone::plain};
  }
  return {fmt::format("{}: size is {}; busbw = algbw × {:.4g}", meant.name, size_text(meant.size_meaning),
                      bus_factor(meant, ranks)),
          Tone::plain};
}

std::vector<OperationId> operations_in(const Run& run) {
  std::vector<OperationId> found;
  for (const Row& row : run.rows) {
    const OperationId id = row.measurement.key.operation;
    if (std::ranges::find(found, id) == found.end()) found.push_back(id);
  }
  return found;
}

}  // namespace collbench::analysis
