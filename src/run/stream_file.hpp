#pragma once
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/record/run_stream.hpp"
#include "launch/agreement.hpp"
#include "src/options/run_options.hpp"

namespace collbench::program {

/// The stream of --stream or --resume on rank 0: every block as soon as it ends. A disk that fills up in the
/// middle must not end a measurement that other ranks are in: the first failure is kept, and told at the end.
class StreamFile {
 public:
  /// `run` is what will be measured. Throws Error (usage), before anything is measured, when the file cannot
  /// be written, and for a stream to be resumed that is damaged or of another measurement.
  StreamFile(launch::OnRoot root, const RunOptions& options, const Run& run);

  /// What the stream held already, by launch.
  [[nodiscard]] const std::vector<LaunchBlocks>& earlier() const { return earlier_; }

  void begin(const Run& run);
  void append(const MeasuredBlock& block);
  void sync();
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  std::vector<LaunchBlocks> earlier_;
  std::optional<AppendFile> file_;
  std::optional<Error> failure_;
};

}  // namespace collbench::program
