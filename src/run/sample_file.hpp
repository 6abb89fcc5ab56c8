#pragma once
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/record/measurement.hpp"
#include "collectives/engine/measurement_loop.hpp"
#include "launch/agreement.hpp"

namespace collbench::program {

/// The file of --samples, on rank 0: every sample of every rank, one line each (docs/formats.md). It grows
/// block by block and is handed to the system after each, so that a killed run keeps what was measured. The
/// first failure is kept, told at the end, and ends the writing, not the run.
class SampleFile {
 public:
  /// Starts a new file. Throws Error (usage) when `path` cannot be written; RecordFiles has seen that it
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
