#include "base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "base/units.hpp"

namespace collbench {

namespace {

/// A name beside `path` that nobody can know before.
std::string secret_name(const std::filesystem::path& path) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) != sizeof(number)) throw file_error(path, "written", errno);
  return fmt::format("{}.{:016x}.tmp", path.string(), number);
}

/// Until `make`, given a name, succeeds: what waits there under another's name, or leads elsewhere, is never
/// written. Returns what it returned, and the name.
template <class Make>
std::pair<int, std::string> with_secret_name(const std::filesystem::path& path, const Make& make) {
  constexpr int kMaxAttempts = 100;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    std::string name = secret_name(path);
    const int made = make(name);
    if (made >= 0) return {made, std::move(name)};
    if (errno != EEXIST) break;
  }
  throw file_error(path, "written", errno);
}

/// A file for `path` under a name that nobody foresees, with the permissions that any new file gets.
std::pair<int, std::string> named_file_for(const std::filesystem::path& path) {
  return with_secret_name(path, [](const std::string& secret) {
    return ::open(secret.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  });
}

/// The name of a file that holds `text`, beside `path`; empty where the system cannot do it this way. The
/// file gets its name when it is whole (open(2), O_TMPFILE), so that a process that is killed before leaves
/// nothing behind.
std::string write_before_naming(const std::filesystem::path& path, std::string_view text) {
  if (::access("/proc/self/fd", X_OK) != 0) return {};  // by which it gets its name
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const FileDescriptor file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644));
  if (file.get() < 0) return {};  // NFS, for one
  write_all(file.get(), text, path);
  sync_file(file.get(), path);
  const std::string own = fmt::format("/proc/self/fd/{}", file.get());
  constexpr int kMaxAttempts = 100;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    std::string name = secret_name(path);
    if (::linkat(AT_FDCWD, own.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return name;
    if (errno != EEXIST) break;  // a file system that makes such files and names none
  }
  return {};
}

/// The same under a name from the start.
std::string write_named(const std::filesystem::path& path, std::string_view text) {
  auto [fd, name] = named_file_for(path);
  FileDescriptor file(fd);
  try {
    write_all(file.get(), text, path);
    sync_file(file.get(), path);
    if (!file.close()) throw file_error(path, "written", errno);
  } catch (const Error&) {
    ::unlink(name.c_str());
    throw;
  }
  return name;
}

/// Whether it is a pipe with a name, which exists without anybody who writes to it.
bool is_named_pipe(int fd, const struct stat& about) {
  struct statfs system{};
  return S_ISFIFO(about.st_mode) && (::fstatfs(fd, &system) != 0 || system.f_type != PIPEFS_MAGIC);
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

bool FileDescriptor::close() {
  const int fd = fd_;
  fd_ = -1;
  return ::close(fd) == 0;
}

Error file_error(const std::filesystem::path& path, std::string_view action, int errno_value) {
  const bool permission = errno_value == EACCES || errno_value == EPERM || errno_value == EROFS;
  return usage_error(path.string(), fmt::format("cannot be {}: {}", action, std::strerror(errno_value)),
                     permission ? "give another path or fix the permissions" : "give another path");
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
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644)) {
  if (file_.get() < 0) throw file_error(path_, "written", errno);
  struct stat is{};
  if (::fstat(file_.get(), &is) != 0) throw file_error(path_, "looked at", errno);
  const auto bytes = static_cast<off_t>(keep_bytes);
  if (is.st_size != bytes && ::ftruncate(file_.get(), bytes) != 0) throw file_error(path_, "cut", errno);
}

void AppendFile::require_in_place() const {
  struct stat own{};
  struct stat there{};
  const bool is_seen = ::fstat(file_.get(), &own) == 0 && ::stat(path_.c_str(), &there) == 0;
  if (!is_seen && errno != ENOENT && errno != ENOTDIR) throw file_error(path_, "looked at", errno);
  if (is_seen && own.st_dev == there.st_dev && own.st_ino == there.st_ino) return;
  throw usage_error(path_.string(), "was removed, moved or replaced while it was being written",
                    "leave the files of a run alone until it has ended");
}

void require_writable(const std::filesystem::path& path, bool overwrite, std::string_view option) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw usage_error(std::string(option), fmt::format("{} is a folder", path.string()), "name a file in it");
  }
  // What is renamed over is gone: a device, a pipe, or what a link leads to.
  const auto kind = std::filesystem::symlink_status(path, ignored).type();
  if (kind != std::filesystem::file_type::regular && kind != std::filesystem::file_type::not_found) {
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
                      "create it, or give another path");
  }
  // access(2) answers yes to root on a read-only mount or in /proc: only creating a file tells.
  std::string probe = (folder / ".collbench-XXXXXX").string();
  const int fd = ::mkostemp(probe.data(), O_CLOEXEC);
  if (fd < 0) {
    throw usage_error(std::string(option),
                      fmt::format("cannot write in {}: {}", folder.string(), std::strerror(errno)),
                      "give another path or fix the permissions");
  }
  ::close(fd);
  ::unlink(probe.c_str());
}

void write_file_by_rename(const std::filesystem::path& path, std::string_view text) {
  std::string name = write_before_naming(path, text);
  if (name.empty()) name = write_named(path, text);
  std::error_code failure;
  std::filesystem::rename(name, path, failure);
  if (!failure) return;
  const Error error = file_error(path, "written", failure.value());
  const std::filesystem::path kept = path.string() + ".kept";
  std::filesystem::rename(name, kept, failure);
  if (failure) {  // of any name: a folder that may only grow, a server that lost its handle
    ::unlink(name.c_str());
    try {
      AppendFile file(kept, 0);
      file.append(text);
      file.sync();
    } catch (const Error&) {
      throw Error(error);
    }
  }
  throw Error(error.status(), error.where(), error.what(),
              fmt::format("what it should hold is in {}: move that, or give another path", kept.string()));
}

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::error_code& failure) {
  std::vector<std::filesystem::path> paths;
  std::filesystem::directory_iterator entry(folder, failure);  // a loop over it would throw
  for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure))
    paths.push_back(entry->path());
  std::ranges::sort(paths);
  return paths;
}

std::string first_line(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

Error too_large(std::string_view file, std::size_t max_bytes) {
  return usage_error(std::string(file), fmt::format("is larger than {}", format_bytes(max_bytes)),
                     "check that it is the right file");
}

int open_for_reading(const std::filesystem::path& path, int patience_seconds) {
  // Without O_NONBLOCK, opening a pipe waits for somebody to write, for ever.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  const int fd = file.get();
  struct stat about{};
  if (fd < 0 || ::fstat(fd, &about) != 0) throw file_error(path, "read", errno);
  if (is_named_pipe(fd, about)) {
    pollfd waiting{fd, POLLIN, 0};
    if (::poll(&waiting, 1, patience_seconds * 1000) == 0) {
      throw usage_error(path.string(),
                        fmt::format("is a pipe, and nothing came through it in {} s", patience_seconds),
                        "start what writes to it first, or give a file, or - for stdin");
    }
  }
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return file.release();
}

std::string read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const FileDescriptor file(open_for_reading(path));
  struct stat about{};
  if (::fstat(file.get(), &about) != 0) throw file_error(path, "read", errno);
  if (S_ISREG(about.st_mode) && std::cmp_greater(about.st_size, max_bytes))
    throw too_large(path.string(), max_bytes);
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
    if (text.size() > max_bytes) throw too_large(path.string(), max_bytes);
  }
}

MemoryFile::MemoryFile(const char* label, std::string_view text) : file_(::memfd_create(label, 0)) {
  if (file_.get() < 0) throw file_error(label, "kept in memory", errno);
  write_all(file_.get(), text, label);
  ::lseek(file_.get(), 0, SEEK_SET);
}

std::string MemoryFile::path() const { return fmt::format("/proc/self/fd/{}", file_.get()); }

ScratchFolder::ScratchFolder() {
  std::error_code none;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(none);
  std::string pattern = (parent / "collbench-XXXXXX").string();
  if (none || ::mkdtemp(pattern.data()) == nullptr) {
    throw usage_error(none ? "TMPDIR" : pattern, "cannot create a folder there",
                      "set TMPDIR to a writable folder");
  }
  folder_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace collbench
