#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace collbench {

/// An open file descriptor; closing may be asked for early so that its error is seen.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor();
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool close();
  /// Gives it up without closing it.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// The error that `path` cannot be `action` (a participle), with the system's reason for `errno_value`.
[[nodiscard]] Error file_error(const std::filesystem::path& path, std::string_view action, int errno_value);

/// Writes all of `text`; in one go where the system takes it. Throws file_error.
void write_all(int fd, std::string_view text, const std::filesystem::path& path);

/// Until it is on the disk; where there is none (a pipe) that is nothing to do. Throws file_error.
void sync_file(int fd, const std::filesystem::path& path);

/// A file that only grows. What was appended survives the process; what was synced survives the host. All
/// calls throw Error (usage) with the system's reason.
class AppendFile {
 public:
  /// Opens or creates `path`, cut to its first `keep_bytes` bytes. A symbolic link is not followed.
  AppendFile(std::filesystem::path path, std::uintmax_t keep_bytes);

  /// In one write where the system takes it: a reader sees all of it or nothing.
  void append(std::string_view text) { write_all(file_.get(), text, path_); }
  void sync() { sync_file(file_.get(), path_); }
  /// Throws where `path` is no longer this file: what is appended then would be found nowhere.
  void require_in_place() const;

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
};

/// Throws Error (usage) when `path` cannot become a file here: its folder is missing or not writable, or it
/// exists already and `overwrite` is false. `option` is named in the message. Leaves nothing behind.
void require_writable(const std::filesystem::path& path, bool overwrite, std::string_view option);

/// Writes `text` to a new file beside `path`, of a name that cannot be foreseen, syncs it and renames it over
/// `path`: a reader, or a crash, sees the old file or the new one and never a part. Throws Error (usage) with
/// the system's reason; a file that could only not be renamed is left as PATH.kept, which the error names.
void write_file_by_rename(const std::filesystem::path& path, std::string_view text);

/// No file of collbench's, and no log that is read as a whole, is larger.
inline constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30U;

[[nodiscard]] Error too_large(std::string_view file, std::size_t max_bytes = kMaxFileBytes);

/// A descriptor of a file, or of what is read like one. Throws Error (usage) naming the path and the system's
/// reason, and for a pipe with a name through which nothing comes in `patience_seconds`.
[[nodiscard]] int open_for_reading(const std::filesystem::path& path, int patience_seconds = 10);

/// The entries of a folder, by name. `failure` where it cannot be read, or not to its end: then those that
/// were.
[[nodiscard]] std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder,
                                                            std::error_code& failure);

/// The first line of a file such as those of /proc; empty where it cannot be read.
[[nodiscard]] std::string first_line(const std::filesystem::path& path);

/// The whole file. Throws Error (usage) naming the path and the system's reason; for a device (/dev/zero),
/// and for one of more than `max_bytes` before it is read.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::size_t max_bytes = kMaxFileBytes);

/// A text as a file in memory, read from its start, which children of this process find under path().
class MemoryFile {
 public:
  /// Throws file_error where the system has no memory for it. `label`: of /proc.
  MemoryFile(const char* label, std::string_view text);
  [[nodiscard]] int descriptor() const { return file_.get(); }
  [[nodiscard]] std::string path() const;

 private:
  FileDescriptor file_;
};

/// A folder of its own below TMPDIR (or /tmp) that goes with its contents.
class ScratchFolder {
 public:
  /// Throws Error (usage) where none can be made.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace collbench
