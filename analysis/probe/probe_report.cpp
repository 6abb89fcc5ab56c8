#include "analysis/probe/probe_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "analysis/probe/probe_json.hpp"
#include "analysis/report/text_layout.hpp"
#include "base/statistics.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// Of a measurement's windows: a rate that falls by more says that it is no level yet, or one no longer.
constexpr double kDrift = 0.05;

/// Rates are not compared with each other where others took more of the cores: the ratio is off by as much.
constexpr double kTakenOfRemarks = 0.1;

constexpr std::array<std::string_view, 5> kHeadings{"work", "all cores", "each: median", "slowest", "by"};
using TableRow = std::array<std::string, kHeadings.size()>;

TableRow probe_row(const ProbeRecord& record, const ProbeMeasurement& measurement) {
  std::vector<double> each;
  const ProbeRate* slowest = nullptr;
  const std::vector<ProbeRate> rates = probe_rates(record, measurement);
  for (const ProbeRate& rate : rates) {
    if (rate.kind != "core" && rate.kind != "GPU") continue;
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
  for (const ProbeMeasurement& each : record.measurements) rows.push_back(probe_row(record, each));
  return rows;
}

std::string title_of(const ProbeRecord& record) {
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

std::string probe_table(const std::vector<TableRow>& rows, int width) {
  std::array<int, kHeadings.size()> widths{};
  for (std::size_t column = 0; column < kHeadings.size(); ++column) {
    widths[column] = display_width(kHeadings[column]);
    for (const TableRow& row : rows) widths[column] = std::max(widths[column], display_width(row[column]));
  }
  std::string text;
  const auto add = [&](const auto& cells) {
    std::string line = pad_right(cells[0], widths[0]);
    for (std::size_t column = 1; column + 1 < cells.size(); ++column)
      line += "  " + pad_left(cells[column], widths[column]);
    // The last one, the code that ran, is what a narrow terminal shows the least of.
    const int room = width - display_width(line) - 2;
    constexpr int kMinRoom = 6;
    if (room >= kMinRoom) line += "  " + shorten(cells.back(), room);
    text += line + "\n";
  };
  add(kHeadings);
  for (const TableRow& row : rows) add(row);
  return text;
}

std::string probe_text_page(const std::vector<ProbeRecord>& records, int width) {
  std::string text;
  for (const ProbeRecord& record : records) {
    text += wrap(title_of(record), width, text.empty() ? "" : "\n", "  ") +
            probe_table(probe_rows(record), width);
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
    text += fmt::format("{}**{}**\n\n|", text.empty() ? "" : "\n", markdown_text(title_of(record)));
    for (const std::string_view heading : kHeadings) text += fmt::format(" {} |", heading);
    text += "\n| --- | ---: | ---: | ---: | --- |\n";
    for (const TableRow& row : probe_rows(record)) {
      text += "|";
      for (const std::string& cell : row) text += fmt::format(" {} |", markdown_text(cell));
      text += "\n";
    }
    text += "\n";
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

}  // namespace

std::vector<std::string> probe_formats() { return {"text", "md", "json"}; }

std::string probe_report(const std::vector<ProbeRecord>& records, std::string_view format, int width) {
  if (format == "text") return probe_text_page(records, width);
  if (format == "md") return probe_markdown_page(records);
  if (format == "json") return probe_json(records.front());
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
      falling.push_back(fmt::format("{} of {}", each.name, rate.name));
      worst = std::min(worst, rate.drift);
    }
  }
  if (!falling.empty()) {
    remarks.push_back(
        fmt::format("{} lower at the end than at the beginning, by up to {:.0f} %: heat, a power limit, or "
                    "others; {}",
                    falling.size() == 1 ? "1 rate is" : fmt::format("{} rates are", falling.size()),
                    -100 * worst, falling.front() + (falling.size() > 1 ? " first" : "")));
  }
  return remarks;
}

}  // namespace collbench::analysis
