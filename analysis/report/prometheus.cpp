#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "analysis/report/exposition.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/sections.hpp"
#include "base/record/run.hpp"
#include "base/text_sinks.hpp"

// Prometheus' text exposition format (prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4), as
// the textfile collector of the node exporter reads it: no timestamps, base units, gauges.

namespace collbench::analysis {
namespace {

std::string row_labels(const Run& run, const RowKey& key) {
  std::string labels = fmt::format(
      R"(operation="{}",size_bytes="{}",type="{}",reduction="{}",place="{}",root="{}",algorithm="{}")",
      operation(key.operation).option, key.size_bytes, traits(key.type).name,
      key.reduction ? name(*key.reduction) : "", key.in_place ? "in" : "out",
      key.root ? fmt::to_string(*key.root) : "", label_value(key.algorithm));
  labels += fmt::format(R"(,backend="{}",ranks="{}",label="{}")", name(run.backend), run.ranks.size(),
                        label_value(run.label));
  return labels;
}

struct PrometheusRow {
  const Row& row;
  Rates rates;
};

/// One value per row; none: the row has no such figure, and no line.
struct RowMetric {
  std::string_view name;
  std::string_view help;
  std::optional<double> (*value)(const PrometheusRow& row);
  bool is_of_time = true;  ///< and so says nothing of simulated GPUs
};

std::optional<double> measured_seconds(const PrometheusRow& row) {
  const double seconds = row.row.measurement.seconds;
  return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

std::optional<double> half_width_ratio(const PrometheusRow& row) {
  return interval_half_width(row.row.measurement);
}

std::optional<double> is_row_low(const PrometheusRow& row) {
  const VerdictWord word = row.row.verdict.word;
  if (word == VerdictWord::none) return std::nullopt;
  return is_bad(word) ? 1 : 0;
}

std::optional<double> wrong_count(const PrometheusRow& row) {
  const auto& wrong = row.row.measurement.wrong_elements;
  return wrong ? std::optional(static_cast<double>(*wrong)) : std::nullopt;
}

constexpr std::array<RowMetric, 7> kRowMetrics{{
    {"collbench_operation_seconds",
     "Time of one operation: the median over passes of elapsed time over iterations.", measured_seconds},
    {"collbench_operation_interval_ratio",
     "Half the width of the 95 % interval of collbench_operation_seconds, over that time.", half_width_ratio},
    {"collbench_algorithm_bandwidth_bytes_per_second", "Size over time.",
     [](const PrometheusRow& row) { return row.rates.algorithm_bandwidth; }},
    {"collbench_bus_bandwidth_bytes_per_second",
     "Bus bandwidth: algorithm bandwidth times the bus factor of nccl-tests.",
     [](const PrometheusRow& row) { return row.rates.bus_bandwidth; }},
    {"collbench_expected_bus_bandwidth_bytes_per_second", "Bus bandwidth that the model expects.",
     [](const PrometheusRow& row) { return row.rates.expected_bus_bandwidth; }},
    {"collbench_low",
     "1 where the verdict on the row's sizes is BELOW or FAULT, else 0; absent without a verdict.",
     is_row_low},
    {"collbench_wrong_elements", "Wrong elements over all ranks; absent where the data was not checked.",
     wrong_count, false},
}};

std::string row_metric(const Run& run, const RowMetric& metric) {
  std::string lines;
  std::set<std::string> written;  // a series stands once in a file, and an imported log may have a row twice
  for (const Row& row : run.rows) {
    const auto value = metric.value({row, rates(row, static_cast<int>(run.ranks.size()))});
    if (!value || !std::isfinite(*value)) continue;
    const std::string labels = row_labels(run, row.measurement.key);
    if (written.insert(labels).second) lines += fmt::format("{}{{{}}} {}\n", metric.name, labels, *value);
  }
  return lines.empty() ? "" : metric_head(metric.name, metric.help) + lines;
}

/// Seconds since 1970 of "2026-10-01T12:00:00Z"; none for another text.
std::optional<double> epoch_seconds(const std::string& utc) {
  std::tm parts{};
  const char* const end = strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr) return std::nullopt;
  return static_cast<double>(timegm(&parts));
}

}  // namespace

std::string label_value(std::string_view text) {
  std::string escaped;
  for (const char letter : one_line(text)) {
    if (letter == '\\' || letter == '"') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string metric_head(std::string_view metric, std::string_view help) {
  return fmt::format("# HELP {} {}\n# TYPE {} gauge\n", metric, help, metric);
}

std::string one_metric(std::string_view metric, std::string_view help, const std::string& labels,
                       double value) {
  const std::string braced = labels.empty() ? "" : fmt::format("{{{}}}", labels);
  return metric_head(metric, help) + fmt::format("{}{} {}\n", metric, braced, value);
}

std::string report_prometheus(const Run& run) {
  const std::string label = fmt::format(R"(label="{}")", label_value(run.label));
  std::string text = run.gpus_simulated ? fmt::format("# {}\n", kSimulatedGpus) : "";
  text += one_metric(
      "collbench_run_info", "What was measured with, as labels; always 1.",
      fmt::format(
          R"({},host="{}",backend="{}",collbench="{}",mpi="{}",nccl="{}",cuda="{}",schema_version="{}"{})",
          label, run.ranks.empty() ? "" : label_value(run.ranks.front().host), name(run.backend),
          label_value(run.versions.collbench), label_value(run.versions.mpi), label_value(run.versions.nccl),
          label_value(run.versions.cuda), run.schema_version,
          run.gpus_simulated ? R"(,gpus_simulated="true")" : ""),
      1);
  text +=
      one_metric("collbench_run_complete", "1: all rows were measured to the end; 0: the run was cut short.",
                 label, run.complete ? 1 : 0);
  text +=
      one_metric("collbench_run_ranks", "Ranks of the run.", label, static_cast<double>(run.ranks.size()));
  if (!run.log || run.log->nodes)
    text += one_metric("collbench_run_nodes", "Hosts of the run.", label, node_count(run.ranks));
  if (const auto started = epoch_seconds(run.started))
    text += one_metric("collbench_run_start_time_seconds", "When the run began, since the epoch.", label,
                       *started);
  const bool has_times = !run.gpus_simulated;  // a scrape drops the comment above
  if (has_times && run.rank_probe && run.rank_probe->repetitions > 0) {
    text += one_metric("collbench_stragglers",
                       "Ranks and links that are late beyond chance; absent where nobody probed.", label,
                       static_cast<double>(run.rank_probe->findings.size()));
  }
  for (const RowMetric& metric : kRowMetrics)
    if (has_times || !metric.is_of_time) text += row_metric(run, metric);
  return text;
}

}  // namespace collbench::analysis
