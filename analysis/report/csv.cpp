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

template <class Integer>
std::string whole_if_known(const std::optional<Integer>& value) {
  return value ? fmt::to_string(*value) : "";
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

constexpr std::array<CsvColumn, 66> kCsvColumns{{
    {"operation", [](const CsvRow& row) { return std::string(operation(row.measured.key.operation).name); }},
    {"size_bytes", [](const CsvRow& row) { return fmt::to_string(row.measured.key.size_bytes); }},
    {"count", [](const CsvRow& row) { return fmt::to_string(row.measured.key.count); }},
    {"type", [](const CsvRow& row) { return std::string(traits(row.measured.key.type).name); }},
    {"reduction",
     [](const CsvRow& row) {
       const auto& reduction = row.measured.key.reduction;
       return reduction ? std::string(name(*reduction)) : std::string();
     }},
    {"root", [](const CsvRow& row) { return whole_if_known(row.measured.key.root); }},
    {"place", [](const CsvRow& row) { return std::string(row.measured.key.in_place ? "in" : "out"); }},
    {"algorithm_asked", [](const CsvRow& row) { return row.measured.key.algorithm; }},
    {"algorithm_ran", [](const CsvRow& row) { return row.measured.algorithm_ran; }},
    {"ranks", [](const CsvRow& row) { return fmt::to_string(row.run.ranks.size()); }},
    {"nodes",
     [](const CsvRow& row) {
       const bool known = !row.run.log || row.run.log->nodes;
       return known ? fmt::to_string(node_count(row.run.ranks)) : std::string();
     }},
    {"backend", [](const CsvRow& row) { return std::string(name(row.run.backend)); }},
    {"time_reduction", [](const CsvRow& row) { return std::string(name(row.run.time_reduction)); }},
    {"started", [](const CsvRow& row) { return row.run.started; }},
    {"time_seconds", [](const CsvRow& row) { return figure(row, row.measured.seconds); }},
    {"interval_low_seconds", [](const CsvRow& row) { return of_interval(row, &TimeInterval::low_seconds); }},
    {"interval_high_seconds",
     [](const CsvRow& row) { return of_interval(row, &TimeInterval::high_seconds); }},
    {"interval_confidence", [](const CsvRow& row) { return of_interval(row, &TimeInterval::confidence); }},
    {"algorithm_bandwidth_gb_per_s",
     [](const CsvRow& row) { return csv_rate(row.rates.algorithm_bandwidth); }},
    {"bus_bandwidth_gb_per_s", [](const CsvRow& row) { return csv_rate(row.rates.bus_bandwidth); }},
    {"ring_seconds", [](const CsvRow& row) { return csv_number(row.expected.ring_seconds); }},
    {"tree_seconds", [](const CsvRow& row) { return csv_number(row.expected.tree_seconds); }},
    {"expected_seconds", [](const CsvRow& row) { return csv_number(row.expected.expected_seconds); }},
    {"expected_by", [](const CsvRow& row) { return row.expected.expected_by; }},
    {"expected_bus_bandwidth_gb_per_s",
     [](const CsvRow& row) { return csv_rate(row.rates.expected_bus_bandwidth); }},
    {"measured_over_expected",
     [](const CsvRow& row) { return csv_number(row.rates.measured_over_expected); }},
    {"fastest_seconds", [](const CsvRow& row) { return csv_number(row.expected.fastest_seconds); }},
    {"slowest_seconds", [](const CsvRow& row) { return csv_number(row.expected.slowest_seconds); }},
    {"limited_by", [](const CsvRow& row) { return row.expected.limited_by; }},
    {"nccl_algorithm",
     [](const CsvRow& row) { return row.measured.nccl.value_or(NcclSelection{}).algorithm; }},
    {"nccl_protocol", [](const CsvRow& row) { return row.measured.nccl.value_or(NcclSelection{}).protocol; }},
    {"nccl_channels",
     [](const CsvRow& row) {
       const int channels = row.measured.nccl.value_or(NcclSelection{}).channels;
       return channels > 0 ? fmt::to_string(channels) : std::string();
     }},
    {"nccl_expected_seconds",
     [](const CsvRow& row) {
       return csv_number(nccl_expected_seconds(row.measured.nccl.value_or(NcclSelection{})));
     }},
    {"verdict", [](const CsvRow& row) { return std::string(name(row.verdict.word)); }},
    {"explanation", [](const CsvRow& row) { return row.verdict.explanation; }},
    {"wrong_elements", [](const CsvRow& row) { return whole_if_known(row.measured.wrong_elements); }},
    {"enqueue_seconds", [](const CsvRow& row) { return csv_number(row.measured.enqueue_seconds); }},
    {"marks",
     [](const CsvRow& row) {
       std::string text;
       for (const RowMark& mark : row.measured.marks) {
         text +=
             fmt::format("{}{} of {}: {}", text.empty() ? "" : "; ", mark.gpu, mark.host, name(mark.trouble));
       }
       return text;
     }},
    {"step_compute_seconds", [](const CsvRow& row) { return of_step(row, &StepTimes::compute_seconds); }},
    {"step_between_seconds", [](const CsvRow& row) { return of_step(row, &StepTimes::between_seconds); }},
    {"step_inside_seconds", [](const CsvRow& row) { return of_step(row, &StepTimes::inside_seconds); }},
    {"step_alone_seconds", [](const CsvRow& row) { return of_step(row, &StepTimes::alone_seconds); }},
    {"step_verdict",
     [](const CsvRow& row) { return row.step ? std::string(name(row.step->word)) : std::string(); }},
    {"step_findings",
     [](const CsvRow& row) {
       std::string text;
       if (!row.step) return text;
       for (const StepFinding& each : row.step->findings) text += (text.empty() ? "" : "; ") + each.text;
       return text;
     }},
    {"passes", [](const CsvRow& row) { return fmt::to_string(row.measured.pass_seconds.size()); }},
    {"iterations", [](const CsvRow& row) { return fmt::to_string(row.measured.iterations); }},
    {"iterations_per_sample",
     [](const CsvRow& row) { return fmt::to_string(row.measured.iterations_per_sample); }},
    {"samples", [](const CsvRow& row) { return fmt::to_string(row.measured.samples); }},
    {"minimum_seconds", [](const CsvRow& row) { return sample_seconds(row, row.measured.minimum); }},
    {"mean_seconds", [](const CsvRow& row) { return sample_seconds(row, row.measured.mean); }},
    {"median_seconds", [](const CsvRow& row) { return sample_seconds(row, row.measured.median); }},
    {"p95_seconds", [](const CsvRow& row) { return sample_seconds(row, row.measured.p95); }},
    {"p99_seconds", [](const CsvRow& row) { return sample_seconds(row, row.measured.p99); }},
    {"variation", [](const CsvRow& row) { return of_samples(row, row.measured.variation); }},
    {"stopped",
     [](const CsvRow& row) { return row.measured.stopped ? format_stop(*row.measured.stopped) : ""; }},
    {"note", [](const CsvRow& row) { return row.measured.note; }},
    {"unavailable", [](const CsvRow& row) { return row.measured.unavailable; }},
    {"incident",
     [](const CsvRow& row) { return row.run.incident ? row.run.incident->sentence : std::string(); }},
    {"label", [](const CsvRow& row) { return row.run.label; }},
    {"hosts",
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
    {"collbench_version", [](const CsvRow& row) { return row.run.versions.collbench; }},
    {"mpi_version", [](const CsvRow& row) { return row.run.versions.mpi; }},
    {"nccl_version", [](const CsvRow& row) { return row.run.versions.nccl; }},
    {"schema_version", [](const CsvRow& row) { return fmt::to_string(row.run.schema_version); }},
    {"nvls_seconds", [](const CsvRow& row) { return csv_number(row.expected.nvls_seconds); }},
    {"gpus_simulated",
     [](const CsvRow& row) { return std::string(row.run.gpus_simulated ? "true" : "false"); }},
}};

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
