#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/report/prediction.hpp"
#include "analysis/report/report.hpp"
#include "analysis/stragglers/step_verdict.hpp"
#include "base/record/run.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// A row, what follows from it, and the run that its constant columns come from.
struct CsvRow {
  const Run& run;
  const Measurement& measured;
  const Expectation& expected;
  const Verdict& verdict;
  const std::optional<StepVerdict>& step;
  Rates rates;
};

/// The shortest decimal that reads back as the same double; empty when it is none.
std::string csv_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::to_string(*value) : "";
}

/// A figure of a measurement; empty for a row that has not been measured.
std::string figure(const CsvRow& row, double value) {
  return csv_number(row.measured.seconds > 0 ? std::optional(value) : std::nullopt);
}

/// A figure over samples, which an imported log may have none of.
std::string of_samples(const CsvRow& row, double value) {
  return row.measured.samples > 0 ? figure(row, value) : "";
}

/// 0: a log of samples that does not say it.
std::string sample_seconds(const CsvRow& row, double value) {
  return value > 0 ? of_samples(row, value) : "";
}

std::string csv_rate(std::optional<double> bytes_per_second) {
  return csv_number(bytes_per_second ? std::optional(*bytes_per_second / kGigabyte) : std::nullopt);
}

std::string of_interval(const CsvRow& row, double TimeInterval::* part) {
  const auto& interval = row.measured.interval;
  return interval ? csv_number((*interval).*part) : "";
}

/// The median over ranks of a part of a step.
std::string of_step(const CsvRow& row, double StepTimes::* part) {
  return row.step ? csv_number(median_step(row.measured).*part) : "";
}

struct CsvColumn {
  std::string_view name;
  std::string (*field)(const CsvRow& row);
};

constexpr std::array kCsvColumns{
    CsvColumn{"operation",
              [](const CsvRow& row) { return std::string(operation(row.measured.key.operation).name); }},
    CsvColumn{"size_bytes", [](const CsvRow& row) { return fmt::to_string(row.measured.key.size_bytes); }},
    CsvColumn{"count", [](const CsvRow& row) { return fmt::to_string(row.measured.key.count); }},
    CsvColumn{"type", [](const CsvRow& row) { return std::string(traits(row.measured.key.type).name); }},
    CsvColumn{"reduction",
              [](const CsvRow& row) {
                const auto& reduction = row.measured.key.reduction;
                return reduction ? std::string(name(*reduction)) : std::string();
              }},
    CsvColumn{"root",
              [](const CsvRow& row) {
                const auto& root = row.measured.key.root;
                return root ? fmt::to_string(*root) : std::string();
              }},
    CsvColumn{"place",
              [](const CsvRow& row) { return std::string(row.measured.key.in_place ? "in" : "out"); }},
    CsvColumn{"algorithm_asked", [](const CsvRow& row) { return row.measured.key.algorithm; }},
    CsvColumn{"algorithm_ran", [](const CsvRow& row) { return row.measured.algorithm_ran; }},
    CsvColumn{"ranks", [](const CsvRow& row) { return fmt::to_string(row.run.ranks.size()); }},
    CsvColumn{"nodes",
              [](const CsvRow& row) {
                const bool known = !row.run.log || row.run.log->nodes;
                return known ? fmt::to_string(node_count(row.run.ranks)) : std::string();
              }},
    CsvColumn{"backend", [](const CsvRow& row) { return std::string(name(row.run.backend)); }},
    CsvColumn{"time_reduction", [](const CsvRow& row) { return std::string(name(row.run.time_reduction)); }},
    CsvColumn{"started", [](const CsvRow& row) { return row.run.started; }},
    CsvColumn{"time_seconds", [](const CsvRow& row) { return figure(row, row.measured.seconds); }},
    CsvColumn{"interval_low_seconds",
              [](const CsvRow& row) { return of_interval(row, &TimeInterval::low_seconds); }},
    CsvColumn{"interval_high_seconds",
              [](const CsvRow& row) { return of_interval(row, &TimeInterval::high_seconds); }},
    CsvColumn{"interval_confidence",
              [](const CsvRow& row) { return of_interval(row, &TimeInterval::confidence); }},
    CsvColumn{"algorithm_bandwidth_gb_per_s",
              [](const CsvRow& row) { return csv_rate(row.rates.algorithm_bandwidth); }},
    CsvColumn{"bus_bandwidth_gb_per_s", [](const CsvRow& row) { return csv_rate(row.rates.bus_bandwidth); }},
    CsvColumn{"ring_seconds", [](const CsvRow& row) { return csv_number(row.expected.ring_seconds); }},
    CsvColumn{"tree_seconds", [](const CsvRow& row) { return csv_number(row.expected.tree_seconds); }},
    CsvColumn{"expected_seconds",
              [](const CsvRow& row) { return csv_number(row.expected.expected_seconds); }},
    CsvColumn{"expected_by", [](const CsvRow& row) { return row.expected.expected_by; }},
    CsvColumn{"expected_bus_bandwidth_gb_per_s",
              [](const CsvRow& row) { return csv_rate(row.rates.expected_bus_bandwidth); }},
    CsvColumn{"measured_over_expected",
              [](const CsvRow& row) { return csv_number(row.rates.measured_over_expected); }},
    CsvColumn{"fastest_seconds", [](const CsvRow& row) { return csv_number(row.expected.fastest_seconds); }},
    CsvColumn{"slowest_seconds", [](const CsvRow& row) { return csv_number(row.expected.slowest_seconds); }},
    CsvColumn{"limited_by", [](const CsvRow& row) { return row.expected.limited_by; }},
    CsvColumn{"nccl_algorithm",
              [](const CsvRow& row) { return row.measured.nccl.value_or(NcclSelection{}).algorithm; }},
    CsvColumn{"nccl_protocol",
              [](const CsvRow& row) { return row.measured.nccl.value_or(NcclSelection{}).protocol; }},
    CsvColumn{"nccl_channels",
              [](const CsvRow& row) {
                const int channels = row.measured.nccl.value_or(NcclSelection{}).channels;
                return channels > 0 ? fmt::to_string(channels) : std::string();
              }},
    CsvColumn{"nccl_expected_seconds",
              [](const CsvRow& row) {
                return csv_number(nccl_expected_seconds(row.measured.nccl.value_or(NcclSelection{})));
              }},
    CsvColumn{"verdict", [](const CsvRow& row) { return std::string(name(row.verdict.word)); }},
    CsvColumn{"explanation", [](const CsvRow& row) { return row.verdict.explanation; }},
    CsvColumn{"wrong_elements",
              [](const CsvRow& row) {
                const auto& wrong = row.measured.wrong_elements;
                return wrong ? fmt::to_string(*wrong) : std::string();
              }},
    CsvColumn{"enqueue_seconds", [](const CsvRow& row) { return csv_number(row.measured.enqueue_seconds); }},
    CsvColumn{"marks",
              [](const CsvRow& row) {
                std::string text;
                for (const RowMark& mark : row.measured.marks) {
                  text += fmt::format("{}{} of {}: {}", text.empty() ? "" : "; ", mark.gpu, mark.host,
                                      name(mark.trouble));
                }
                return text;
              }},
    CsvColumn{"step_compute_seconds",
              [](const CsvRow& row) { return of_step(row, &StepTimes::compute_seconds); }},
    CsvColumn{"step_between_seconds",
              [](const CsvRow& row) { return of_step(row, &StepTimes::between_seconds); }},
    CsvColumn{"step_inside_seconds",
              [](const CsvRow& row) { return of_step(row, &StepTimes::inside_seconds); }},
    CsvColumn{"step_alone_seconds",
              [](const CsvRow& row) { return of_step(row, &StepTimes::alone_seconds); }},
    CsvColumn{"step_verdict",
              [](const CsvRow& row) { return row.step ? std::string(name(row.step->word)) : std::string(); }},
    CsvColumn{"step_findings",
              [](const CsvRow& row) {
                std::string text;
                if (!row.step) return text;
                for (const StepFinding& each : row.step->findings)
                  text += (text.empty() ? "" : "; ") + each.text;
                return text;
              }},
    CsvColumn{"passes", [](const CsvRow& row) { return fmt::to_string(row.measured.pass_seconds.size()); }},
    CsvColumn{"iterations", [](const CsvRow& row) { return fmt::to_string(row.measured.iterations); }},
    CsvColumn{"iterations_per_sample",
              [](const CsvRow& row) { return fmt::to_string(row.measured.iterations_per_sample); }},
    CsvColumn{"samples", [](const CsvRow& row) { return fmt::to_string(row.measured.samples); }},
    CsvColumn{"minimum_seconds", [](const CsvRow& row) { return sample_seconds(row, row.measured.minimum); }},
    CsvColumn{"mean_seconds", [](const CsvRow& row) { return sample_seconds(row, row.measured.mean); }},
    CsvColumn{"median_seconds", [](const CsvRow& row) { return sample_seconds(row, row.measured.median); }},
    CsvColumn{"p95_seconds", [](const CsvRow& row) { return sample_seconds(row, row.measured.p95); }},
    CsvColumn{"p99_seconds", [](const CsvRow& row) { return sample_seconds(row, row.measured.p99); }},
    CsvColumn{"variation", [](const CsvRow& row) { return of_samples(row, row.measured.variation); }},
    CsvColumn{
        "stopped",
        [](const CsvRow& row) { return row.measured.stopped ? format_stop(*row.measured.stopped) : ""; }},
    CsvColumn{"note", [](const CsvRow& row) { return row.measured.note; }},
    CsvColumn{"unavailable", [](const CsvRow& row) { return row.measured.unavailable; }},
    CsvColumn{
        "incident",
        [](const CsvRow& row) { return row.run.incident ? row.run.incident->sentence : std::string(); }},
    CsvColumn{"label", [](const CsvRow& row) { return row.run.label; }},
    CsvColumn{"hosts",
              [](const CsvRow& row) {
                std::string hosts;
                int nodes = 0;  // by the number of their node: a host may be named twice in --node-map
                for (const Identity& each : row.run.ranks) {
                  if (each.node < nodes) continue;
                  nodes = each.node + 1;
                  hosts += (hosts.empty() ? "" : " ") + each.host;
                }
                return hosts;
              }},
    CsvColumn{"collbench_version", [](const CsvRow& row) { return row.run.versions.collbench; }},
    CsvColumn{"mpi_version", [](const CsvRow& row) { return row.run.versions.mpi; }},
    CsvColumn{"nccl_version", [](const CsvRow& row) { return row.run.versions.nccl; }},
    CsvColumn{"schema_version", [](const CsvRow& row) { return fmt::to_string(row.run.schema_version); }},
    CsvColumn{"nvls_seconds", [](const CsvRow& row) { return csv_number(row.expected.nvls_seconds); }},
    CsvColumn{"gpus_simulated",
              [](const CsvRow& row) { return std::string(row.run.gpus_simulated ? "true" : "false"); }},
};

}  // namespace

std::string report_csv(const Run& run) {
  std::string text;
  for (const CsvColumn& column : kCsvColumns) {
    text += text.empty() ? "" : ",";
    text += column.name;
  }
  text += "\n";
  for (const Row& row : run.rows) {
    const CsvRow csv{run,         row.measurement, row.expectation,
                     row.verdict, row.step,        rates(row, static_cast<int>(run.ranks.size()))};
    std::string line;
    for (const CsvColumn& column : kCsvColumns) {
      if (&column != kCsvColumns.data()) line += ",";
      line += csv_cell(column.field(csv));
    }
    text += line + "\n";
  }
  return text;
}

std::string report_csv(const Prediction& prediction) {
  std::string text =
      "operation,size_bytes,ranks,nodes,expected_seconds,ring_bus_bandwidth_gb_per_s,"
      "tree_bus_bandwidth_gb_per_s,expected_bus_bandwidth_gb_per_s,band_low_gb_per_s,band_high_gb_per_s,"
      "expected_by,limited_by,nccl_seconds,nccl_choice\n";
  const GpuCluster& cluster = prediction.cluster;
  const auto number = [](std::optional<double> value) { return value ? fmt::to_string(*value) : ""; };
  for (const PredictedRow& row : prediction.rows) {
    const PredictedBusbw rates = predicted_busbw(row, cluster);
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", operation(row.operation).name,
                        row.size_bytes, cluster.ranks(), cluster.nodes, number(row.expected.expected_seconds),
                        number(rates.ring), number(rates.tree), number(rates.expected),
                        number(rates.band_low), number(rates.band_high), csv_cell(row.expected.expected_by),
                        csv_cell(row.expected.limited_by), number(nccl_seconds(row)),
                        csv_cell(nccl_choice_name(row)));
  }
  return text;
}

}  // namespace collbench::analysis
