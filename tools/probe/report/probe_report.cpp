#include "tools/probe/report/probe_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

#include "analysis/probe/gpu_findings.hpp"
#include "analysis/probe/siblings.hpp"
#include "base/statistics.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// Of a measurement's windows: a rate that falls by more says that it is no level yet, or one no longer.
constexpr double kDrift = 0.05;

/// Rates are not compared with each other where others took more of the cores: the ratio is off by as much.
constexpr double kTakenOfRemarks = 0.1;

std::vector<ReportCell> probe_row(const ProbeRecord& record, const ProbeMeasurement& measurement) {
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

ReportTable core_table(const ProbeRecord& record) {
  ReportTable table{
      .headings = {"work", "all cores", "each: median", "slowest", "by"}, .right = 1, .spare = {"by"}};
  for (const ProbeMeasurement& each : record.measurements)
    if (rate_of_all_cores(each) > 0) table.rows.push_back(probe_row(record, each));
  return table;
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

std::vector<ReportCell> gpu_row(const ProbeRecord& record, const ProbeMeasurement& measurement) {
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

ReportTable gpu_table(const ProbeRecord& record) {
  ReportTable table{.headings = {"work", "median", "slowest", "published", "MHz", "W", "°C"},
                    .spare = {"°C", "W", "MHz", "published", "slowest"}};
  for (const ProbeMeasurement& each : record.measurements)
    if (!gpu_rates(record, each).empty()) table.rows.push_back(gpu_row(record, each));
  return table;
}

std::string title_of(const ProbeRecord& record) {
  if (record.cores == 0) return fmt::format("{}: {}", record.host, gpu_title(record));
  return fmt::format(
      "{}: {}, {}", record.host,
      record.processor.empty() ? "a processor that the kernel does not name" : record.processor,
      counted(record.cores, "core"));
}

std::string probe_headline(const ProbeVerdict& verdict) {
  const auto bad = static_cast<std::size_t>(std::ranges::count_if(verdict.slow, &SlowPart::bad));
  if (!verdict.slow.empty())
    return fmt::format("slower than their siblings: {} bad, {} suspect", bad, verdict.slow.size() - bad);
  if (!verdict.healthy.empty()) return "nothing that was judged is slower than its siblings";
  if (verdict.not_judged.empty()) return "not judged: nothing here has three siblings";
  return verdict.not_judged.size() == 1 ? "not judged: " + verdict.not_judged.front()
                                        : "not judged: the reasons stand below";
}

ReportSection section_of(const ProbeRecord& record) {
  ReportSection section{title_of(record), {}};
  if (ReportTable table = core_table(record); !table.rows.empty())
    section.blocks.emplace_back(std::move(table));
  if (ReportTable table = gpu_table(record); !table.rows.empty()) {
    if (record.cores > 0) section.blocks.emplace_back(gpu_title(record));
    section.blocks.emplace_back(std::move(table));
  }
  ReportLines lines = as_lines(probe_remarks(record));
  for (const std::string& note : record.notes) lines.push_back({"note: " + note});
  if (!lines.empty()) section.blocks.emplace_back(std::move(lines));
  return section;
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

Document probe_document(const std::vector<ProbeRecord>& records) {
  const ProbeVerdict verdict = judge_probes(records);
  Document document{"Probe", {}, {}, {probe_headline(verdict)}};
  for (const SlowPart& slow : verdict.slow)
    add(document.lead, slow.bad ? Tone::alarm : Tone::warning, "{}: {}", slow.bad ? "bad" : "suspect",
        slow.evidence);
  for (const ProbeRecord& record : records) document.sections.push_back(section_of(record));
  ReportLines others;
  for (const std::string& healthy : verdict.healthy) add(others, "alike: {}", healthy);
  for (const std::string& each : verdict.not_judged)
    if (verdict.not_judged.size() > 1 || !verdict.healthy.empty() || !verdict.slow.empty())
      add(others, "not judged: {}", each);  // else the headline says it
  document.sections.push_back({"Siblings", {std::move(others)}});
  return document;
}

std::vector<std::string> probe_formats() { return {"text", "md", "json", "csv"}; }

std::string probe_report(const std::vector<ProbeRecord>& records, std::string_view format, int width) {
  if (format == "text") return text(probe_document(records), {.columns = width});
  if (format == "md") return markdown(probe_document(records));
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
