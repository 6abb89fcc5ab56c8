#include "tools/nccl_plan/simulated_gpu/system_calls.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tools/nccl_plan/simulated_gpu/redirection.hpp"

namespace collbench::simulated_gpu {
namespace {

constexpr std::string_view kPrefix = "/dev/shm/nccl-";
constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t kNameDigits = 6;      // mkstemp's XXXXXX
constexpr std::uint64_t kMaxFiles = 13000;  // times 2^22, Linux's bound of process numbers, less than 62^6

std::string path_of(const OpenFile& open) {
  return "/proc/" + std::to_string(open.process) + "/fd/" + std::to_string(open.file);
}

int make_temporary(char* name_template) {
  if (!std::string_view(name_template).starts_with(kPrefix)) return ::mkstemp(name_template);
  const int file = ::memfd_create("NCCL shared memory", 0);
  const auto name = shared_memory_name({::getpid(), file});
  if (file >= 0 && name) {
    std::memcpy(name_template, name->c_str(), name->size());
    return file;
  }
  if (file >= 0) ::close(file);
  return ::mkstemp(name_template);
}

/// A file that is there under such a name is one: the name may be somebody else's.
std::optional<OpenFile> shared_memory_at(const char* path) {
  if (path == nullptr || ::access(path, F_OK) == 0)
    return std::nullopt;  // null: the system refuses it in its own way
  return shared_memory_file(path);
}

int open_file(const char* path, int flags, mode_t mode) {
  if (const auto shared = shared_memory_at(path)) return ::open(path_of(*shared).c_str(), flags & ~O_CREAT);
  return ::open(path, flags, mode);
}

/// A memory that has no name is gone with its last user.
int remove_file(const char* path) { return shared_memory_at(path) ? 0 : ::unlink(path); }

/// Pages that nobody writes to take no room.
int allocate_file(int file, int mode, off_t offset, off_t bytes) {
  const bool in_memory = ::fcntl(file, F_GET_SEALS) >= 0;  // only anonymous files know seals
  return in_memory && mode == 0 ? ::ftruncate(file, offset + bytes) : ::fallocate(file, mode, offset, bytes);
}

/// Until there is something to read, for at most a millisecond: the caller looks after other things, too.
void wait_to_read(int socket) {
  pollfd wanted{.fd = socket, .events = POLLIN, .revents = 0};
  ::poll(&wanted, 1, 1);
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

ssize_t receive(int socket, void* to, std::size_t bytes, int flags) {
  const ssize_t received = ::recv(socket, to, bytes, flags);
  if (received >= 0 || !would_block()) return received;
  wait_to_read(socket);
  return ::recv(socket, to, bytes, flags);
}

ssize_t receive_message(int socket, msghdr* message, int flags) {
  const ssize_t received = ::recvmsg(socket, message, flags);
  if (received >= 0 || !would_block()) return received;
  wait_to_read(socket);
  return ::recvmsg(socket, message, flags);
}

int accept_connection(int socket, sockaddr* address, socklen_t* bytes) {
  const int connection = ::accept(socket, address, bytes);
  if (connection >= 0 || !would_block()) return connection;
  wait_to_read(socket);
  return ::accept(socket, address, bytes);
}

template <class Function>
void answer(void* library, const char* name, Function* function) {
  replace_import(library, name, reinterpret_cast<const void*>(function));
}

}  // namespace

std::optional<std::string> shared_memory_name(const OpenFile& file) {
  const auto number = static_cast<std::uint64_t>(file.file);
  if (number >= kMaxFiles || file.process < 0 || file.process > 1 << 22) return std::nullopt;
  std::uint64_t code = static_cast<std::uint64_t>(file.process) * kMaxFiles + number;
  std::string digits(kNameDigits, '0');
  for (std::size_t i = kNameDigits; i > 0; --i) {
    digits[i - 1] = kDigits[code % kDigits.size()];
    code /= kDigits.size();
  }
  return std::string(kPrefix) + digits;
}

std::optional<OpenFile> shared_memory_file(std::string_view name) {
  if (!name.starts_with(kPrefix) || name.size() != kPrefix.size() + kNameDigits) return std::nullopt;
  std::uint64_t code = 0;
  for (const char digit : name.substr(kPrefix.size())) {
    const std::size_t value = kDigits.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    code = code * kDigits.size() + value;
  }
  return OpenFile{static_cast<pid_t>(code / kMaxFiles), static_cast<int>(code % kMaxFiles)};
}

void answer_system_calls(void* library) {
  answer(library, "mkstemp", make_temporary);
  answer(library, "open", open_file);
  answer(library, "unlink", remove_file);
  answer(library, "fallocate", allocate_file);
  answer(library, "recv", receive);
  answer(library, "recvmsg", receive_message);
  answer(library, "accept", accept_connection);
}

}  // namespace collbench::simulated_gpu
