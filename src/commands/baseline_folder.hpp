#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/history/history_report.hpp"

// The folder of collbench baseline: FOLDER/KIND OF MACHINE/TIME-HOST-DIGITS.json, each a run record as -J
// writes it. No index, no lock: a file appears whole, under a name that only its content has, so writers on
// several hosts (NFS) lose nothing, and git merges two such folders.

namespace collbench::program {

/// Where a record lies, and whether it lay there before.
struct AddedRecord {
  std::filesystem::path path;
  bool is_new = true;
};

/// Adds a record. Throws Error (usage) for a run that was cut short, measured no row, has wrong data or does
/// not say when it was, and for files.
[[nodiscard]] AddedRecord add_to_baseline(const std::filesystem::path& folder, const Run& run,
                                          const std::string& file);

/// The records of one kind of machine, oldest first; the newest `last` (0: all). Hosts: only those that ran
/// on just these (empty: on any). `own_name`: the file's name of the run that is compared, which begins
/// with its time: only other files of that time or before. Empty where there is none.
/// Throws Error (usage) for a file that is no record.
[[nodiscard]] std::vector<Run> baseline_runs(const std::filesystem::path& folder, const std::string& kind,
                                             const std::vector<std::string>& hosts, std::size_t last,
                                             const std::string& own_name);

/// Throws Error (usage) unless `folder` is one: a name that was mistyped, or a disk that is not mounted, is
/// no machine without a history.
void require_baseline(const std::filesystem::path& folder);

/// All of it by kind and hosts, in alphabetical order. Throws Error (usage) for a folder that is none or
/// holds no record.
[[nodiscard]] std::vector<analysis::MachineHistory> baseline_histories(const std::filesystem::path& folder);

}  // namespace collbench::program
