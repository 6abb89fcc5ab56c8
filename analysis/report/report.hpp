#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/criteria.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

struct Prediction;
struct DiffReport;

/// How a document is written. Each format takes of it what it has a use for.
struct TextOptions {
  int columns = 120;         ///< of the terminal or page; under 118 the table leaves columns out; 80 at least
  bool color = false;        ///< for a person's terminal; never for a file
  bool brief = false;        ///< of a run: a header of at most six lines; the record has the rest
  bool quiet = false;        ///< of a run: tables, warnings and faults, nothing else
  bool percentiles = false;  ///< --percentiles: text and Markdown show the distribution of each row's calls
  bool verbose = false;      ///< of a diff: each cost of a finding in every case
  Criteria criteria{};       ///< what fails a test case of JUnit
};

/// A way to write what is known, and a line of report_formats(). Each has a file of its own (text.cpp,
/// markdown.cpp, csv.cpp, …), and no other file knows the formats by name. Null: the format cannot
/// hold that document. `as_shown` is what every document goes through last: whatever a writer let through,
/// nothing in it drives a terminal (base/text_sinks.hpp).
struct ReportFormat {
  std::string_view name;
  std::string (*as_shown)(std::string_view document);
  std::string (*run)(const Run& run, const TextOptions& options);
  std::string (*prediction)(const Prediction& prediction, const TextOptions& options);
  std::string (*diff)(const DiffReport& diff, const TextOptions& options);
};

/// All formats, the default one first.
[[nodiscard]] std::span<const ReportFormat> report_formats();

/// The names of the formats that hold a document: format_names(&ReportFormat::diff).
template <class Writer>
[[nodiscard]] std::vector<std::string> format_names(Writer ReportFormat::* document) {
  std::vector<std::string> names;
  for (const ReportFormat& format : report_formats()) {
    if (format.*document != nullptr) names.emplace_back(format.name);
  }
  return names;
}

/// "text, md or json".
[[nodiscard]] std::string format_list(const std::vector<std::string>& names);

/// The document in the format of that name; `options` are for text. Throws Error (usage) for a format that
/// does not exist or does not hold the document, with the list of those that do.
[[nodiscard]] std::string report(const Run& run, std::string_view format, const TextOptions& options = {});
[[nodiscard]] std::string report(const Prediction& prediction, std::string_view format,
                                 const TextOptions& options = {});
[[nodiscard]] std::string report(const DiffReport& diff, std::string_view format,
                                 const TextOptions& options = {});

/// The table people know, as text in two parts, since a run knows the first minutes before the second. Both
/// end in a newline, and every line fits `columns`. What is measured, where, with what, and what the columns
/// mean.
[[nodiscard]] std::string report_text_header(const Run& run, const TextOptions& options = {});

/// A table for each operation, in the order of their first rows; then what was wrong, what was not reached,
/// what it cost.
[[nodiscard]] std::string report_text_results(const Run& run, const TextOptions& options = {});

/// Both.
[[nodiscard]] std::string report_text(const Run& run, const TextOptions& options = {});
[[nodiscard]] std::string report_text(const Prediction& prediction, const TextOptions& options = {});
[[nodiscard]] std::string report_text(const DiffReport& diff, const TextOptions& options = {});

/// "AllReduce float FAULT; AllGather float SOUND": for where no report is shown.
[[nodiscard]] std::string verdict_summary(const Run& run);

/// The facts and tables of report_text as GitHub-flavoured Markdown.
[[nodiscard]] std::string report_markdown(const Run& run, const TextOptions& options = {});
[[nodiscard]] std::string report_markdown(const Prediction& prediction);
[[nodiscard]] std::string report_markdown(const DiffReport& diff);

/// The same with charts of bus bandwidth and time, as one file of HTML that needs no network
/// (analysis/report/html/).
[[nodiscard]] std::string report_html(const Run& run);
[[nodiscard]] std::string report_html(const DiffReport& diff);

/// Gauges for the textfile collector of Prometheus' node exporter: HELP, TYPE, base units, a series per row.
[[nodiscard]] std::string report_prometheus(const Run& run);

/// A test case for each row, failed by options.criteria, and one for the run as a whole.
[[nodiscard]] std::string report_junit(const Run& run, const TextOptions& options);

/// A table of nccl-tests for each operation, and its -J file: for programs that read these.
[[nodiscard]] std::string report_nccl_tests(const Run& run);
[[nodiscard]] std::string report_nccl_tests_json(const Run& run);

/// What a provider's support has to read: the verdict, the machine, measured and expected rates with their
/// limits, and the same measurement with nccl-tests.
[[nodiscard]] std::string report_ticket(const Run& run);

/// One line per row (RFC 4180, LF line ends, a header with units in the names); an empty field is a value
/// that is not known. docs/formats.md lists the columns of a run.
[[nodiscard]] std::string report_csv(const Run& run);
[[nodiscard]] std::string report_csv(const Prediction& prediction);

/// SI base units, but for rates in GB/s, as the names of the keys say. What is not known is null. The JSON of
/// a run is its record (to_json_text).
[[nodiscard]] std::string report_json(const Prediction& prediction);
[[nodiscard]] std::string report_json(const DiffReport& diff);

}  // namespace collbench::analysis
