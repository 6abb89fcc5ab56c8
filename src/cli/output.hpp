#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report.hpp"
#include "base/document/chart.hpp"

namespace CLI {
class App;
}
// Where results go: -J, -o, --csv and --format, spelled and meant alike in every command.
// Charts as --plot and --plot-file ask for them.

namespace collbench::program {

/// What stands on the command line about a command's results.
struct OutputOptions {
  std::vector<std::string> formats{};  ///< that the command's document can have, the usual one first
  std::string record_path{};           ///< -J: the document as JSON; "-": stdout; empty: not asked for
  std::string csv_path{};              ///< --csv: as CSV, likewise
  std::string html_path{};             ///< --html: as a page of HTML, likewise
  std::string nccl_tests_path{};       ///< --nccl-tests-json: as nccl-tests' -J file, likewise
  std::string plot_path{};             ///< --plot-file: one chart as SVG; empty: not asked for
  bool plots = false;                  ///< --plot: text ends with charts
  std::string chart{};                 ///< --chart: which of them; empty: those of bus bandwidth
  std::string path{};                  ///< -o: what would go to stdout; "-": stdout; empty: stdout
  std::string format{};                ///< --format; empty: by the ending of `path`, else the usual one
  bool overwrite = false;
  std::string evidence_path{};      ///< --evidence: an archive; empty: not asked for
  std::vector<std::string> with{};  ///< --with: what else it holds: files and folders
  bool is_anonymous = false;        ///< --anonymous
};

struct OutputDocument {
  std::string option;       ///< that asked for it, for messages: "-J"; empty for stdout that nobody asked for
  std::string format;       ///< "text", "json", …, or the name of a preset, which is a page of Markdown
  std::string path;         ///< empty: stdout
  std::string chart{};      ///< of a picture, and of text that ends with charts: which (chosen_charts)
  bool with_plots = false;  ///< text ends with charts
  std::vector<std::string> others{};  ///< of an archive: files and folders that it holds as well
  bool is_anonymous = false;          ///< of an archive: without the names of hosts
};

/// What names a preset's page among the formats.
inline constexpr std::string_view kLab01Page = "lab01";

/// What names the archive of --evidence among the formats.
inline constexpr std::string_view kEvidence = "evidence";

/// Adds -o/--output and --overwrite; with several formats --format, with JSON -J/--record, with CSV --csv.
/// `record` is what the help calls the JSON. Fills `output`, which must outlive the parsing.
void add_output_options(CLI::App& app, const std::string& theme, OutputOptions& output,
                        const std::vector<std::string>& formats, const std::string& record);

/// Adds --plot, --plot-file and --chart for a document that has charts: `charts` are their names, "busbw",
/// the usual one first.
void add_plot_options(CLI::App& app, const std::string& theme, OutputOptions& output,
                      const std::vector<std::string>& charts);

/// Adds --evidence, --with and --anonymous; `anonymous` is what the help says of the last.
void add_evidence_options(CLI::App& app, const std::string& theme, OutputOptions& output,
                          const std::string& anonymous);

/// What is to be written, the document of -o or stdout last. `preset` replaces that one's format
/// where it is not empty. Throws Error (usage): for an ending of a format that there is not, for two
/// documents on stdout or in one file, for a preset's page in a file that is no Markdown, and for charts
/// where nothing can show them.
[[nodiscard]] std::vector<OutputDocument> output_documents(const OutputOptions& output,
                                                           std::string_view preset = {});

/// Throws Error (usage) where one of the files cannot be written, and (not_here) where a picture cannot be
/// made, or the tool that writes a preset's page is missing: before anything is read or measured.
void require_writable_documents(const std::vector<OutputDocument>& documents, bool overwrite);

/// Both: what is to be written, where it can be.
[[nodiscard]] std::vector<OutputDocument> writable_documents(const OutputOptions& output,
                                                             std::string_view preset = {});

/// The file that the run's record is written to; empty: none.
[[nodiscard]] std::string record_file(const std::vector<OutputDocument>& documents);

/// Whether two paths lead to one file, also where there is none yet.
/// Whether the ending of the path names a format, of whatever command.
[[nodiscard]] bool names_format(const std::string& path);
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

/// Whether the name of a file ends as a format's do, or is "-".
[[nodiscard]] bool names_output(const std::string& text);

/// Whether stdout gets this format; and whether it gets text for a person.
[[nodiscard]] bool prints(const std::vector<OutputDocument>& documents, std::string_view format);
[[nodiscard]] bool prints_text(const std::vector<OutputDocument>& documents);

/// How wide text is: as stdout, or as a page where it goes to a file. Without color.
[[nodiscard]] analysis::TextOptions page_options(const OutputDocument& document);

/// Where stdout gets nothing, what stderr says instead: "wrote run.json; AllReduce float FAULT". Empty where
/// stdout has a document. `outcome`: empty for none.
[[nodiscard]] std::vector<std::string> written_notes(const std::vector<OutputDocument>& documents,
                                                     const std::string& outcome);

/// Writes every document that has a path; the text for stdout is returned. `write` makes one.
[[nodiscard]] std::string write_documents(const std::vector<OutputDocument>& documents,
                                          const std::function<std::string(const OutputDocument&)>& write);

[[nodiscard]] bool is_picture(const OutputDocument& document);

/// The chart that the document names, as SVG; of several the first. Throws Error (usage) where there is no
/// such chart.
[[nodiscard]] std::string chart_picture(const std::vector<Chart>& charts, const OutputDocument& document);

/// The charts that a text ends with, in `columns`; empty where none were asked for. Where there is no such
/// chart, a line that says so: the tables above it must not be lost, which may have taken hours. In ASCII
/// where the locale wants that of stdout.
[[nodiscard]] std::string text_plots(const std::vector<Chart>& charts, const OutputDocument& document,
                                     int columns);

}  // namespace collbench::program
