#include "analysis/report/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <span>
#include <system_error>

#include "base/text_sinks.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr int kTimeWidth = 8;
constexpr int kRateWidth = 7;
constexpr int kWrongWidth = 6;
constexpr int kShortWidth = 4;
/// Below this ratio a row catches the eye. A hint for a reader and no verdict.
constexpr double kSlowRatio = 0.8;

const RowKey& key(const ReportRow& row) { return row.row.measurement.key; }

std::string size(const ReportRow& row) { return fmt::to_string(key(row).size_bytes); }
std::string count(const ReportRow& row) { return fmt::to_string(key(row).count); }
std::string type(const ReportRow& row) { return std::string(traits(key(row).type).name); }

std::string reduction(const ReportRow& row) {
  const std::string_view redop = key(row).reduction ? name(*key(row).reduction) : kNoValue;
  return std::string(redop) + (row.row.measurement.note.empty() || row.row.step ? "" : "*");
}

std::string root(const ReportRow& row) {
  return key(row).root ? fmt::to_string(*key(row).root) : std::string(kNoValue);
}

std::string in_or_out(const ReportRow& row) {
  // nccl-tests measures AllToAll and SendRecv in place too, though neither has such a form.
  if (!operation(key(row).operation).has_in_place && !key(row).in_place) return std::string(kNoValue);
  return key(row).in_place ? "in" : "out";
}

std::string time(const ReportRow& row) {
  const double seconds = row.row.measurement.seconds;
  if (seconds <= 0) return std::string(kNoValue);
  // A GPU was throttled, or had errors, while the row ran: which and why stands below the tables.
  return table_number(seconds / kMicrosecond, kTimeWidth) + (row.row.measurement.marks.empty() ? "" : "!");
}

Tone time_tone(const ReportRow& row) {
  return row.row.measurement.marks.empty() ? Tone::plain : Tone::warning;
}

std::string enqueue(const ReportRow& row) {
  const auto& seconds = row.row.measurement.enqueue_seconds;
  return seconds ? table_number(*seconds / kMicrosecond, kTimeWidth) : std::string(kNoValue);
}

bool has_enqueue_time(const ReportRow& row) { return row.row.measurement.enqueue_seconds.has_value(); }

std::string half_width(const ReportRow& row) {
  const auto relative = interval_half_width(row.row.measurement);
  if (!relative) return std::string(kNoValue);
  const double percent = *relative * 100;
  if (percent == 0) return "0";
  if (percent < 0.1) return "<0.1";
  return percent < 999.5 ? fmt::format("{:.{}f}", percent, percent < 9.95 ? 1 : 0) : ">999";
}

std::string algorithm_bandwidth_cell(const ReportRow& row) {
  return table_rate(row.rates.algorithm_bandwidth);
}
std::string bus_bandwidth_cell(const ReportRow& row) { return table_rate(row.rates.bus_bandwidth); }

std::string wrong(const ReportRow& row) {
  const auto& elements = row.row.measurement.wrong_elements;
  if (!elements) return std::string(kNoValue);
  const std::string text = fmt::to_string(*elements);
  // The exact number stands below the table.
  return std::ssize(text) <= kWrongWidth ? text : fmt::format("{:.0e}", static_cast<double>(*elements));
}

Tone wrong_tone(const ReportRow& row) {
  return has_wrong_data(row.row.measurement) ? Tone::alarm : Tone::plain;
}

std::string ring(const ReportRow& row) { return table_rate(row.rates.ring_bus_bandwidth); }
std::string tree(const ReportRow& row) { return table_rate(row.rates.tree_bus_bandwidth); }
std::string expected(const ReportRow& row) { return table_rate(row.rates.expected_bus_bandwidth); }

std::string ratio(const ReportRow& row) {
  const auto& value = row.rates.measured_over_expected;
  if (!value) return std::string(kNoValue);
  if (*value < 0.01) return "<.01";
  const int decimals = *value < 9.995 ? 2 : *value < 99.95 ? 1 : 0;
  return *value < 9999.5 ? fmt::format("{:.{}f}", *value, decimals) : ">1e4";
}

Tone ratio_tone(const ReportRow& row) {
  const auto& value = row.rates.measured_over_expected;
  // By the value as it is shown: 0.798 stands there as 0.80.
  return value && std::round(*value * 100) < kSlowRatio * 100 ? Tone::warning : Tone::plain;
}

std::string nccl_expected(const ReportRow& row) {
  const auto& selection = row.row.measurement.nccl;
  const auto seconds = selection ? nccl_expected_seconds(*selection) : std::nullopt;
  return seconds ? table_number(*seconds / kMicrosecond, kTimeWidth) : std::string(kNoValue);
}

/// "ring/simple/16"; empty where NCCL did not tell.
std::string used_by_nccl(const Measurement& measured) {
  if (!measured.nccl) return {};
  std::string text = measured.nccl->algorithm;
  if (!measured.nccl->protocol.empty()) text += "/" + measured.nccl->protocol;
  if (measured.nccl->channels > 0) text += fmt::format("/{}", measured.nccl->channels);
  return text;
}

/// "auto" comes first: the end may be cut.
std::string algorithm(const ReportRow& row) {
  const std::string& asked = key(row).algorithm;
  const std::string& ran = row.row.measurement.algorithm_ran;
  const bool chosen = asked == kLibraryChoice;
  if (const std::string used = used_by_nccl(row.row.measurement); !used.empty()) {
    return one_line(chosen ? fmt::format("auto: {}", used)
                           : fmt::format("{} ({}{})", used, ran != asked ? "for " : "", asked));
  }
  if (ran.empty() || ran == asked) return one_line(asked);
  return one_line(chosen ? fmt::format("auto: {}", ran) : fmt::format("{} (for {})", ran, asked));
}

bool has_root(const ReportRow& row) { return key(row).root.has_value(); }

constexpr std::string_view kMeasured = "measured";
constexpr std::string_view kExpected = "expected busbw";
constexpr std::string_view kRate = "(GB/s)";

/// Pages that the whole table needs: of a run on host memory, and on GPUs, where sizes have more digits and
/// the algorithm more words.
constexpr int kWide = 118;
constexpr int kWidest = 140;

constexpr std::array<ReportColumn, 17> kColumns{{
    {"size", "(B)", "size (B)", "", 8, 0, size},
    {"count", "(elem.)", "count (elements)", "", 7, kWide, count},
    {"type", "", "type", "", 5, 0, type},
    {"redop", "", "redop", "", 5, 0, reduction},
    {"root", "", "root", "", kShortWidth, 0, root, nullptr, has_root},
    {"place", "", "place", "", 5, 0, in_or_out},
    {"time", "(µs)", "time (µs)", kMeasured, kTimeWidth, 0, time, time_tone},
    {"±95%", "(%)", "±95 % (%)", kMeasured, kShortWidth, 0, half_width},
    {"enqueue", "(µs)", "enqueue (µs)", kMeasured, kTimeWidth, 90, enqueue, nullptr, has_enqueue_time},
    {"algbw", kRate, "algbw (GB/s)", kMeasured, kRateWidth, kWide, algorithm_bandwidth_cell},
    {"busbw", kRate, "busbw (GB/s)", kMeasured, kRateWidth, 0, bus_bandwidth_cell},
    {"#wrong", "", "#wrong", kMeasured, kWrongWidth, 0, wrong, wrong_tone},
    {"ring", kRate, "ring busbw (GB/s)", kExpected, kRateWidth, kWide, ring},
    {"tree", kRate, "tree busbw (GB/s)", kExpected, kRateWidth, kWide, tree},
    {"exp", kRate, "expected busbw (GB/s)", kExpected, kRateWidth, 0, expected},
    {"meas", "/exp", "meas/exp", "", kShortWidth, 0, ratio, ratio_tone},
    {"algorithm", "", "algorithm", "", 0, 0, algorithm},
}};

constexpr auto kNcclColumns = [] {
  std::array<ReportColumn, kColumns.size() + 1> columns{};
  std::ranges::copy(kColumns, columns.begin());
  for (ReportColumn& column : columns) {
    if (column.cell == count || column.cell == tree) column.min_page = kWidest;
  }
  columns.back() = columns[kColumns.size() - 1];
  columns[kColumns.size() - 1] = {"NCCL",     "(µs)", "NCCL expects (µs)", "",
                                  kTimeWidth, kWide,  nccl_expected,       nullptr};
  return columns;
}();

std::string of_samples(const ReportRow& row, double value) {
  if (row.row.measurement.samples == 0 || value == 0) return std::string(kNoValue);  // not said by a log
  return table_number(value / kMicrosecond, kTimeWidth);
}

std::string samples(const ReportRow& row) {
  const std::uint64_t count = row.row.measurement.samples;
  return count == 0 ? std::string(kNoValue) : fmt::to_string(count);
}

std::string calls_per_sample(const ReportRow& row) {
  return row.row.measurement.samples == 0 ? std::string(kNoValue)
                                          : fmt::to_string(row.row.measurement.iterations_per_sample);
}

constexpr std::string_view kSamples = "time of a call, by samples";

constexpr std::array<ReportColumn, 13> kPercentileColumns{{
    {"size", "(B)", "size (B)", "", 8, 0, size},
    {"type", "", "type", "", 5, 0, type},
    {"redop", "", "redop", "", 5, 0, reduction},
    {"root", "", "root", "", kShortWidth, 0, root, nullptr, has_root},
    {"place", "", "place", "", 5, 0, in_or_out},
    {"time", "(µs)", "time (µs)", "", kTimeWidth, 0, time, time_tone},
    {"min", "(µs)", "min (µs)", kSamples, kTimeWidth, 0,
     [](const ReportRow& row) { return of_samples(row, row.row.measurement.minimum); }},
    {"p50", "(µs)", "p50 (µs)", kSamples, kTimeWidth, 0,
     [](const ReportRow& row) { return of_samples(row, row.row.measurement.median); }},
    {"p95", "(µs)", "p95 (µs)", kSamples, kTimeWidth, 0,
     [](const ReportRow& row) { return of_samples(row, row.row.measurement.p95); }},
    {"p99", "(µs)", "p99 (µs)", kSamples, kTimeWidth, 0,
     [](const ReportRow& row) { return of_samples(row, row.row.measurement.p99); }},
    {"calls", "each", "calls each", kSamples, 5, 0, calls_per_sample},
    {"samples", "", "samples", kSamples, 7, kWide, samples},
    {"algorithm", "", "algorithm", "", 0, kWide, algorithm},
}};

template <class Columns>
std::vector<const ReportColumn*> wanted_columns(const Columns& columns, const std::vector<ReportRow>& rows) {
  std::vector<const ReportColumn*> shown;
  for (const ReportColumn& column : columns) {
    if (column.wanted == nullptr || std::ranges::any_of(rows, column.wanted)) shown.push_back(&column);
  }
  return shown;
}

}  // namespace

std::string table_rate(const std::optional<double>& bytes_per_second) {
  return bytes_per_second ? table_number(*bytes_per_second / kGigabyte, kRateWidth) : std::string(kNoValue);
}

std::span<const ReportColumn> report_columns(const Run& run) {
  // An imported log is NCCL's as well, but another program's, which does not tell.
  const bool nccl_reports = run.backend == BackendId::nccl && !run.log;
  return nccl_reports ? std::span<const ReportColumn>(kNcclColumns) : kColumns;
}

std::vector<ReportRow> rows_of(const Run& run, OperationId id) {
  const int ranks = static_cast<int>(run.ranks.size());
  std::vector<ReportRow> found;
  for (const Row& row : run.rows) {
    if (row.measurement.key.operation == id && row.measurement.unavailable.empty())
      found.push_back({row, rates(row, ranks)});
  }
  return found;
}

std::vector<const ReportColumn*> columns_for(const Run& run, const std::vector<ReportRow>& rows) {
  return wanted_columns(report_columns(run), rows);
}

ReportTable table_of_rows(const std::vector<ReportRow>& rows,
                          const std::vector<const ReportColumn*>& columns) {
  ReportTable table{.headings = {}, .left = 0, .right = 1};
  for (const ReportColumn* const column : columns) table.headings.emplace_back(column->heading);
  for (const ReportRow& row : rows) {
    std::vector<ReportCell>& cells = table.rows.emplace_back();
    for (const ReportColumn* const column : columns)
      cells.emplace_back(column->cell(row),
                         tone_class(column->tone == nullptr ? Tone::plain : column->tone(row)));
  }
  return table;
}

std::vector<const ReportColumn*> percentile_columns(const std::vector<ReportRow>& rows) {
  const bool any =
      std::ranges::any_of(rows, [](const ReportRow& row) { return row.row.measurement.samples > 0; });
  if (!any) return {};
  return wanted_columns(kPercentileColumns, rows);
}

std::string table_number(double value, int width) {
  if (!std::isfinite(value)) return std::string(kNoValue);
  if (value == 0) return "0.00";
  const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  // Below 1, two significant digits stay before there is an exponent.
  const int fewest = magnitude >= 0 ? 0 : 1 - magnitude;
  for (int decimals = std::max(2, 2 - magnitude); decimals >= fewest; --decimals) {
    // Digit for digit as fmt's "{:.Nf}", in a third of the time: a log may have a million rows.
    std::array<char, 32> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, decimals);
    if (end.ec == std::errc() && end.ptr - text.data() <= width) return {text.data(), end.ptr};
  }
  return fmt::format("{:.1e}", value);
}

}  // namespace collbench::analysis
