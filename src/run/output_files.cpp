#include "src/run/output_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "analysis/report/run_charts.hpp"
#include "base/record/run_stream.hpp"
#include "src/cli/output.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/run/evidence.hpp"
#include "src/run/lab01_tool.hpp"
#include "src/run/outcome.hpp"

namespace collbench::program {
namespace {

void require_different_files(const std::string& option, const std::string& path,
                             const std::string& other_option, const std::string& other_path) {
  if (path.empty() || other_path.empty()) return;
  if (!same_file(path, other_path)) return;
  throw usage_error(option, "it is the same file as " + other_option, "give each its own file");
}

/// Calls `write`; keeps the first error in `failure`. Whether there was none now.
template <class Write>
bool keep_first_error(std::optional<Error>& failure, const Write& write) {
  try {
    write();
    return true;
  } catch (const Error& error) {
    if (!failure) failure = error;
    return false;
  }
}

std::string run_plots(const Run& run, const OutputDocument& document, int columns) {
  return document.with_plots ? text_plots(analysis::all_charts(run), document, columns) : "";
}

/// A run that was killed while it gathered the topology.
bool ends_before_its_first_line(const std::string& text) {
  return text.empty() || (looks_like_stream(text) && text.find('\n') == std::string::npos);
}

}  // namespace

std::string run_document(const Run& run, const OutputDocument& document, const Lab01Request& request,
                         When color, const analysis::TextOptions& wanted) {
  if (document.format == kLab01Page) return page_of_lab01(run, request, "md");
  if (document.format == "html" && request.asked) return page_of_lab01(run, request, "html");
  if (is_picture(document)) return chart_picture(analysis::all_charts(run), document);
  analysis::TextOptions options = document.path.empty()
                                      ? text_options(color, false)
                                      : analysis::TextOptions{.color = color == When::always};
  options.percentiles = wanted.percentiles;
  options.criteria = wanted.criteria;
  return analysis::report(run, document.format, options) + run_plots(run, document, options.columns);
}

std::string last_document(const Run& run, const OutputDocument& document, const RunOptions& options,
                          const analysis::TextOptions& text) {
  if (document.path.empty() && document.format == "text") {
    return analysis::report_text_results(run, text) + run_plots(run, document, text.columns) +
           (options.quiet ? ""
                          : next_step_text(next_step(run, record_file(options.documents)), text.columns));
  }
  return run_document(run, document, options.lab01, When::never,
                      {.percentiles = options.percentiles, .criteria = options.criteria.criteria});
}

std::string rewritten(const Run& run, const OutputDocument& document) {
  if (document.format != kEvidence) return analysis::report(run, document.format);
  return evidence_archive(run, document.path, document.others, HostAliases(run, document.is_anonymous));
}

RecordFiles::RecordFiles(launch::OnRoot /*root*/, const RunOptions& options) {
  const std::string stream = options.resume ? "--resume" : "--stream";
  for (const OutputDocument& each : options.documents) {
    require_different_files("--samples", options.samples_path, each.option, each.path);
    require_different_files(stream, options.stream_path, each.option, each.path);
  }
  require_different_files("--samples", options.samples_path, stream, options.stream_path);
  for (const OutputDocument& each : options.documents) {
    if (!each.path.empty()) locks_.emplace_back(each.path, each.option);
    if (rewrites(each)) files_.push_back({each, std::nullopt});
  }
  require_writable_documents(options.documents, options.output.overwrite);
  if (options.samples_path.empty()) return;
  locks_.emplace_back(options.samples_path, "--samples");
  require_writable(options.samples_path, options.output.overwrite, "--samples");
}

bool RecordFiles::rewrites(const OutputDocument& document) {
  return !document.path.empty() &&
         (document.format == "json" || document.format == "csv" || document.format == kEvidence);
}

void RecordFiles::write(const Run& run, WithOthers others) {
  for (Rewritten& each : files_) {
    OutputDocument document = each.document;
    if (others == WithOthers::no) document.others.clear();
    const auto write_it = [&] { write_file_by_rename(document.path, rewritten(run, document)); };
    if (keep_first_error(each.failure, write_it)) {
      each.failure.reset();  // of an earlier state of the run
    } else if (!document.others.empty()) {
      document.others.clear();  // what was measured, though another file is gone
      keep_first_error(each.failure, write_it);
    }
  }
}

std::vector<Error> RecordFiles::failures() const {
  std::vector<Error> all;
  for (const Rewritten& each : files_) {
    if (each.failure) all.push_back(*each.failure);
  }
  return all;
}

std::filesystem::path locked_stream(const RunOptions& options) {
  std::error_code not_there;
  return options.resume ? std::filesystem::weakly_canonical(options.stream_path, not_there)
                        : std::filesystem::path(options.stream_path);
}

StreamFile::StreamFile(launch::OnRoot /*root*/, const RunOptions& options, const Run& run) {
  if (options.stream_path.empty()) return;
  const std::filesystem::path path = locked_stream(options);
  lock_.emplace(path, options.resume ? "--resume" : "--stream");
  std::uintmax_t keep_bytes = 0;
  if (options.resume) {
    const std::string text = read_file(options.stream_path);
    if (!ends_before_its_first_line(text)) {
      RunStream stream = run_stream_from_text(text, options.stream_path);
      require_same_measurement(stream.launches.front().run, run, options.stream_path + ":1");
      for (StreamedLaunch& launch : stream.launches) earlier_.push_back(std::move(launch.blocks));
      keep_bytes = stream.whole_bytes;
    }
  } else {
    require_writable(options.stream_path, options.output.overwrite, "--stream");
  }
  file_.emplace(path, keep_bytes);
}

void GrowingFile::append(std::string_view text) {
  if (!is_torn_) is_torn_ = !keep_first_error(failure_, [&] { file_.append(text); });
}

void GrowingFile::sync() {
  if (is_torn_) return;
  keep_first_error(failure_, [&] {
    file_.sync();
    file_.require_in_place();
  });
}

void StreamFile::begin(const Run& run) {
  if (!file_) return;
  file_->append(launch_line(run));
  file_->sync();
}

void StreamFile::append(const MeasuredBlock& block) {
  if (file_) file_->append(block_line(block));
}

void StreamFile::end() {
  if (file_) file_->append(end_line());
}

std::string sample_lines(const std::vector<RowKey>& rows, const collectives::BlockSamples& block) {
  const RowKey& key = rows[block.row];
  const std::string start =
      fmt::format("{},{},{},{}", block.row, operation(key.operation).name, key.size_bytes, block.pass);
  std::string text;
  for (std::size_t rank = 0; rank < block.seconds_by_rank.size(); ++rank) {
    std::uint64_t left = block.iterations;
    std::size_t sample = 0;
    for (const double seconds : block.seconds_by_rank[rank]) {
      const std::uint64_t iterations = std::min(left, block.iterations_per_sample);
      text += fmt::format("{},{},{},{},{}\n", start, rank, sample++, iterations, seconds);
      left -= iterations;
    }
  }
  return text;
}

RunFiles::RunFiles(launch::OnRoot root, const RunOptions& options, const Run& run)
    : records(root, options), stream(root, options, run) {
  for (const OutputDocument& each : options.documents)
    if (each.format == kEvidence) static_cast<void>(rewritten(run, each));
  if (options.samples_path.empty()) return;
  samples.emplace(options.samples_path, 0);
  samples->append("row,operation,size_bytes,pass,rank,sample,iterations,seconds\n");
}

void RunFiles::sync() {
  for (std::optional<GrowingFile>* const each : {&stream.file(), &samples})
    if (*each) (*each)->sync();
}

bool RunFiles::could_write(const std::string& path) const {
  const std::vector<Error> all = failures();
  return std::ranges::none_of(all, [&path](const Error& each) { return each.where() == path; });
}

std::vector<Error> RunFiles::failures() const {
  std::vector<Error> all = records.failures();
  for (const std::optional<GrowingFile>* const each : {&stream.file(), &samples})
    if (*each && (*each)->failure()) all.push_back(*(*each)->failure());
  return all;
}

}  // namespace collbench::program
