#include "src/cli/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "analysis/report/run_charts.hpp"
#include "base/document/document.hpp"
#include "base/document/text_layout.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text_input.hpp"
#include "base/text_sinks.hpp"
#include "src/cli/command_description.hpp"
#include "src/cli/options.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/cli/tools.hpp"

namespace collbench::program {

namespace {

bool holds(const std::vector<std::string>& formats, std::string_view format) {
  return std::ranges::find(formats, format) != formats.end();
}

/// The format that a file's ending names; empty for an ending that names none.
std::string format_of_ending(const std::string& path) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kEndings{{{".json", "json"},
                                                                                    {".csv", "csv"},
                                                                                    {".md", "md"},
                                                                                    {".markdown", "md"},
                                                                                    {".txt", "text"},
                                                                                    {".log", "text"},
                                                                                    {".svg", "svg"},
                                                                                    {".html", "html"},
                                                                                    {".htm", "html"},
                                                                                    {".prom", "prom"},
                                                                                    {".xml", "junit"}}};
  const std::string ending = lower(std::filesystem::path(path).extension().string());
  const auto* const found =
      std::ranges::find_if(kEndings, [&](const auto& each) { return each.first == ending; });
  return found == kEndings.end() ? "" : std::string(found->second);
}

/// Of the document that -o writes, or stdout.
std::string main_format(const OutputOptions& output, std::string_view preset) {
  std::string by_ending = format_of_ending(output.path);
  if (!preset.empty()) {
    if (by_ending.empty() || by_ending == "md") return std::string(preset);
    throw usage_error(
        "-o", fmt::format("{} is a page of Markdown, and {} is not", preset, output.path),
        "name a file such as page.md; --html FILE writes the page as HTML, -J FILE and --csv FILE the run");
  }
  if (!output.format.empty()) return output.format;
  const bool is_other_xml = by_ending == "junit" && !holds(output.formats, by_ending);  // hwloc's, NCCL's
  if (by_ending.empty() || is_other_xml) return output.formats.front();
  if (holds(output.formats, by_ending)) return by_ending;
  throw usage_error("-o",
                    fmt::format("this cannot be written as {}, which {} asks for", by_ending, output.path),
                    "choose " + analysis::format_list(output.formats) + ", by the ending or with --format");
}

/// Throws Error (usage) where the ending of --plot-file names another format.
void require_svg(const std::string& path) {
  if (lower(std::filesystem::path(path).extension().string()) == ".svg") return;
  throw usage_error("--plot-file", fmt::format("a chart cannot be written as {}, by its ending", path),
                    "write FILE.svg; browsers show it, and rsvg-convert makes a PNG of it");
}

/// Text that is to be read ends with charts.
void add_plots(const OutputOptions& output, std::vector<OutputDocument>& documents) {
  if (!output.chart.empty() && !output.plots && output.plot_path.empty())
    throw usage_error("--chart", "no chart is asked for", "add --plot or --plot-file FILE.svg");
  if (!output.plots) return;
  if (documents.back().format != "text")
    throw usage_error("--plot", "charts of letters stand below text, and no text is written",
                      "leave --plot out; --plot-file FILE.svg and --html FILE write pictures");
  documents.back().with_plots = true;
  documents.back().chart = output.chart;
}

/// A command may write one of its documents in fewer formats than it has options for.
void require_formats(const std::vector<OutputDocument>& documents, const std::vector<std::string>& formats,
                     std::string_view preset) {
  for (const OutputDocument& each : documents) {
    const bool is_of_any = each.option == "--plot-file" || each.format == kEvidence;
    if (each.format == preset || is_of_any || holds(formats, each.format)) continue;
    throw usage_error(each.option, fmt::format("this cannot be written as {}", each.format),
                      "choose " + analysis::format_list(formats));
  }
}

/// Nothing stands twice in one place.
void require_distinct(const std::vector<OutputDocument>& documents) {
  for (auto each = documents.begin(); each != documents.end(); ++each) {
    for (auto other = documents.begin(); other != each; ++other) {
      if (each->path.empty() != other->path.empty()) continue;
      if (each->path.empty()) {
        throw usage_error(each->option, "stdout already has what " + other->option + " asks for",
                          "name a file for one of them");
      }
      if (same_file(each->path, other->path)) {
        throw usage_error(each->option, "it is the same file as " + other->option, "give each its own file");
      }
    }
  }
}

}  // namespace

bool names_format(const std::string& path) { return !format_of_ending(path).empty(); }

bool same_file(const std::string& a, const std::string& b) {
  const auto whole = [](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path));
  };
  return whole(a) == whole(b);
}

void add_output_options(CLI::App& app, const std::string& theme, OutputOptions& output,
                        const std::vector<std::string>& formats, const std::string& record) {
  output.formats = formats;
  if (formats.size() > 1) {
    CLI::Option* format = add_option(
        app, theme, "--format", "NAME",
        fmt::format("of stdout or -o: {} ({}, or by the ending of -o)", analysis::format_list(formats),
                    formats.front()),
        [&output](const std::string& text) { output.format = parse_name(text, "--format", output.formats); });
    set_choices(*format, output.formats);
  }
  // A run has its own -o: the letter is nccl-tests' for reductions (src/run/options.cpp).
  if (app.get_option_no_throw("-o") == nullptr) {
    add_option(app, theme, "-o,--output", "FILE", "write what would go to stdout to this file; - for stdout",
               into(output.path));
  } else {
    add_option(app, theme, "--output", "FILE",
               "write what would go to stdout to this file; - for stdout; -o FILE is the same where FILE "
               "ends in .txt, .md, .csv, .html, .json, .prom or .xml",
               into(output.path));
  }
  if (holds(formats, "json")) {
    add_option(app, theme, "-J,--record", "FILE", record + "; - for stdout", into(output.record_path));
  }
  if (holds(formats, "csv")) {
    add_option(app, theme, "--csv", "FILE", "one line per row (CSV); - for stdout", into(output.csv_path));
  }
  if (holds(formats, "html")) {
    add_option(app, theme, "--html", "FILE", "a page with charts that needs no network (HTML); - for stdout",
               into(output.html_path));
  }
  if (holds(formats, "nccl-tests-json")) {
    add_option(app, theme, "--nccl-tests-json", "FILE", "what nccl-tests writes with -J; - for stdout",
               into(output.nccl_tests_path));
  }
  add_flag(app, theme, "--overwrite", output.overwrite, "replace files that exist");
}

void add_plot_options(CLI::App& app, const std::string& theme, OutputOptions& output,
                      const std::vector<std::string>& charts) {
  add_flag(app, theme, "--plot", output.plots, "charts of letters below the text");
  add_option(app, theme, "--plot-file", "FILE", "one chart as a picture: FILE.svg", into(output.plot_path));
  add_option(
      app, theme, "--chart", "NAME",
      fmt::format("which chart: {} (that of every operation), or with an operation: {}-all_reduce ({})",
                  fmt::join(charts, ", "), charts.front(), charts.front()),
      [&output, charts](const std::string& text) {
        output.chart = parse_name(text, "--chart", analysis::chart_names(charts));
      });
}

void add_evidence_options(CLI::App& app, const std::string& theme, OutputOptions& output,
                          const std::string& anonymous) {
  add_option(app, theme, "--evidence", "FILE.tar.gz",
             "an archive for a provider's support: ticket, report, record, topology and SHA-256 sums",
             into(output.evidence_path));
  app.add_option("--with", output.with, "what else it holds: logs, folders of doctor save")
      ->group(theme)
      ->option_text("FILE...");
  add_flag(app, theme, "--anonymous", output.is_anonymous, anonymous);
}

std::vector<OutputDocument> output_documents(const OutputOptions& output, std::string_view preset) {
  std::vector<OutputDocument> documents;
  if (output.evidence_path == "-")
    throw usage_error("--evidence", "an archive is not written to stdout", "name a file");
  if (output.evidence_path.empty() && !output.with.empty())
    throw usage_error("--with", "it says what else an archive holds, and none is asked for",
                      "add --evidence FILE.tar.gz");
  const auto add = [&](const std::string& option, const std::string& format, const std::string& path) {
    documents.push_back({option, format, path == "-" ? "" : path});
  };
  if (!output.record_path.empty()) add("-J", "json", output.record_path);
  if (!output.csv_path.empty()) add("--csv", "csv", output.csv_path);
  if (!output.html_path.empty()) add("--html", "html", output.html_path);
  if (!output.nccl_tests_path.empty()) add("--nccl-tests-json", "nccl-tests-json", output.nccl_tests_path);
  if (!output.plot_path.empty()) {
    require_svg(output.plot_path);
    documents.push_back({"--plot-file", "svg", output.plot_path, output.chart});
  }
  // After the record, which is sooner written: a run may be about to end.
  if (!output.evidence_path.empty())
    documents.push_back({.option = "--evidence",
                         .format = std::string(kEvidence),
                         .path = output.evidence_path,
                         .others = output.with,
                         .is_anonymous = output.is_anonymous});
  const bool stdout_is_taken =
      std::ranges::any_of(documents, [](const OutputDocument& each) { return each.path.empty(); });
  const bool asked = !output.path.empty() || !output.format.empty() || !preset.empty();
  if (asked || !stdout_is_taken) {
    const std::string option = !output.path.empty()     ? "-o"
                               : !output.format.empty() ? "--format"
                               : !preset.empty()        ? "--preset"
                                                        : "";
    add(option, main_format(output, preset), output.path);
  }
  require_formats(documents, output.formats, preset);
  require_distinct(documents);
  add_plots(output, documents);
  return documents;
}

void require_writable_documents(const std::vector<OutputDocument>& documents, bool overwrite) {
  for (const OutputDocument& each : documents) {
    if (!each.path.empty()) require_writable(each.path, overwrite, each.option);
    if (each.format == kLab01Page) require_tool("lab01");
  }
}

std::vector<OutputDocument> writable_documents(const OutputOptions& output, std::string_view preset) {
  std::vector<OutputDocument> documents = output_documents(output, preset);
  require_writable_documents(documents, output.overwrite);
  return documents;
}

std::string record_file(const std::vector<OutputDocument>& documents) {
  for (const OutputDocument& each : documents) {
    if (each.format == "json" && !each.path.empty()) return each.path;
  }
  return {};
}

bool names_output(const std::string& text) { return text == "-" || names_format(text); }

bool prints(const std::vector<OutputDocument>& documents, std::string_view format) {
  return std::ranges::any_of(
      documents, [format](const OutputDocument& each) { return each.path.empty() && each.format == format; });
}

bool prints_text(const std::vector<OutputDocument>& documents) { return prints(documents, "text"); }

analysis::TextOptions page_options(const OutputDocument& document) {
  return document.path.empty() ? text_options(When::never, false) : analysis::TextOptions{};
}

std::vector<std::string> written_notes(const std::vector<OutputDocument>& documents,
                                       const std::string& outcome) {
  std::vector<std::string> paths;
  for (const OutputDocument& each : documents) {
    if (each.path.empty()) return {};
    paths.push_back(each.path);
  }
  return {fmt::format("wrote {}{}{}", fmt::join(paths, ", "), outcome.empty() ? "" : "; ", outcome)};
}

std::string write_documents(const std::vector<OutputDocument>& documents,
                            const std::function<std::string(const OutputDocument&)>& write) {
  std::string printed;
  for (const OutputDocument& each : documents) {
    const std::string text = write(each);
    if (each.path.empty()) {
      printed += text;
    } else {
      write_file_by_rename(each.path, each.format == kEvidence ? text : page_text(text));
    }
  }
  return printed;
}

bool is_picture(const OutputDocument& document) { return document.format == "svg"; }

std::string chart_picture(const std::vector<Chart>& charts, const OutputDocument& document) {
  const std::vector<Chart> chosen = analysis::chosen_charts(charts, document.chart);
  if (chosen.empty()) throw usage_error(document.option, "nothing was measured that a chart could show", "");
  return svg_chart(chosen.front());
}

std::string text_plots(const std::vector<Chart>& charts, const OutputDocument& document, int columns) {
  if (!document.with_plots) return {};
  const bool ascii = document.path.empty() && locale_is_ascii();
  const auto letters = ascii ? ChartLetters::ascii : ChartLetters::unicode;
  try {
    std::string text;
    for (const Chart& chart : analysis::chosen_charts(charts, document.chart)) {
      text += "\n" + terminal_chart(chart, columns, letters);
    }
    return text.empty() ? "\n--plot: nothing was measured that it could show\n" : text;
  } catch (const Error& error) {
    return "\n" + wrap(fmt::format("--plot: {}; {}", error.what(), error.next_step()), columns, "", "  ");
  }
}

}  // namespace collbench::program
