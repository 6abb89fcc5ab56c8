#include "analysis/report/lab01/lab01.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "topology/catalogue/links.hpp"
#include "topology/graph/lookup.hpp"

namespace collbench::analysis {
namespace {

/// All NVLinks of the GPU that has the fewest, as NCCL counts them.
std::optional<Ceiling> nvlink_of(const topology::Host& host) {
  std::optional<Ceiling> found;
  for (std::size_t gpu = 0; gpu < host.gpus.size(); ++gpu) {
    const auto sm = topology::sm_of(host, host.gpus[gpu]);
    int links = 0;
    for (const topology::NvLinkBundle& bundle : host.nvlinks) {
      const bool from_it = bundle.from.kind == topology::DeviceKind::gpu &&
                           std::cmp_equal(bundle.from.index, gpu) && bundle.count.known();
      if (from_it) links += *bundle.count.value;
    }
    if (!sm || links == 0) return std::nullopt;
    const topology::LinkRate rate = topology::nvlink_rate(*sm);
    const double bytes = links * rate.gigabytes_per_second * kGigabyte;
    if (found && found->bytes_per_second <= bytes) continue;
    found = Ceiling{"NVLink of one GPU, one direction",
                    fmt::format("{} links × {} GB/s", links, rate.gigabytes_per_second), bytes,
                    std::string(rate.source)};
  }
  return found;
}

/// The NICs that collectives use: those as fast as the fastest.
std::optional<Ceiling> nics_of(const topology::Host& host) {
  double fastest = 0;
  int count = 0;
  for (const topology::Nic& nic : host.nics) {
    double gigabits = 0;
    for (const topology::NicPort& port : nic.ports) {
      if (port.gigabits_per_second.known()) gigabits = std::max(gigabits, *port.gigabits_per_second.value);
    }
    if (gigabits > fastest) {
      fastest = gigabits;
      count = 0;
    }
    if (gigabits > 0 && gigabits == fastest) ++count;
  }
  if (count == 0) return std::nullopt;
  constexpr double kBitsPerByte = 8;
  return Ceiling{"NICs of one node, one direction", fmt::format("{} × {:g} Gb/s ÷ 8", count, fastest),
                 count * fastest / kBitsPerByte * kGigabyte, "line rate, without protocol overhead"};
}

std::optional<Ceiling> nvlink_of(const LogFacts& log) {
  const auto& rate = log.nvlink_least_bytes_per_second;
  if (!rate) return std::nullopt;
  return Ceiling{"NVLink between two GPUs, one direction", "NCCL's own line", rate->value,
                 fmt::format("{}:{}", log.file, rate->line)};
}

std::optional<Ceiling> nics_of(const LogFacts& log) {
  if (!log.nics || !log.nic_bytes_per_second) return std::nullopt;
  const double one = log.nic_bytes_per_second->value;
  const auto count = log.nics->value.size();
  return Ceiling{"NICs of one node, one direction", fmt::format("{} × {}", count, format_rate(one)),
                 static_cast<double>(count) * one, fmt::format("{}:{}", log.file, log.nics->line)};
}

/// Ring and tree of AllReduce from the two links: in a ring every link carries 2(p − 1)/p · S, so busbw is at
/// most the slowest; in NCCL's tree 2S leaves a GPU, and S (two nodes) or 2S (more) leave a node.
void add_algorithms(const Run& run, const std::optional<Ceiling>& nvlink, const std::optional<Ceiling>& nics,
                    std::vector<Ceiling>& ceilings) {
  const int ranks = static_cast<int>(run.ranks.size());
  const int nodes = run.log && !run.log->nodes ? 0 : node_count(run.ranks);
  const bool one_gpu_per_node = nodes == ranks;
  if (nodes == 0 || ranks < 2 || (nodes > 1 && !nics) || (!one_gpu_per_node && !nvlink)) return;
  const auto of = [](const std::optional<Ceiling>& link) { return link->bytes_per_second; };
  Ceiling ring{std::string(kRingCeiling), "", 0, "every link carries 2(p − 1)/p · S"};
  if (nodes == 1) {
    ring.bytes_per_second = of(nvlink);
    ring.arithmetic = "NVLink";
  } else if (one_gpu_per_node) {
    ring.bytes_per_second = of(nics);
    ring.arithmetic = "NICs";
  } else {
    ring.bytes_per_second = std::min(of(nvlink), of(nics));
    ring.arithmetic = fmt::format("min({}, {})", format_rate(of(nvlink)), format_rate(of(nics)));
  }
  ceilings.push_back(ring);
  if (nodes == 1) return;  // within a node NCCL's tree is a chain: no faster than the ring
  const double factor = 2.0 * (ranks - 1) / ranks;
  const double leaves_node = nodes == 2 ? 1 : 2;
  Ceiling tree{std::string(kTreeCeiling),
               fmt::format("2(p − 1)/p × {} ÷ {:g}", format_rate(of(nics)), leaves_node),
               factor * of(nics) / leaves_node,
               nodes == 2 ? "S leaves each of two nodes" : "2S leaves a node that is neither root nor leaf"};
  if (!one_gpu_per_node) {
    const double by_nvlink = factor * of(nvlink) / 2;
    tree.arithmetic = fmt::format("min({}, 2(p − 1)/p × {} ÷ 2)", tree.arithmetic, format_rate(of(nvlink)));
    tree.bytes_per_second = std::min(tree.bytes_per_second, by_nvlink);
    tree.source += ", 2S leaves a GPU";
  }
  ceilings.push_back(tree);
}

/// Seconds per byte of a kind at its largest calibrated size, where caches help least; none when not
/// measured.
std::optional<double> largest_seconds_per_byte(const Calibration& measured, CalibrationKind kind) {
  const CalibrationPoint* largest = nullptr;
  for (const CalibrationPoint& point : measured.points) {
    const bool sum_of_floats =
        !point.type || (point.type == DataType::float32 && point.reduction == Reduction::sum);
    if (point.kind != kind || point.bytes == 0 || point.seconds <= 0 || !sum_of_floats) continue;
    if (largest == nullptr || point.bytes > largest->bytes) largest = &point;
  }
  if (largest == nullptr) return std::nullopt;
  return largest->seconds / static_cast<double>(largest->bytes);
}

/// Ring AllReduce of p ranks takes 2(p − 1)/p · S/B + (p − 1)/p · S·γ + S·κ at large S (docs/model.md).
std::vector<Ceiling> of_host_memory(const Run& run) {
  std::vector<Ceiling> ceilings;
  const auto p = static_cast<double>(run.ranks.size());
  if (!run.calibration || p < 2) return ceilings;
  const Calibration& measured = *run.calibration;
  const bool many_nodes = node_count(run.ranks) > 1;
  const auto link = largest_seconds_per_byte(
      measured, many_nodes ? CalibrationKind::send_recv_inter : CalibrationKind::forward_intra);
  if (!link) return ceilings;
  const double gamma = largest_seconds_per_byte(measured, CalibrationKind::reduce_local).value_or(0);
  const double kappa = largest_seconds_per_byte(measured, CalibrationKind::copy).value_or(0);
  ceilings.push_back(
      {many_nodes ? "one flow across hosts" : "one rank's link within a host, all ranks at once",
       "calibrated at its largest size", 1 / *link, "docs/model.md"});
  const double moved = 2 * (p - 1) / p;
  constexpr double kNanosecond = 1e-9;
  ceilings.push_back({"ring AllReduce out of cache, busbw",
                      fmt::format("f ÷ (f ÷ {} + (p − 1)/p × {} ns/B + {} ns/B), f = 2(p − 1)/p = {:.4g}",
                                  format_rate(1 / *link), format_significant(gamma / kNanosecond, 2, 7),
                                  format_significant(kappa / kNanosecond, 2, 7), moved),
                      moved / (moved * *link + (p - 1) / p * gamma + kappa),
                      "link, reduction γ, copy κ, each at its largest size"});
  return ceilings;
}

}  // namespace

std::vector<Ceiling> lab01_ceilings(const Run& run, const std::optional<topology::Host>& host) {
  if (!measures_gpus(run.backend)) return of_host_memory(run);
  std::optional<Ceiling> nvlink;
  std::optional<Ceiling> nics;
  if (host) {
    nvlink = nvlink_of(*host);
    nics = nics_of(*host);
  }
  if (run.log && !nvlink) nvlink = nvlink_of(*run.log);
  if (run.log && !nics) nics = nics_of(*run.log);
  std::vector<Ceiling> ceilings;
  if (nvlink) ceilings.push_back(*nvlink);
  const bool one_node = run.log && run.log->nodes && run.log->nodes->value == 1;
  if (nics && !one_node) ceilings.push_back(*nics);
  add_algorithms(run, nvlink, nics, ceilings);
  return ceilings;
}

}  // namespace collbench::analysis
