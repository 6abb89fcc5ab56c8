#pragma once
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/record/run.hpp"
#include "launch/agreement.hpp"
#include "src/options/run_options.hpp"

namespace collbench::program {

/// The files that a run writes on rank 0. A disk that fills up in the middle must not end a measurement that
/// other ranks are in: the first failure is kept, and told at the end.
class RecordFiles {
 public:
  /// Throws Error (usage) when a file that was asked for cannot be written, before anything is measured.
  RecordFiles(launch::OnRoot root, const RunOptions& options);

  void write(const Run& run);
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  std::string record_path_;
  std::string csv_path_;
  std::optional<Error> failure_;
};

}  // namespace collbench::program
