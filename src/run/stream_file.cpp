#include "src/run/stream_file.hpp"

#include <utility>

#include "base/files.hpp"

namespace collbench::program {
namespace {

/// Calls `write`; keeps the first error in `failure`.
template <class Write>
void try_to(std::optional<Error>& failure, const Write& write) {
  try {
    write();
  } catch (const Error& error) {
    if (!failure) failure = error;
  }
}

/// A run that was killed while it looked at the machine.
bool ends_before_its_first_line(const std::string& text) {
  return text.empty() || (looks_like_stream(text) && text.find('\n') == std::string::npos);
}

}  // namespace

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
    require_writable(options.stream_path, options.overwrite, "--stream");
  }
  file_.emplace(options.stream_path, keep_bytes);
}

void StreamFile::begin(const Run& run) {
  if (!file_) return;
  try_to(failure_, [&] {
    file_->append(launch_line(run));
    file_->sync();
  });
}

void StreamFile::append(const MeasuredBlock& block) {
  // After a failure, what follows would stand behind a torn line.
  if (file_ && !failure_) try_to(failure_, [&] { file_->append(block_line(block)); });
}

void StreamFile::sync() {
  if (file_ && !failure_) try_to(failure_, [&] { file_->sync(); });
}

}  // namespace collbench::program
