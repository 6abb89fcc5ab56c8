#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/output_lock.hpp"
#include "base/record/measurement.hpp"
#include "base/record/run.hpp"
#include "collectives/engine/measurement_loop.hpp"
#include "launch/agreement.hpp"
#include "src/run/options.hpp"

// The files that a run writes on rank 0.

namespace collbench::program {

/// A run as one document: a preset's page, text as wide as stdout or a page, … `wanted` says what else is
/// shown; its width and color are not looked at.
[[nodiscard]] std::string run_document(const Run& run, const OutputDocument& document,
                                       const Lab01Request& request, When color,
                                       const analysis::TextOptions& wanted = {});

/// What the end of a measurement adds: as run_document, but text on stdout, where its header stands already,
/// goes on, as `text` has it.
[[nodiscard]] std::string last_document(const Run& run, const OutputDocument& document,
                                        const RunOptions& options, const analysis::TextOptions& text);

/// A file that a run rewrites, as it is now.
[[nodiscard]] std::string rewritten(const Run& run, const OutputDocument& document);

/// An archive's files of --with may be large, and the other ranks wait while it is made.
enum class WithOthers { no, yes };

/// The record, the CSV and the archive that a run rewrites again and again, on rank 0. A disk that fills up
/// in the middle must not end a measurement that other ranks are in: the first failure of each is kept, and
/// reported at the end.
class RecordFiles {
 public:
  /// Throws Error (usage) when a file that was asked for cannot be written, or another run writes it, before
  /// anything is measured. Until its end, no other run writes one of them.
  RecordFiles(launch::OnRoot root, const RunOptions& options);

  void write(const Run& run, WithOthers others);
  [[nodiscard]] std::vector<Error> failures() const;
  [[nodiscard]] bool is_any() const { return !files_.empty(); }

  /// Whether the document is one of these, and not one that is written once, at the end.
  [[nodiscard]] static bool rewrites(const OutputDocument& document);

 private:
  struct Rewritten {
    OutputDocument document;
    std::optional<Error> failure;
  };

  std::vector<OutputLock> locks_;
  std::vector<Rewritten> files_;
};

/// Where the stream is written: a user's own link to one that is resumed is followed, once.
[[nodiscard]] std::filesystem::path locked_stream(const RunOptions& options);

/// A file on rank 0 that grows while ranks measure, and is handed to the system each time, so that a killed
/// run keeps it. A disk that fills up in the middle must not end a measurement that other ranks are in: the
/// first failure is kept, reported at the end, and ends the writing, not the run.
class GrowingFile {
 public:
  /// Goes on behind its first `keep_bytes`. Throws Error (usage) when it cannot be written.
  GrowingFile(const std::filesystem::path& path, std::uintmax_t keep_bytes) : file_(path, keep_bytes) {}

  void append(std::string_view text);
  /// To the disk; also sees whether the file is still where it was.
  void sync();
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  AppendFile file_;
  std::optional<Error> failure_;
  bool is_torn_ = false;  ///< what follows would stand behind a part of a line
};

/// The stream of --stream or --resume on rank 0: every block as soon as it ends.
class StreamFile {
 public:
  /// `run` is what will be measured. Throws Error (usage), before anything is measured, when the file cannot
  /// be written or another run writes it, and for a stream to be resumed that is damaged or of another
  /// measurement.
  StreamFile(launch::OnRoot root, const RunOptions& options, const Run& run);

  /// What the stream held already, by launch.
  [[nodiscard]] const std::vector<LaunchBlocks>& earlier() const { return earlier_; }
  void begin(const Run& run);
  void append(const MeasuredBlock& block);
  /// Of a launch that nothing cut short.
  void end();
  /// None where no stream is asked for.
  [[nodiscard]] std::optional<GrowingFile>& file() { return file_; }
  [[nodiscard]] const std::optional<GrowingFile>& file() const { return file_; }

 private:
  std::vector<LaunchBlocks> earlier_;
  std::optional<OutputLock> lock_;
  std::optional<GrowingFile> file_;
};

/// A block in the file of --samples: every sample of every rank, one line each (docs/formats.md).
[[nodiscard]] std::string sample_lines(const std::vector<RowKey>& rows,
                                       const collectives::BlockSamples& block);

/// All files that a run writes while it measures.
struct RunFiles {
  /// Throws Error before anything is measured where a file, or an archive of this `run`, cannot be made.
  RunFiles(launch::OnRoot root, const RunOptions& options, const Run& run);

  /// After a pass, beside the record: to the disk; also sees whether the files are still where they were.
  void sync();
  /// Of each file its first.
  [[nodiscard]] std::vector<Error> failures() const;
  /// Whether nothing has failed of that file yet.
  [[nodiscard]] bool could_write(const std::string& path) const;
  /// Whether results are anywhere else than on stdout.
  [[nodiscard]] bool keep_results() const { return records.is_any() || stream.file(); }

  RecordFiles records;
  StreamFile stream;
  std::optional<GrowingFile> samples;
};

}  // namespace collbench::program
