#pragma once
#include <filesystem>
#include <string>

namespace collbench {

/// A folder of its own below TMPDIR (or /tmp) that goes with its contents.
class ScratchFolder {
 public:
  /// Throws Error (usage) where none can be made.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// The path of a file in it.
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace collbench
