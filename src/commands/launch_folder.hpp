#pragma once
#include <filesystem>
#include <vector>

#include "base/record/run.hpp"

namespace collbench::program {

/// Where the records of single launches are: beside the record of all of them, or in a temporary folder that
/// is removed at the end.
class LaunchFolder {
 public:
  /// Throws Error (usage) when the folder cannot be made, is there and may not be replaced, or is a link or
  /// one that others can write in.
  LaunchFolder(const std::string& record_path, bool resume, bool overwrite);
  LaunchFolder(const LaunchFolder&) = delete;
  LaunchFolder& operator=(const LaunchFolder&) = delete;
  LaunchFolder(LaunchFolder&&) = delete;
  LaunchFolder& operator=(LaunchFolder&&) = delete;
  ~LaunchFolder();

  /// What an earlier `repeat` measured to the end, in order. Throws Error (usage) for records that cannot be
  /// read, or are not of one measurement.
  [[nodiscard]] std::vector<Run> complete_launches() const;

  /// Of launch `number`, counted from 1.
  [[nodiscard]] std::filesystem::path file(std::size_t number) const;

  /// The folder, with what is in it, stays.
  const std::filesystem::path& keep();

 private:
  std::filesystem::path path_;
  bool is_temporary_;
};

}  // namespace collbench::program
