#pragma once
#include <filesystem>
#include <string_view>

#include "base/error.hpp"

namespace collbench {

/// An open file descriptor; closing may be asked for early so that its error is seen.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  FileDescriptor(FileDescriptor&&) = delete;
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor();
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool close();

 private:
  int fd_;
};

/// The error that `path` cannot be `action` (a participle), with the system's reason for `errno_value`.
[[nodiscard]] Error file_error(const std::filesystem::path& path, std::string_view action, int errno_value);

/// Writes all of `text`; in one go where the system takes it. Throws file_error.
void write_all(int fd, std::string_view text, const std::filesystem::path& path);

/// Until it is on the disk; where there is none (a pipe) that is nothing to do. Throws file_error.
void sync_file(int fd, const std::filesystem::path& path);

}  // namespace collbench
