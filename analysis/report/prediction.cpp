#include "analysis/report/prediction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "analysis/models/nccl/bands.hpp"
#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/healthy_ranges.hpp"
#include "analysis/report/columns.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/sections.hpp"
#include "base/document/document.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr std::uint64_t kMinBlockBytes = 4;  // one float: less cannot be sent to a rank

/// Bus bandwidth in GB/s.
std::optional<double> busbw(const PredictedRow& row, const GpuCluster& cluster,
                            std::optional<double> seconds) {
  if (!seconds) return std::nullopt;
  return bus_bandwidth(operation(row.operation), row.size_bytes, cluster.ranks(), *seconds) / kGigabyte;
}

std::string rate_cell(std::optional<double> value) {
  return value ? format_significant(*value, 4, 8) : std::string(kNoValue);
}

bool ceiling_only(const GpuCluster& cluster) {
  return cluster.domains() > 1 && traits(cluster.transport).slower_than_nics;
}

bool is_by_table(const PredictedRow& row) {
  return row.table && row.table->algorithm == row.expected.expected_by;
}

/// "ring"; "ring/ll128" where NCCL's choice is known; empty without an expectation.
std::string expected_by(const PredictedRow& row) {
  if (row.expected.expected_by.empty()) return {};
  return is_by_table(row) ? row.table->algorithm + "/" + row.table->protocol : row.expected.expected_by;
}

/// "0.86 × ring to 1.04 × best algorithm (1 GiB and more), 0.7 to 1.2 (64 MiB and more), …; RDMA between
/// nodes, 10 machines". With more ranks the sizes are larger; those above the largest row are left out. Sends
/// and receives have no ring: "0.32 to 1.03 × expected".
std::string band_in_words(BandClass kind, const GpuCluster& cluster, std::uint64_t largest_bytes,
                          bool has_ring) {
  const int ranks = cluster.ranks();
  const double more = std::max(1.0, ranks / 64.0);
  std::string text;
  for (const std::uint64_t least : {kGiB, 64 * kMiB, 64 * kKiB, std::uint64_t{1}}) {
    if (least > 1 && more * static_cast<double>(least) > static_cast<double>(largest_bytes)) continue;
    const Band& found = band(kind, more * static_cast<double>(least), ranks);
    if (!text.empty()) {
      text += fmt::format(", {:.2f} to {:.2f}", found.low, found.high);
    } else if (has_ring) {
      text = fmt::format("{:.2f} × ring to {:.2f} × best algorithm", found.low, found.high);
    } else {
      text = fmt::format("{:.2f} to {:.2f} × expected", found.low, found.high);
    }
    const auto size = static_cast<std::uint64_t>(more * static_cast<double>(least));
    if (least > 1) {
      text += fmt::format(" ({} and more)", format_bytes(size));
    } else if (text.find('(') != std::string::npos) {
      text += " (below)";
    }
  }
  const int machines = band(kind, more * static_cast<double>(kGiB), ranks).machines;
  const int domains = max_domains(kind);
  return fmt::format(
      "{}; {}, {}{}", text, name(kind), machines == 0 ? "by wider classes" : counted(machines, "machine"),
      machines > 0 && cluster.domains() > domains
          ? fmt::format(", none beyond {}: no run of this scale was published, so any figure here is a guess",
                        counted(domains, "node"))
          : "");
}

/// "; judge: SOUND from 0.80 of expected, BELOW under 0.48 (exchange, 2 machines)": of the largest size,
/// where that is one that judge goes by.
std::string judged_range(OperationId id, const Prediction& prediction, std::uint64_t size_bytes) {
  const auto row = std::ranges::find_if(prediction.rows, [&](const PredictedRow& each) {
    return each.operation == id && each.size_bytes == size_bytes;
  });
  if (size_bytes < 64 * kMiB || row == prediction.rows.end()) return {};
  const auto expected = busbw(*row, prediction.cluster, row->expected.expected_seconds);
  const HealthyRange range = healthy_range(id, size_bytes, expected.value_or(0), prediction.cluster);
  if (range.below == 0 || !std::isfinite(range.sound)) return {};
  return fmt::format("; judge: SOUND from {:.2f} of expected, BELOW under {:.2f} ({})", range.sound,
                     range.below, range.source);
}

/// A line for each group of operations that have one band: "band of AllReduce and AllGather = …".
std::vector<std::string> band_lines(const Prediction& prediction) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  std::uint64_t largest_bytes = 0;
  for (const PredictedRow& row : prediction.rows) largest_bytes = std::max(largest_bytes, row.size_bytes);
  for (const PredictedRow& row : prediction.rows) {
    const bool has_ring = std::ranges::any_of(prediction.rows, [&row](const PredictedRow& each) {
      return each.operation == row.operation && each.expected.ring_seconds;
    });
    const std::string words = band_in_words(band_class(row.operation, prediction.cluster), prediction.cluster,
                                            largest_bytes, has_ring) +
                              judged_range(row.operation, prediction, largest_bytes);
    auto group = std::ranges::find_if(groups, [&](const auto& each) { return each.first == words; });
    if (group == groups.end()) group = groups.insert(groups.end(), {words, {}});
    const std::string operation_name(operation(row.operation).name);
    if (std::ranges::find(group->second, operation_name) == group->second.end())
      group->second.push_back(operation_name);
  }
  std::vector<std::string> lines;
  for (const auto& [words, operations] : groups)
    lines.push_back(fmt::format("band of {} = {}", fmt::join(operations, ", "), words));
  return lines;
}

/// "Expected busbw in GB/s at 1 GiB (band): AllReduce 454.4 (290.3 to 486.2), Step none (no model)".
std::string prediction_answer(const Prediction& prediction) {
  if (prediction.rows.empty()) return "No busbw can be predicted: no row was asked for";
  const auto by_size_of_expected = [](const PredictedRow& row) {
    return std::pair(row.expected.expected_seconds.has_value(), row.size_bytes);
  };
  const auto [is_expected, size] =
      by_size_of_expected(*std::ranges::max_element(prediction.rows, {}, by_size_of_expected));
  std::vector<std::string> rates;
  bool has_band = false;
  for (const PredictedRow& row : prediction.rows) {
    if (row.size_bytes != size) continue;
    const PredictedBusbw busbw = predicted_busbw(row, prediction.cluster);
    const std::string_view name = operation(row.operation).name;
    if (!busbw.expected) {
      const std::string& why = row.expected.limited_by;
      rates.push_back(
          fmt::format("{}{} ({})", name, is_expected ? " none" : "", why.empty() ? "no model" : why));
      continue;
    }
    rates.push_back(fmt::format("{} {}", name, rate_cell(busbw.expected)));
    if (!busbw.band_low || !busbw.band_high) continue;
    has_band = true;
    rates.back() += fmt::format(" ({} to {})", rate_cell(busbw.band_low), rate_cell(busbw.band_high));
  }
  return fmt::format("{} at {}{}: {}", is_expected ? "Expected busbw in GB/s" : "No busbw can be predicted",
                     format_bytes(size), has_band ? " (band)" : "", fmt::join(rates, ", "));
}

/// `is_narrow`: rates of a terminal of 80 columns, which holds seven characters of each.
std::vector<ReportCell> prediction_cells(const PredictedRow& row, const GpuCluster& cluster, bool is_narrow) {
  const PredictedBusbw rates = predicted_busbw(row, cluster);
  const auto cell = [is_narrow](std::optional<double> rate) {
    return rate && is_narrow ? table_number(*rate, 7) : rate_cell(rate);
  };
  const std::optional<double>& seconds = row.expected.expected_seconds;
  return {format_bytes(row.size_bytes),
          seconds ? format_significant(*seconds * 1e6, 4, 9) : std::string(kNoValue),
          cell(rates.ring),
          cell(rates.tree),
          cell(rates.expected),
          cell(rates.band_low),
          cell(rates.band_high),
          cell(rates.nccl)};
}

/// "expected by: tree/ll (8 B to 128 KiB), nvls_tree (512 KiB)".
std::string words_by_size(std::string_view heading, std::span<const PredictedRow> rows,
                          std::string (*words_of)(const PredictedRow&)) {
  std::vector<std::string> parts;
  for (auto first = rows.begin(), last = first; first != rows.end(); first = last) {
    const std::string words = words_of(*first);
    last = std::find_if(first, rows.end(), [&](const PredictedRow& row) { return words_of(row) != words; });
    if (words.empty()) continue;
    parts.push_back(
        fmt::format("{} ({})", words,
                    format_span(format_bytes(first->size_bytes), format_bytes(std::prev(last)->size_bytes))));
  }
  return parts.empty() ? "" : fmt::format("{}: {}", heading, fmt::join(parts, "; "));
}

/// `is_narrow`: for a terminal: by what rows are expected and limited stands below their table, not in its
/// last columns.
Document document_of(const Prediction& prediction, bool is_narrow) {
  using Words = std::pair<std::string_view, std::string (*)(const PredictedRow&)>;
  const std::array<Words, 2> words{{{"expected by", expected_by}, {"limited by", [](const PredictedRow& row) {
                                                                     return row.expected.limited_by;
                                                                   }}}};
  Document document{"Expected", {}, {{prediction_title(prediction)}}, {prediction_answer(prediction)}};
  for (const std::string& line : prediction_legend(prediction)) document.lead.push_back({line});
  const std::span<const PredictedRow> rows(prediction.rows);
  for (auto first = rows.begin(), last = first; first != rows.end(); first = last) {
    last = std::find_if(first, rows.end(),
                        [&](const PredictedRow& row) { return row.operation != first->operation; });
    ReportTable table{
        .headings = {"size", "time (µs)", "ring", "tree", "expected", "band from", "band to", "NCCL"},
        .left = 0,
        .right = is_narrow ? 0 : words.size()};
    for (const PredictedRow& row : std::span(first, last))
      table.rows.push_back(prediction_cells(row, prediction.cluster, is_narrow));
    ReportLines below;
    for (const auto& [heading, words_of] : words) {
      if (is_narrow) {
        if (std::string line = words_by_size(heading, std::span(first, last), words_of); !line.empty())
          below.push_back({std::move(line)});
        continue;
      }
      table.headings.emplace_back(heading);
      for (std::size_t i = 0; i < table.rows.size(); ++i)
        table.rows[i].emplace_back(words_of(first[static_cast<std::ptrdiff_t>(i)]));
    }
    document.sections.push_back(
        {std::string(operation(first->operation).name), {std::move(table), std::move(below)}});
  }
  return document;
}

}  // namespace

std::vector<std::uint64_t> predicted_sizes() {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 8; size < 8 * kGiB; size *= 4) sizes.push_back(size);
  sizes.push_back(8 * kGiB);
  return sizes;
}

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
      row.expected = expect_on_gpus(id, size, with_table_choice(cluster, id, size));
      row.table = nccl_table_choice(id, size, cluster);
      row.nccl = nccl_choice(id, size, cluster);
      const std::optional<double> rate = busbw(row, cluster, row.expected.expected_seconds);
      if (rate && *rate < plateau_busbw(id, cluster) / 2) {
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
  return row.nccl ? fmt::format("{} {}", name(row.nccl->algorithm), nccl_word(row.nccl->protocol)) : "";
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
    if (cluster.fabric != Fabric{}) text += "; " + words(cluster.fabric);
  }
  return text;
}

std::vector<std::string> prediction_legend(const Prediction& prediction) {
  std::vector<std::string> lines{
      fmt::format("Bus bandwidth in GB/s (10^9 B/s); docs/model.md has the formulas. NCCL: what NCCL 2.30 "
                  "itself expects of what it chooses there. {}",
                  prediction.cluster.fabric == Fabric{}
                      ? "Nine in ten rows of published runs lie in the band; judge goes by the median of the "
                        "largest sizes:"
                      : "The band is that of runs whose fabric is not told; docs/notes/scaleout-accuracy.md "
                        "says how far it held on published fabrics:")};
  for (std::string& line : band_lines(prediction)) lines.push_back(std::move(line));
  if (std::ranges::any_of(prediction.rows,
                          [](const PredictedRow& row) { return row.expected.tree_seconds.has_value(); })) {
    lines.push_back(fmt::format("{}.", kRingAndTreeColumns));
  }
  const auto chosen = std::ranges::find_if(prediction.rows, is_by_table);
  if (chosen != prediction.rows.end()) {
    lines.push_back(
        fmt::format("Where a protocol is named: what the code of {} chooses on {} × {} without GPUs, as far "
                    "as these versions agree.",
                    nccl_versions(*chosen->table), chosen->table->machine, chosen->table->nodes));
  }
  if (ceiling_only(prediction.cluster)) {
    lines.push_back(
        fmt::format("All figures are ceilings: the rate over {} is below that of the NICs, and no source "
                    "says by how much.",
                    traits(prediction.cluster.transport).name));
  }
  return lines;
}

std::string report_text(const Prediction& prediction, const TextOptions& options) {
  return text(document_of(prediction, true), {.columns = options.columns, .mark = "# "});
}

std::string report_markdown(const Prediction& prediction) { return markdown(document_of(prediction, false)); }

}  // namespace collbench::analysis
