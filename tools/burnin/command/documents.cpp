#include "tools/burnin/command/documents.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text_sinks.hpp"
#include "src/cli/output.hpp"
#include "tools/burnin/attribution/burnin_text.hpp"
#include "tools/burnin/report/burnin_report.hpp"

namespace collbench::program {
namespace {

struct DocumentFile {
  std::string option;
  std::string format;
  std::string path;
};

std::vector<DocumentFile> files_of(const BurninOptions& options) {
  std::vector<DocumentFile> files;
  if (!options.html_path.empty()) files.push_back({"--html", "html", options.html_path});
  if (!options.csv_path.empty()) files.push_back({"--csv", "csv", options.csv_path});
  if (!options.picture_path.empty()) files.push_back({"--plot-file", "svg", options.picture_path});
  return files;
}

}  // namespace

const std::vector<std::string>& burnin_formats() {
  static const std::vector<std::string> formats{"text",  "json", "csv",      "matrix",   "svg",  "html",
                                                "junit", "prom", "hostfile", "nodelist", "drain"};
  return formats;
}

std::string burnin_document(const analysis::BurninRecord& record, const analysis::Attribution& found,
                            const std::string& format, int columns) {
  if (format == "json") return json_text(analysis::burnin_json(record));
  if (format == "csv") return page_text(analysis::burnin_csv(record));
  if (format == "matrix") return page_text(analysis::burnin_matrix(record));
  if (format == "svg") return page_text(analysis::burnin_svg(record));
  if (format == "html") return page_text(analysis::burnin_html(record));
  if (format == "junit") return page_text(analysis::burnin_junit(record));
  if (format == "prom") return page_text(analysis::burnin_prometheus(record));
  if (format == "hostfile") return page_text(analysis::good_nodes(record, "\n"));
  if (format == "nodelist") return page_text(analysis::good_nodes(record, ","));
  if (format == "drain") return page_text(analysis::drain_lines(record));
  return text(analysis::document_of(record, found), {.columns = columns});
}

void require_writable_documents(const BurninOptions& options) {
  const std::vector<DocumentFile> files = files_of(options);
  for (auto file = files.begin(); file != files.end(); ++file) {
    if (file->path == "-") {
      throw usage_error(file->option, "stdout has what --format asks for",
                        fmt::format("name a file, or give --format {}", file->format));
    }
    if (file->option == "--plot-file" && !file->path.ends_with(".svg")) {
      throw usage_error("--plot-file", fmt::format("the map is SVG, and {} is another ending", file->path),
                        "name a file that ends in .svg; rsvg-convert makes other pictures of it");
    }
    require_writable(file->path, options.overwrite || options.resume, file->option);
    const auto same = [&file](const std::string& path) {
      return !path.empty() && same_file(path, file->path);
    };
    const bool is_taken =
        same(options.record_path) || same(options.from_path) ||
        std::any_of(files.begin(), file, [&](const auto& other) { return same(other.path); });
    if (is_taken)
      throw usage_error(file->option, "it is the same file as another one's", "give each its own file");
  }
}

void write_documents(const BurninOptions& options, const analysis::BurninRecord& record) {
  const std::vector<DocumentFile> files = files_of(options);
  if (files.empty()) return;
  const analysis::Attribution found = analysis::attribute(record);
  for (const DocumentFile& file : files)
    write_file_by_rename(file.path, burnin_document(record, found, file.format, 120));
}

}  // namespace collbench::program
