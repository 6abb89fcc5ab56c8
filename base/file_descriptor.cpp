#include "base/file_descriptor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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
                     "give another path or mend the permissions");
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

}  // namespace collbench
