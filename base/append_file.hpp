#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace collbench {

/// A file that only grows. What was appended survives the process; what was synced survives the host. All
/// calls throw Error (usage) with the system's reason.
class AppendFile {
 public:
  /// Opens or creates `path`, cut to its first `keep_bytes` bytes.
  AppendFile(std::filesystem::path path, std::uintmax_t keep_bytes);

  /// In one write where the system takes it: a reader sees all of it or nothing.
  void append(std::string_view text) { write_all(file_.get(), text, path_); }
  void sync() { sync_file(file_.get(), path_); }

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
};

}  // namespace collbench
