#include "src/run/output_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "analysis/report/report.hpp"
#include "src/cli/standard_streams.hpp"
#include "src/run/lab01.hpp"

namespace collbench::program {
namespace {

void require_different_files(const std::string& option, const std::string& path,
                             const std::string& other_option, const std::string& other_path) {
  if (path.empty() || other_path.empty()) return;
  if (!same_file(path, other_path)) return;
  throw usage_error(option, "it is the same file as " + other_option, "give each its own file");
}

/// Calls `write`; keeps the first error in `failure`.
template <class Write>
void keep_first_error(std::optional<Error>& failure, const Write& write) {
  try {
    write();
  } catch (const Error& error) {
    if (!failure) failure = error;
  }
}

/// A run that was killed while it gathered the topology.
bool ends_before_its_first_line(const std::string& text) {
  return text.empty() || (looks_like_stream(text) && text.find('\n') == std::string::npos);
}

}  // namespace

std::string run_document(const Run& run, const OutputDocument& document, const Lab01Request& request,
                         When color) {
  if (document.format == kLab01Page) return lab01(run, request);
  if (document.path.empty()) return analysis::report(run, document.format, text_options(color, false));
  return analysis::report(run, document.format, {.colour = color == When::always});
}

RecordFiles::RecordFiles(launch::OnRoot /*root*/, const RunOptions& options) : documents_(options.documents) {
  require_writable_documents(documents_, options.output.overwrite);
  std::erase_if(documents_, [](const OutputDocument& each) { return !rewrites(each); });
  if (options.samples_path.empty()) return;
  require_writable(options.samples_path, options.output.overwrite, "--samples");
  for (const OutputDocument& each : options.documents) {
    require_different_files("--samples", options.samples_path, each.option, each.path);
  }
}

bool RecordFiles::rewrites(const OutputDocument& document) {
  return !document.path.empty() && (document.format == "json" || document.format == "csv");
}

void RecordFiles::write(const Run& run) {
  keep_first_error(failure_, [&] {
    for (const OutputDocument& each : documents_) {
      write_file_by_rename(each.path, analysis::report(run, each.format));
    }
  });
}

StreamFile::StreamFile(launch::OnRoot /*root*/, const RunOptions& options, const Run& run) {
  if (options.stream_path.empty()) return;
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
  file_.emplace(options.stream_path, keep_bytes);
}

void StreamFile::begin(const Run& run) {
  if (!file_) return;
  keep_first_error(failure_, [&] {
    file_->append(launch_line(run));
    file_->sync();
  });
}

void StreamFile::append(const MeasuredBlock& block) {
  // After a failure, what follows would stand behind a torn line.
  if (file_ && !failure_) keep_first_error(failure_, [&] { file_->append(block_line(block)); });
}

void StreamFile::sync() {
  if (file_ && !failure_) keep_first_error(failure_, [&] { file_->sync(); });
}

SampleFile::SampleFile(launch::OnRoot /*root*/, const std::string& path) : path_(path) {
  file_.reset(std::fopen(path.c_str(), "w"));
  if (!file_) throw usage_error("--samples", path + ": " + std::strerror(errno), "give another file");
  put("row,operation,size_bytes,pass,rank,sample,iterations,seconds\n");
}

void SampleFile::write(const std::vector<RowKey>& rows, const collectives::BlockSamples& block) {
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
  put(text);
}

void SampleFile::put(const std::string& text) {
  if (failure_) return;
  const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
  if (written && std::fflush(file_.get()) == 0) return;
  failure_ = usage_error("--samples", path_ + ": " + std::strerror(errno),
                         "the file has the blocks before this one; free space or write elsewhere");
}

}  // namespace collbench::program
