#include "analysis/report/prediction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/report/text_layout.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr std::string_view kNone = "–";
constexpr int kTextWidth = 118;
constexpr std::uint64_t kMinBlockBytes = 4;  // one float: less cannot be sent to a rank

/// Expected bus bandwidth in GB/s.
std::optional<double> busbw(const PredictedRow& row, const GpuCluster& cluster,
                            std::optional<double> seconds) {
  if (!seconds) return std::nullopt;
  return bus_bandwidth(operation(row.operation), row.size_bytes, cluster.ranks(), *seconds) / kGigabyte;
}

std::string cell(std::optional<double> value) {
  return value ? format_significant(*value, 4, 8) : std::string(kNone);
}

std::string microseconds(std::optional<double> seconds) {
  return seconds ? format_significant(*seconds * 1e6, 4, 9) : std::string(kNone);
}

std::optional<double> nccl_seconds_of(const PredictedRow& row) {
  return row.nccl ? std::optional(row.nccl->seconds) : std::nullopt;
}

std::vector<std::string> cells(const PredictedRow& row, const GpuCluster& cluster) {
  const Expectation& expected = row.expected;
  return {format_bytes(row.size_bytes),
          microseconds(expected.expected_seconds),
          cell(busbw(row, cluster, expected.ring_seconds)),
          cell(busbw(row, cluster, expected.tree_seconds)),
          cell(busbw(row, cluster, expected.expected_seconds)),
          cell(busbw(row, cluster, expected.slowest_seconds)),
          cell(busbw(row, cluster, expected.fastest_seconds)),
          cell(busbw(row, cluster, nccl_seconds_of(row))),
          expected.expected_by.empty() ? std::string(kNone) : expected.expected_by,
          expected.limited_by};
}

const std::vector<std::string> kHeads{"size",      "time (µs)", "ring", "tree", "expected",
                                      "band from", "band to",   "NCCL", "by",   "limited by"};

std::string cluster_line(const Prediction& prediction) {
  const GpuCluster& cluster = prediction.cluster;
  std::string text =
      fmt::format("{}: {} node{} × {} {} ({} ranks)", prediction.topology, cluster.nodes,
                  cluster.nodes == 1 ? "" : "s", cluster.ranks_per_node, cluster.gpu, cluster.ranks());
  if (cluster.ranks_per_domain() > 1) {
    text += fmt::format("; within a {} {}", domain_name(cluster), gpu_link(cluster).name);
  }
  if (cluster.domains() > 1) {
    text += fmt::format("; across, {} over {}", domain_nics(cluster).name, traits(cluster.transport).name);
  }
  return text;
}

bool ceiling_only(const GpuCluster& cluster) {
  return cluster.domains() > 1 && traits(cluster.transport).slower_than_nics;
}

std::string note_line(const Prediction& prediction) {
  const auto percent = [&](double bytes) {
    return std::lround(100 * band_uncertainty(prediction.cluster, bytes));
  };
  std::string text = fmt::format(
      "Bus bandwidth in GB/s (10^9 B/s). The band is the ring to the best algorithm, ± {} % from 64 MiB on, "
      "± {} % from 64 KiB, ± {} % below; docs/model.md has the formulas. NCCL: its own table (2.30), ring "
      "and tree, the cheapest.",
      percent(1e9), percent(1e6), percent(1e3));
  if (ceiling_only(prediction.cluster)) {
    text += fmt::format(
        " All of it is a ceiling: the rate over {} is below that of the NICs, and no source tells how far.",
        traits(prediction.cluster.transport).name);
  }
  return text;
}

/// Cells under their heads; the last two are text.
std::string text_line(const std::vector<std::string>& cells) {
  constexpr std::array<int, 8> kWidths{8, 10, 10, 10, 10, 10, 10, 10};
  std::string line;
  for (std::size_t i = 0; i < kWidths.size(); ++i) line += pad_left(cells[i], kWidths.at(i));
  return line + "  " + pad_right(cells[cells.size() - 2], 9) + "  " + cells.back() + "\n";
}

std::string markdown_line(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string as_text(const Prediction& prediction) {
  std::string text = wrap(cluster_line(prediction), kTextWidth, "# ", "#   ") +
                     wrap(note_line(prediction), kTextWidth, "# ", "#   ");
  std::optional<OperationId> current;
  for (const PredictedRow& row : prediction.rows) {
    if (current != row.operation)
      text += fmt::format("\n{}\n{}", operation(row.operation).name, text_line(kHeads));
    current = row.operation;
    text += text_line(cells(row, prediction.cluster));
  }
  return text;
}

std::string as_markdown(const Prediction& prediction) {
  std::string text = "# Expected\n\n" + cluster_line(prediction) + "\n\n" + note_line(prediction) + "\n";
  std::vector<std::string> rule(kHeads.size(), "---:");
  rule[rule.size() - 1] = rule[rule.size() - 2] = "---";
  std::optional<OperationId> current;
  for (const PredictedRow& row : prediction.rows) {
    if (current != row.operation) {
      text += fmt::format("\n## {}\n\n{}{}", operation(row.operation).name, markdown_line(kHeads),
                          markdown_line(rule));
    }
    current = row.operation;
    text += markdown_line(cells(row, prediction.cluster));
  }
  return text;
}

/// "ring LL128"; empty where NCCL has no opinion.
std::string choice_name(const PredictedRow& row) {
  return row.nccl ? fmt::format("{} {}", name(row.nccl->algorithm), name(row.nccl->protocol)) : "";
}

std::string number(std::optional<double> value) { return value ? fmt::to_string(*value) : ""; }

std::string as_csv(const Prediction& prediction) {
  std::string text =
      "operation,size_bytes,ranks,nodes,expected_seconds,ring_bus_bandwidth_gb_per_s,tree_bus_bandwidth_gb_"
      "per_s,"
      "expected_bus_bandwidth_gb_per_s,band_low_gb_per_s,band_high_gb_per_s,expected_by,limited_by,nccl_"
      "seconds,nccl_choice\n";
  const GpuCluster& cluster = prediction.cluster;
  for (const PredictedRow& row : prediction.rows) {
    const Expectation& expected = row.expected;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},\"{}\",{},{}\n", operation(row.operation).name,
                        row.size_bytes, cluster.ranks(), cluster.nodes, number(expected.expected_seconds),
                        number(busbw(row, cluster, expected.ring_seconds)),
                        number(busbw(row, cluster, expected.tree_seconds)),
                        number(busbw(row, cluster, expected.expected_seconds)),
                        number(busbw(row, cluster, expected.slowest_seconds)),
                        number(busbw(row, cluster, expected.fastest_seconds)), expected.expected_by,
                        expected.limited_by, number(nccl_seconds_of(row)), choice_name(row));
  }
  return text;
}

std::string as_json(const Prediction& prediction) {
  const GpuCluster& cluster = prediction.cluster;
  const auto or_null = [](std::optional<double> value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const PredictedRow& row : prediction.rows) {
    const Expectation& expected = row.expected;
    rows.push_back(
        {{"operation", operation(row.operation).name},
         {"size_bytes", row.size_bytes},
         {"expected_seconds", or_null(expected.expected_seconds)},
         {"ring_bus_bandwidth_gb_per_s", or_null(busbw(row, cluster, expected.ring_seconds))},
         {"tree_bus_bandwidth_gb_per_s", or_null(busbw(row, cluster, expected.tree_seconds))},
         {"expected_bus_bandwidth_gb_per_s", or_null(busbw(row, cluster, expected.expected_seconds))},
         {"band_gb_per_s",
          {or_null(busbw(row, cluster, expected.slowest_seconds)),
           or_null(busbw(row, cluster, expected.fastest_seconds))}},
         {"expected_by", expected.expected_by},
         {"limited_by", expected.limited_by},
         {"nccl_seconds", or_null(nccl_seconds_of(row))},
         {"nccl_choice", choice_name(row)}});
  }
  const nlohmann::ordered_json whole = {{"record", "collbench prediction"},
                                        {"topology", prediction.topology},
                                        {"gpu", cluster.gpu},
                                        {"nodes", cluster.nodes},
                                        {"ranks", cluster.ranks()},
                                        {"transport", traits(cluster.transport).name},
                                        {"rows", std::move(rows)}};
  return whole.dump(2) + "\n";
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
        row.expected.limited_by = "less than 4 B a rank";
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

std::string render_prediction(const Prediction& prediction, std::string_view format) {
  if (format == "text") return as_text(prediction);
  if (format == "md") return as_markdown(prediction);
  if (format == "csv") return as_csv(prediction);
  if (format == "json") return as_json(prediction);
  throw usage_error("--format", fmt::format("'{}' is unknown", format), "choose text, md, csv or json");
}

}  // namespace collbench::analysis
