#include "tools/probe/report/probe_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

#include "analysis/probe/gpu_findings.hpp"
#include "analysis/probe/siblings.hpp"
#include "base/document/document.hpp"
#include "base/document/text_layout.hpp"
#include "base/statistics.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// Of a measurement's windows: a rate that falls by more says that it is no level yet, or one no longer.
constexpr double kDrift = 0.05;

/// Rates are not compared with each other where others took more of the cores: the ratio is off by as much.
constexpr double kTakenOfRemarks = 0.1;

using TableRow = std::vector<std::string>;

// Columns of words behind the numbers: the code that ran.
constexpr std::size_t kCoreWords = 1;
constexpr std::size_t kGpuWords = 0;

const TableRow& core_headings() {
  static const TableRow headings{"work", "all cores", "each: median", "slowest", "by"};
  return headings;
}

TableRow probe_row(const ProbeRecord& record, const ProbeMeasurement& measurement) {
  std::vector<double> each;
  const ProbeRate* slowest = nullptr;
  const std::vector<ProbeRate> rates = probe_rates(record, measurement);
  for (const ProbeRate& rate : rates) {
    if (rate.kind != "core") continue;
    each.push_back(rate.rate);
    if (slowest == nullptr || rate.rate < slowest->rate) slowest = &rate;
  }
  const double all = rate_of_all_cores(measurement);
  return {
      measurement.size > 0 ? fmt::format("{}, n = {}", measurement.name, measurement.size) : measurement.name,
      all > 0 ? probe_rate_text(all, measurement.unit) : "–", probe_rate_text(median(each), measurement.unit),
      fmt::format("{} ({})", probe_rate_text(slowest->rate, measurement.unit), slowest->name),
      measurement.by};
}

std::vector<TableRow> probe_rows(const ProbeRecord& record) {
  std::vector<TableRow> rows;
  for (const ProbeMeasurement& each : record.measurements) {
    if (rate_of_all_cores(each) > 0) rows.push_back(probe_row(record, each));
  }
  return rows;
}

const TableRow& gpu_headings() {
  static const TableRow headings{"work", "median", "slowest", "published", "MHz", "W", "°C"};
  return headings;
}

/// "GPU 3", "GPU 3 to 1".
std::string short_name(const ProbeRate& rate) {
  constexpr std::string_view kGpuAgain = " to GPU ";
  const std::size_t at = rate.name.find(kGpuAgain);
  return at == std::string::npos
             ? rate.name
             : fmt::format("{} to {}", rate.name.substr(0, at), rate.name.substr(at + kGpuAgain.size()));
}

/// The middle of all GPUs' windows; "–" where nobody read it.
std::string median_figure(const ProbeMeasurement& measurement, std::optional<double> GpuWindow::* figure,
                          double unit) {
  std::vector<double> values;
  for (const ProbePart& part : measurement.parts) {
    for (const GpuWindow& window : part.telemetry) {
      if (window.*figure) values.push_back(*(window.*figure) / unit);
    }
  }
  return values.empty() ? "–" : fmt::format("{:.0f}", median(values));
}

TableRow gpu_row(const ProbeRecord& record, const ProbeMeasurement& measurement) {
  std::vector<double> each;
  std::optional<ProbeRate> slowest;
  for (const ProbeRate& rate : gpu_rates(record, measurement)) {
    if (rate.kind != "GPU" && rate.kind != "GPU pair") continue;
    each.push_back(rate.rate);
    if (!slowest || rate.rate < slowest->rate) slowest = rate;
  }
  const double middle = median(each);
  const std::string low = probe_rate_text(slowest->rate, measurement.unit);
  const auto published = published_rate(measurement, measurement.parts.front().model);
  constexpr double kMega = 1e6;
  // The unit is the median's, but where the two have others.
  const std::string usual = probe_rate_text(middle, measurement.unit);
  const bool is_same_unit = low.substr(low.find(' ')) == usual.substr(usual.find(' '));
  return {measurement_name(measurement),
          usual,
          fmt::format("{} ({})", is_same_unit ? low.substr(0, low.find(' ')) : low, short_name(*slowest)),
          published ? fmt::format("{:.2f}", middle / *published) : "–",
          median_figure(measurement, &GpuWindow::sm_clock_hertz, kMega),
          median_figure(measurement, &GpuWindow::power_watts, 1),
          median_figure(measurement, &GpuWindow::temperature_celsius, 1)};
}

std::vector<TableRow> gpu_rows(const ProbeRecord& record) {
  std::vector<TableRow> rows;
  for (const ProbeMeasurement& each : record.measurements) {
    if (!gpu_rates(record, each).empty()) rows.push_back(gpu_row(record, each));
  }
  return rows;
}

std::string title_of(const ProbeRecord& record) {
  if (record.cores == 0) return fmt::format("{}: {}", record.host, gpu_title(record));
  return fmt::format(
      "{}: {}, {}", record.host,
      record.processor.empty() ? "a processor that the kernel does not name" : record.processor,
      counted(static_cast<std::size_t>(record.cores), "core"));
}

/// The lines below the tables: findings, what is healthy, what was not judged.
std::vector<std::string> probe_verdict_lines(const ProbeVerdict& verdict) {
  std::vector<std::string> lines;
  for (const SlowPart& slow : verdict.slow)
    lines.push_back(fmt::format("{}: {}", slow.bad ? "bad" : "suspect", slow.evidence));
  for (const std::string& healthy : verdict.healthy) lines.push_back("alike: " + healthy);
  for (const std::string& each : verdict.not_judged) lines.push_back("not judged: " + each);
  if (lines.empty()) lines.emplace_back("not judged: nothing here has three siblings");
  return lines;
}

/// Below their headings. Of numbers the last columns are left out where they do not fit; of `words` last ones
/// (0 or 1) each line shows what it has room for.
std::string probe_table(const TableRow& headings, const std::vector<TableRow>& rows, std::size_t words,
                        int width) {
  TextTable table{headings};
  table.insert(table.end(), rows.begin(), rows.end());
  const int room = width + 2 - table_width(table);  // without the indent
  if (words > 0) {
    constexpr int kMinRoom = 6;
    const int of_words = column_widths(table).back() + room;
    for (TableRow& row : table) row.back() = of_words >= kMinRoom ? shorten(row.back(), of_words) : "";
  }
  while (words == 0 && table_width(table) > width + 2) drop_column(table, table.front().size() - 1);
  return table_lines(table, 1, words, "");
}

std::string probe_markdown_table(const TableRow& headings, const std::vector<TableRow>& rows,
                                 std::size_t words) {
  if (rows.empty()) return {};
  ReportTable table{.headings = headings, .right = words};
  for (const TableRow& row : rows) table.rows.emplace_back(row.begin(), row.end());
  return markdown_table(table) + "\n";
}

std::string probe_text_page(const std::vector<ProbeRecord>& records, int width) {
  std::string text;
  for (const ProbeRecord& record : records) {
    text += wrap(title_of(record), width, text.empty() ? "" : "\n", "  ");
    if (const auto rows = probe_rows(record); !rows.empty())
      text += probe_table(core_headings(), rows, kCoreWords, width);
    if (const auto rows = gpu_rows(record); !rows.empty()) {
      if (record.cores > 0) text += wrap(gpu_title(record), width, "", "  ");
      text += probe_table(gpu_headings(), rows, kGpuWords, width);
    }
    for (const std::string& remark : probe_remarks(record)) text += wrap(remark, width, "", "  ");
    for (const std::string& note : record.notes) text += wrap(note, width, "note: ", "  ");
  }
  text += "\n";
  for (const std::string& line : probe_verdict_lines(judge_probes(records)))
    text += wrap(line, width, "", "  ");
  return page_text(text);
}

std::string probe_markdown_page(const std::vector<ProbeRecord>& records) {
  std::string text;
  for (const ProbeRecord& record : records) {
    text += fmt::format("{}**{}**\n\n", text.empty() ? "" : "\n", markdown_text(title_of(record)));
    text += probe_markdown_table(core_headings(), probe_rows(record), kCoreWords);
    const std::vector<TableRow> of_gpus = gpu_rows(record);
    if (!of_gpus.empty() && record.cores > 0) text += markdown_text(gpu_title(record)) + "\n\n";
    text += probe_markdown_table(gpu_headings(), of_gpus, kGpuWords);
    for (const std::string& remark : probe_remarks(record))
      text += fmt::format("- {}\n", markdown_text(remark));
    for (const std::string& note : record.notes) text += fmt::format("- Note: {}\n", markdown_text(note));
  }
  text += "\n";
  for (const std::string& line : probe_verdict_lines(judge_probes(records)))
    text += fmt::format("- {}\n", markdown_text(line));
  return text;
}

/// The largest of an id by its rate over all cores; null where there is none.
const ProbeMeasurement* best_of_id(const ProbeRecord& record, std::string_view id) {
  const ProbeMeasurement* best = nullptr;
  for (const ProbeMeasurement& each : record.measurements) {
    if (each.id != id) continue;
    if (best == nullptr || rate_of_all_cores(each) > rate_of_all_cores(*best)) best = &each;
  }
  return best;
}

std::string csv_line(const ProbeRecord& record, const ProbeMeasurement& measurement, const ProbePart& part) {
  ProbeMeasurement one = measurement;
  one.parts = {part};
  const ProbeRate rate = probe_rates(record, one).front();
  std::vector<std::string> figures;
  for (const auto figure :
       {&GpuWindow::sm_clock_hertz, &GpuWindow::power_watts, &GpuWindow::temperature_celsius}) {
    const std::string text_of = median_figure(one, figure, 1.0);
    figures.push_back(text_of == "–" ? "" : text_of);
  }
  std::set<std::string> reasons;
  for (const GpuWindow& window : part.telemetry)
    for (const GpuTrouble trouble : window.throttled_by) reasons.insert(std::string(name(trouble)));
  const auto published = published_rate(measurement, part.model);
  return fmt::format("{},{},{},{},{},{},{},{:.6g},{:.4f},{},{},{},{},{}\n", csv_cell(record.host),
                     csv_cell(one.id), one.size > 0 ? fmt::to_string(one.size) : "", rate.kind,
                     csv_cell(part.name), csv_cell(part.model),
                     one.unit == ProbeUnit::byte ? "B/s" : "flop/s", rate.rate, rate.drift,
                     published ? fmt::format("{:.6g}", rate.rate / *published) : "", figures[0], figures[1],
                     figures[2], fmt::join(reasons, "; "));
}

std::string probe_csv(const std::vector<ProbeRecord>& records) {
  std::string text =
      "host,work,n,kind,name,model,unit,median,drift,published_share,sm_clock_hertz,power_watts,temperature_"
      "celsius,throttled_by\n";
  for (const ProbeRecord& record : records)
    for (const ProbeMeasurement& each : record.measurements)
      for (const ProbePart& part : each.parts) text += csv_line(record, each, part);
  return text;
}

}  // namespace

std::vector<std::string> probe_formats() { return {"text", "md", "json", "csv"}; }

std::string probe_report(const std::vector<ProbeRecord>& records, std::string_view format, int width) {
  if (format == "text") return probe_text_page(records, width);
  if (format == "md") return probe_markdown_page(records);
  if (format == "json") return probe_json(records.front());
  if (format == "csv") return probe_csv(records);
  throw std::out_of_range("probe has no format " + std::string(format));
}

std::string probe_rate_text(double rate, ProbeUnit unit) {
  constexpr double kGiga = 1e9;
  constexpr double kTera = 1e12;
  const bool is_tera = rate >= kTera;
  return fmt::format("{} {}{}", format_significant(rate / (is_tera ? kTera : kGiga), 3, 6),
                     is_tera ? "T" : "G", unit == ProbeUnit::byte ? "B/s" : "FLOP/s");
}

std::vector<std::string> probe_remarks(const ProbeRecord& record) {
  std::vector<std::string> remarks;
  // What others took of the cores may be in one rate and not in the next.
  const bool is_disturbed = was_disturbed(record, kTakenOfRemarks);
  for (const std::string type : {"fp64", "fp32"}) {
    const ProbeMeasurement* const fma = best_of_id(record, "fma-" + type);
    const ProbeMeasurement* const gemm = best_of_id(record, "gemm-" + type);
    if (fma == nullptr || gemm == nullptr || is_disturbed) continue;
    remarks.push_back(fmt::format("{}: {} reaches {:.0f} % of what the arithmetic does ({})", gemm->name,
                                  gemm->by, 100 * rate_of_all_cores(*gemm) / rate_of_all_cores(*fma),
                                  fma->by));
  }
  std::vector<std::string> falling;
  double worst = 0;
  for (const ProbeMeasurement& each : record.measurements) {
    for (const ProbeRate& rate : probe_rates(record, each)) {
      if (rate.kind != "GPU" && (rate.kind != "host" || is_disturbed)) continue;
      if (rate.drift >= -kDrift) continue;
      falling.push_back(fmt::format("{} of {}", measurement_name(each), rate.name));
      worst = std::min(worst, rate.drift);
    }
  }
  if (!falling.empty()) {
    remarks.push_back(fmt::format(
        "{} lower at the end than at the beginning, by up to {:.0f} %: heat, a power limit, or others; {}",
        falling.size() == 1 ? "1 rate is" : fmt::format("{} rates are", falling.size()), -100 * worst,
        falling.front() + (falling.size() > 1 ? " first" : "")));
  }
  return remarks;
}

}  // namespace collbench::analysis
