#include "base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/units.hpp"

namespace collbench {

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

bool FileDescriptor::close() {
  const int fd = fd_;
  fd_ = -1;
  return ::close(fd) == 0;
}

Error file_error(const std::filesystem::path& path, std::string_view action, int errno_value) {
  return usage_error(path.string(), fmt::format("cannot be {}: {}", action, std::strerror(errno_value)),
                     "give another path or fix the permissions");
}

void write_all(int fd, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw file_error(path, "written", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void sync_file(int fd, const std::filesystem::path& path) {
  if (::fsync(fd) != 0 && errno != EINVAL) throw file_error(path, "written", errno);
}

AppendFile::AppendFile(std::filesystem::path path, std::uintmax_t keep_bytes)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (file_.get() < 0) throw file_error(path_, "written", errno);
  struct stat is{};
  if (::fstat(file_.get(), &is) != 0) throw file_error(path_, "looked at", errno);
  const auto bytes = static_cast<off_t>(keep_bytes);
  if (is.st_size != bytes && ::ftruncate(file_.get(), bytes) != 0) throw file_error(path_, "cut", errno);
}

void require_writable(const std::filesystem::path& path, bool overwrite, std::string_view option) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw usage_error(std::string(option), fmt::format("{} is a folder", path.string()), "name a file in it");
  }
  // What is renamed over is gone: a device, a pipe, or what a link leads to.
  const auto kind = std::filesystem::symlink_status(path, ignored).type();
  if (overwrite && kind != std::filesystem::file_type::regular &&
      kind != std::filesystem::file_type::not_found) {
    throw usage_error(std::string(option), fmt::format("{} is not a regular file", path.string()),
                      "name an ordinary file");
  }
  if (!overwrite && std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
    throw usage_error(std::string(option), fmt::format("{} already exists", path.string()),
                      "name another file, or add --overwrite to replace it");
  }
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw usage_error(std::string(option), fmt::format("the folder {} does not exist", folder.string()),
                      "create it, or name a file elsewhere");
  }
  // access(2) answers yes to root on a read-only mount or in /proc: only creating a file tells.
  std::string probe = (folder / ".collbench-XXXXXX").string();
  const int fd = ::mkstemp(probe.data());
  if (fd < 0) {
    throw usage_error(std::string(option),
                      fmt::format("cannot write in {}: {}", folder.string(), std::strerror(errno)),
                      "give another path or fix the permissions");
  }
  ::close(fd);
  ::unlink(probe.c_str());
}

void write_file_by_rename(const std::filesystem::path& path, std::string_view text) {
  const std::string temporary = fmt::format("{}.{}.tmp", path.string(), ::getpid());
  try {
    FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file.get() < 0) throw file_error(path, "written", errno);
    write_all(file.get(), text, path);
    sync_file(file.get(), path);
    if (!file.close()) throw file_error(path, "written", errno);
    std::error_code failure;
    std::filesystem::rename(temporary, path, failure);
    if (failure) throw file_error(path, "written", failure.value());
  } catch (const Error&) {
    ::unlink(temporary.c_str());
    throw;
  }
}

std::string first_line(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

Error too_large(std::string_view file) {
  return usage_error(std::string(file), fmt::format("is larger than {}", format_bytes(kMaxFileBytes)),
                     "check that it is the right file");
}

std::string read_file(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about{};
  if (file.get() < 0 || ::fstat(file.get(), &about) != 0) throw file_error(path, "read", errno);
  if (S_ISREG(about.st_mode) && std::cmp_greater(about.st_size, kMaxFileBytes))
    throw too_large(path.string());
  if (S_ISBLK(about.st_mode) || (S_ISCHR(about.st_mode) && ::isatty(file.get()) == 0)) {
    throw usage_error(path.string(), "is a device, not a file", "give a file, or - for stdin");
  }
  std::string text;
  std::array<char, 65536> chunk{};
  while (true) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw file_error(path, "read", errno);
    if (got == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (text.size() > kMaxFileBytes) throw too_large(path.string());
  }
}

}  // namespace collbench
