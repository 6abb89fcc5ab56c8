#pragma once
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/record/measurement.hpp"
#include "base/record/run.hpp"
#include "base/record/run_stream.hpp"
#include "collectives/engine/measurement_loop.hpp"
#include "launch/agreement.hpp"
#include "src/run/options.hpp"

// The files that a run writes on rank 0.

namespace collbench::program {

/// A run as one document: a preset's page, text as wide as stdout or a page, …
[[nodiscard]] std::string run_document(const Run& run, const OutputDocument& document,
                                       const Lab01Request& request, When color);

/// The record and the CSV that a run rewrites again and again, on rank 0. A disk that fills up in the middle
/// must not end a measurement that other ranks are in: the first failure is kept, and reported at the end.
class RecordFiles {
 public:
  /// Throws Error (usage) when a file that was asked for cannot be written, before anything is measured.
  RecordFiles(launch::OnRoot root, const RunOptions& options);

  void write(const Run& run);
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

  /// Whether the document is one of these, and not one that is written once, at the end.
  [[nodiscard]] static bool rewrites(const OutputDocument& document);

 private:
  std::vector<OutputDocument> documents_;
  std::optional<Error> failure_;
};

/// The stream of --stream or --resume on rank 0: every block as soon as it ends. A disk that fills up in the
/// middle must not end a measurement that other ranks are in: the first failure is kept, and reported at the
/// end.
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

/// The file of --samples, on rank 0: every sample of every rank, one line each (docs/formats.md). It grows
/// block by block and is handed to the system after each, so that a killed run keeps what was measured. The
/// first failure is kept, reported at the end, and ends the writing, not the run.
class SampleFile {
 public:
  /// Begins an empty file. Throws Error (usage) when `path` cannot be written; RecordFiles has seen that it
  /// may be.
  SampleFile(launch::OnRoot root, const std::string& path);

  void write(const std::vector<RowKey>& rows, const collectives::BlockSamples& block);
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void put(const std::string& text);

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::optional<Error> failure_;
};

}  // namespace collbench::program
