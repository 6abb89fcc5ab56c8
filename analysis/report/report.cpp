#include "analysis/report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "analysis/report/diff_report.hpp"
#include "base/error.hpp"
#include "base/text_sinks.hpp"

namespace collbench::analysis {
namespace {

// Only text has a width.
constexpr std::array<ReportFormat, 12> kFormats{{
    {"text", terminal_text, report_text, report_text, report_text},
    {"md", page_text, report_markdown,
     [](const Prediction& prediction, const TextOptions&) { return report_markdown(prediction); },
     [](const DiffReport& diff, const TextOptions&) { return report_markdown(diff); }},
    {"csv", page_text, [](const Run& run, const TextOptions&) { return report_csv(run); },
     [](const Prediction& prediction, const TextOptions&) { return report_csv(prediction); }, nullptr},
    {"json", json_text, [](const Run& run, const TextOptions&) { return to_json_text(run); },
     [](const Prediction& prediction, const TextOptions&) { return report_json(prediction); },
     [](const DiffReport& diff, const TextOptions&) { return report_json(diff); }},
    {"html", page_text, [](const Run& run, const TextOptions&) { return report_html(run); }, nullptr,
     [](const DiffReport& diff, const TextOptions&) { return report_html(diff); }},
    {"prom", page_text, [](const Run& run, const TextOptions&) { return report_prometheus(run); }, nullptr,
     nullptr},
    {"junit", page_text, report_junit, nullptr, nullptr},
    {"nccl-tests", page_text, [](const Run& run, const TextOptions&) { return report_nccl_tests(run); },
     nullptr, nullptr},
    {"nccl-tests-json", json_text,
     [](const Run& run, const TextOptions&) { return report_nccl_tests_json(run); }, nullptr, nullptr},
    {"ticket", page_text, [](const Run& run, const TextOptions&) { return report_ticket(run); }, nullptr,
     nullptr},
    {"hostfile", page_text, nullptr, nullptr,
     [](const DiffReport& diff, const TextOptions&) { return report_hostfile(diff); }},
    {"slurm", page_text, nullptr, nullptr,
     [](const DiffReport& diff, const TextOptions&) { return report_slurm(diff); }},
}};

/// `document_name`: "a topology diff".
template <class Writer, class Document>
std::string written(std::string_view name, Writer ReportFormat::* writer, std::string_view document_name,
                    const Document& document, const TextOptions& options) {
  const auto* const found = std::ranges::find(kFormats, name, &ReportFormat::name);
  if (found != kFormats.end() && found->*writer != nullptr)
    return found->as_shown((found->*writer)(document, options));
  throw usage_error("--format", fmt::format("'{}' is not a format of {}", name, document_name),
                    "choose " + format_list(format_names(writer)));
}

}  // namespace

std::span<const ReportFormat> report_formats() { return kFormats; }

std::string format_list(const std::vector<std::string>& names) {
  if (names.size() < 2) return fmt::format("{}", fmt::join(names, ""));
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::string report(const Run& run, std::string_view format, const TextOptions& options) {
  return written(format, &ReportFormat::run, "a report", run, options);
}

std::string report(const Prediction& prediction, std::string_view format, const TextOptions& options) {
  return written(format, &ReportFormat::prediction, "a prediction", prediction, options);
}

std::string report(const DiffReport& diff, std::string_view format, const TextOptions& options) {
  return written(format, &ReportFormat::diff, "a topology diff", diff, options);
}

}  // namespace collbench::analysis
