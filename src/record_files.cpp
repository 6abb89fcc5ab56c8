#include "src/record_files.hpp"

#include <filesystem>

#include "analysis/report_csv.hpp"
#include "base/atomic_file.hpp"
#include "base/record/run_json.hpp"

namespace collbench {

RecordFiles::RecordFiles(const RunOptions& options)
    : record_path_(options.record_path), csv_path_(options.csv_path) {
  if (!record_path_.empty()) require_writable(record_path_, options.overwrite, "-J");
  if (!csv_path_.empty()) require_writable(csv_path_, options.overwrite, "--csv");
  if (!csv_path_.empty() &&
      std::filesystem::weakly_canonical(csv_path_) == std::filesystem::weakly_canonical(record_path_)) {
    throw usage_error("--csv", "it is the same file as -J", "give each a file of its own");
  }
}

void RecordFiles::write(const Run& run) {
  try {
    if (!record_path_.empty()) write_file_by_rename(record_path_, to_json_text(run));
    if (!csv_path_.empty()) write_file_by_rename(csv_path_, report_csv(run));
  } catch (const Error& error) {
    if (!failure_) failure_ = error;
  }
}

}  // namespace collbench
