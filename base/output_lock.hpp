#pragma once
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/files.hpp"

namespace collbench {

/// The file of a lock: ".run.json.lock" for "run.json".
[[nodiscard]] std::filesystem::path lock_beside(const std::filesystem::path& path);

/// That nobody else writes a file that a run rewrites again and again: a lock on a file beside it
/// (".run.json.lock"), which the system takes away when its owner ends, however that is (flock(2); on NFS, of
/// all hosts). The file goes with the lock; one that a killed run left locks nothing.
class OutputLock {
 public:
  /// Throws Error (usage) where somebody else has the lock of `path`, saying who, and where its file is none
  /// that this could have made. Where the folder takes no file, or its file system has no locks, there is
  /// none. `option` is named in the message.
  OutputLock(const std::filesystem::path& path, std::string_view option);
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;
  OutputLock(OutputLock&&) = default;
  OutputLock& operator=(OutputLock&&) = delete;
  ~OutputLock();

  /// Removes the file of the lock that this process has of `path`, if any: for an end without destructors.
  static void remove_own(const std::filesystem::path& path);

 private:
  std::filesystem::path lock_path_;
  std::unique_ptr<FileDescriptor> file_;
};

}  // namespace collbench
