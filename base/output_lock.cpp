#include "base/output_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "base/host_name.hpp"
#include "base/text_input.hpp"

namespace collbench {
namespace {

/// -1 where it cannot be had; that of another user of the group is opened for reading, which is enough for a
/// lock. Nobody else may: who can open it could lock what a killed run left.
int open_lock(const std::filesystem::path& path) {
  constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | kFlags, 0640);
  return fd < 0 && errno == EACCES ? ::open(path.c_str(), O_RDONLY | kFlags) : fd;
}

Error not_ours(const std::filesystem::path& path, std::string_view option) {
  return usage_error(std::string(option), fmt::format("{} is no lock of collbench's", path.string()),
                     "remove it, or write in a folder where nobody else can put such a thing");
}

/// " (process 12 on node1)", as the owner wrote it; empty where it did not.
std::string owner(int fd) {
  std::array<char, 256> text{};
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  const std::string words = excerpt({text.data(), got > 0 ? static_cast<std::size_t>(got) : 0}, 100);
  return words.empty() ? "" : fmt::format(" ({})", words);
}

std::string own_words() { return fmt::format("process {} on {}", ::getpid(), own_host_name()); }

void write_owner(int fd) {
  const std::string text = own_words() + "\n";
  // Only a message names it.
  if (::ftruncate(fd, 0) == 0) static_cast<void>(::pwrite(fd, text.data(), text.size(), 0) < 0);
}

bool is_at(const struct stat& file, const std::filesystem::path& path) {
  struct stat there{};
  return ::lstat(path.c_str(), &there) == 0 && there.st_dev == file.st_dev && there.st_ino == file.st_ino;
}

}  // namespace

std::filesystem::path lock_beside(const std::filesystem::path& path) {
  return path.parent_path() / fmt::format(".{}.lock", path.filename().string());
}

OutputLock::OutputLock(const std::filesystem::path& path, std::string_view option)
    : lock_path_(lock_beside(path)) {
  // Its last owner removes the file while others may have opened it: then there is a new one to lock.
  constexpr int kMaxAttempts = 100;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    auto file = std::make_unique<FileDescriptor>(open_lock(lock_path_));
    if (file->get() < 0 && errno == ELOOP) throw not_ours(lock_path_, option);
    struct stat about{};
    if (file->get() < 0 || ::fstat(file->get(), &about) != 0) return;
    // A second name of somebody's file would have that written over.
    if (!S_ISREG(about.st_mode) || about.st_nlink > 1) throw not_ours(lock_path_, option);
    if (::flock(file->get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return;
      throw usage_error(
          std::string(option),
          fmt::format("{} is being written by another run{}", path.string(), owner(file->get())),
          "wait for it or end it, or name another file");
    }
    if (!is_at(about, lock_path_)) continue;
    write_owner(file->get());
    file_ = std::move(file);
    return;
  }
}

void OutputLock::remove_own(const std::filesystem::path& path) {
  const std::filesystem::path lock = lock_beside(path);
  if (first_line(lock) == own_words()) ::unlink(lock.c_str());
}

OutputLock::~OutputLock() {
  if (file_) ::unlink(lock_path_.c_str());  // before the lock goes
}

}  // namespace collbench
