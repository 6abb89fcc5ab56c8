#include "src/run/record_files.hpp"

#include <filesystem>

#include "analysis/report/report.hpp"
#include "base/files.hpp"
#include "base/record/run.hpp"

namespace collbench::program {
namespace {

void require_another_file(const std::string& option, const std::string& path, const std::string& other_option,
                          const std::string& other_path) {
  if (path.empty() || other_path.empty()) return;
  if (std::filesystem::weakly_canonical(path) != std::filesystem::weakly_canonical(other_path)) return;
  throw usage_error(option, "it is the same file as " + other_option, "give each a file of its own");
}

}  // namespace

RecordFiles::RecordFiles(launch::OnRoot /*root*/, const RunOptions& options)
    : record_path_(options.record_path), csv_path_(options.csv_path) {
  if (!record_path_.empty()) require_writable(record_path_, options.overwrite, "-J");
  if (!csv_path_.empty()) require_writable(csv_path_, options.overwrite, "--csv");
  if (!options.samples_path.empty()) require_writable(options.samples_path, options.overwrite, "--samples");
  require_another_file("--csv", csv_path_, "-J", record_path_);
  require_another_file("--samples", options.samples_path, "-J", record_path_);
  require_another_file("--samples", options.samples_path, "--csv", csv_path_);
}

void RecordFiles::write(const Run& run) {
  try {
    if (!record_path_.empty()) write_file_by_rename(record_path_, to_json_text(run));
    if (!csv_path_.empty()) write_file_by_rename(csv_path_, analysis::report_csv(run));
  } catch (const Error& error) {
    if (!failure_) failure_ = error;
  }
}

}  // namespace collbench::program
