#include "analysis/report/prediction.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "analysis/models/nccl/gpu_expectation.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr std::string_view kNone = "–";
constexpr std::uint64_t kMinBlockBytes = 4;  // one float: less cannot be sent to a rank

/// Bus bandwidth in GB/s.
std::optional<double> busbw(const PredictedRow& row, const GpuCluster& cluster,
                            std::optional<double> seconds) {
  if (!seconds) return std::nullopt;
  return bus_bandwidth(operation(row.operation), row.size_bytes, cluster.ranks(), *seconds) / kGigabyte;
}

std::string rate_cell(std::optional<double> value) {
  return value ? format_significant(*value, 4, 8) : std::string(kNone);
}

bool ceiling_only(const GpuCluster& cluster) {
  return cluster.domains() > 1 && traits(cluster.transport).slower_than_nics;
}

}  // namespace

Prediction predict(std::string topology, const GpuCluster& cluster, std::span<const OperationId> operations,
                   std::span<const std::uint64_t> sizes_bytes) {
  Prediction prediction{std::move(topology), cluster, {}};
  const auto ranks = static_cast<std::uint64_t>(cluster.ranks());
  for (const OperationId id : operations) {
    for (const std::uint64_t size : sizes_bytes) {
      PredictedRow& row = prediction.rows.emplace_back(PredictedRow{id, size, {}, {}});
      if (operation(id).size_meaning == SizeMeaning::total && size < kMinBlockBytes * ranks) {
        row.expected.limited_by = "less than 4 B per rank";
        continue;
      }
      row.expected = expect_on_gpus(id, size, cluster);
      row.nccl = nccl_choice(id, size, cluster);
      if (busbw(row, cluster, row.expected.expected_seconds).value_or(0) < plateau_busbw(id, cluster) / 2) {
        row.expected.limited_by = "latency";
      }
      if (ceiling_only(cluster)) row.expected.slowest_seconds.reset();
    }
  }
  return prediction;
}

PredictedBusbw predicted_busbw(const PredictedRow& row, const GpuCluster& cluster) {
  const Expectation& expected = row.expected;
  return {.ring = busbw(row, cluster, expected.ring_seconds),
          .tree = busbw(row, cluster, expected.tree_seconds),
          .expected = busbw(row, cluster, expected.expected_seconds),
          .band_low = busbw(row, cluster, expected.slowest_seconds),
          .band_high = busbw(row, cluster, expected.fastest_seconds),
          .nccl = busbw(row, cluster, nccl_seconds(row))};
}

std::optional<double> nccl_seconds(const PredictedRow& row) {
  return row.nccl ? std::optional(row.nccl->seconds) : std::nullopt;
}

std::string nccl_choice_name(const PredictedRow& row) {
  return row.nccl ? fmt::format("{} {}", name(row.nccl->algorithm), name(row.nccl->protocol)) : "";
}

std::vector<std::string> prediction_headings() {
  return {"size",      "time (µs)", "ring", "tree",        "expected",
          "band from", "band to",   "NCCL", "expected by", "limited by"};
}

std::vector<std::string> prediction_cells(const PredictedRow& row, const GpuCluster& cluster) {
  const PredictedBusbw rates = predicted_busbw(row, cluster);
  const std::optional<double>& seconds = row.expected.expected_seconds;
  return {format_bytes(row.size_bytes),
          seconds ? format_significant(*seconds * 1e6, 4, 9) : std::string(kNone),
          rate_cell(rates.ring),
          rate_cell(rates.tree),
          rate_cell(rates.expected),
          rate_cell(rates.band_low),
          rate_cell(rates.band_high),
          rate_cell(rates.nccl),
          row.expected.expected_by.empty() ? std::string(kNone) : row.expected.expected_by,
          row.expected.limited_by};
}

std::string prediction_title(const Prediction& prediction) {
  const GpuCluster& cluster = prediction.cluster;
  std::string text =
      fmt::format("{}: {} node{} × {} {} ({} ranks)", prediction.topology, cluster.nodes,
                  cluster.nodes == 1 ? "" : "s", cluster.ranks_per_node, cluster.gpu, cluster.ranks());
  if (cluster.ranks_per_domain() > 1) {
    text += fmt::format("; within a {}, {}", domain_name(cluster), gpu_link(cluster).name);
  }
  if (cluster.domains() > 1) {
    text +=
        fmt::format("; between them, {} over {}", domain_nics(cluster).name, traits(cluster.transport).name);
  }
  return text;
}

std::string prediction_legend(const Prediction& prediction) {
  const auto percent = [&](double bytes) {
    return std::lround(100 * band_uncertainty(prediction.cluster, bytes));
  };
  std::string text = fmt::format(
      "Bus bandwidth in GB/s (10^9 B/s). The band runs from the ring model to the best algorithm, widened by "
      "± {} % at 64 MiB "
      "and above, ± {} % at 64 KiB and above, ± {} % below; docs/model.md has the formulas. NCCL: the faster "
      "of "
      "ring and tree by NCCL 2.30's own tuning table.",
      percent(1e9), percent(1e6), percent(1e3));
  if (ceiling_only(prediction.cluster)) {
    text += fmt::format(
        " All figures are ceilings: the rate over {} is below that of the NICs, and no source says by how "
        "much.",
        traits(prediction.cluster.transport).name);
  }
  return text;
}

}  // namespace collbench::analysis
