#include "launch/sockets/rank_link.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <utility>

#include "launch/hosts/launch_address.hpp"

namespace collbench::launch {
namespace {

/// In front of each message. Ranks of one run have one program, and so one order of bytes.
struct Head {
  std::uint64_t bytes = 0;
  std::uint64_t is_end = 0;
};

constexpr std::uint64_t kMaxBytes = std::numeric_limits<std::uint32_t>::max();  // as packed() can say
constexpr std::size_t kMaxUnseen = std::size_t{1} << 20;  // of memory for bytes that have not come yet
constexpr std::uint64_t kMaxWord = 4096;

[[noreturn]] void throw_lost(const std::string& what) {
  throw Error(ExitStatus::rank_lost, "", what, "see that rank's own messages");
}

/// However it shows, so that ranks which say it say the same.
[[noreturn]] void throw_gone(const std::string& peer) {
  throw_lost(fmt::format("{} is gone: its connection has ended", peer));
}

/// False when the other end can take no more.
bool send_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

/// Of one end of the connection: `ask` is ::getsockname or ::getpeername. Empty where it is not known.
std::string address_of(const FileDescriptor& socket, decltype(&::getsockname) ask) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  return ask(socket.get(), generic, &size) == 0 ? numeric_address(generic, size).value_or("") : "";
}

void receive_all(int socket, std::span<std::byte> bytes, const std::string& peer) {
  while (!bytes.empty()) {
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw_gone(peer);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace

RankLink::RankLink(std::unique_ptr<FileDescriptor> socket, std::string peer)
    : socket_(std::move(socket)), peer_(std::move(peer)) {
  const int on = 1;
  ::setsockopt(socket_->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // each message is waited for
  // A host that has lost its power is noticed after about a minute: the kernel's own is two hours.
  ::setsockopt(socket_->get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  const int idle_seconds = 30;
  const int probe_seconds = 10;
  const int probes = 3;
  ::setsockopt(socket_->get(), IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
  ::setsockopt(socket_->get(), IPPROTO_TCP, TCP_KEEPINTVL, &probe_seconds, sizeof probe_seconds);
  ::setsockopt(socket_->get(), IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

void RankLink::send(std::span<const std::byte> message) const {
  if (message.size() > kMaxBytes)
    throw Error(ExitStatus::usage, "",
                fmt::format("ranks exchange {} bytes at once, more than {}", message.size(), kMaxBytes),
                "measure fewer rows at a time");
  const Head head{.bytes = message.size(), .is_end = 0};
  if (!send_all(socket_->get(), std::as_bytes(std::span(&head, 1))) || !send_all(socket_->get(), message))
    throw_gone(peer_);
}

void RankLink::end(std::string_view why) const {
  why = why.substr(0, kMaxWord);
  const Head head{.bytes = why.size(), .is_end = 1};
  std::string word(reinterpret_cast<const char*>(&head), sizeof head);
  word += why;
  // Who takes nothing more is not waited for: this process is about to end.
  static_cast<void>(::send(socket_->get(), word.data(), word.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

std::size_t RankLink::receive_size() const {
  Head head;
  receive_all(socket_->get(), std::as_writable_bytes(std::span(&head, 1)), peer_);
  if (head.is_end == 0 && head.bytes <= kMaxBytes) return head.bytes;
  if (head.is_end != 1 || head.bytes > kMaxWord)
    throw_lost(fmt::format("{} sent something that is not a collbench message", peer_));
  std::string why(head.bytes, '\0');
  receive_all(socket_->get(), std::as_writable_bytes(std::span(why)), peer_);
  throw LastWord(ExitStatus::rank_lost, "", why, "see that rank's own messages");
}

std::string RankLink::receive() const {
  const std::size_t bytes = receive_size();
  std::string message;
  while (message.size() < bytes) {
    const std::size_t before = message.size();
    message.resize(std::min(bytes, before + kMaxUnseen));
    receive_all(socket_->get(), std::as_writable_bytes(std::span(message)).subspan(before), peer_);
  }
  return message;
}

void RankLink::receive_into(std::span<std::byte> message) const {
  const std::size_t bytes = receive_size();
  if (bytes != message.size())
    throw_lost(fmt::format("{} sent {} bytes where {} were expected", peer_, bytes, message.size()));
  receive_all(socket_->get(), message, peer_);
}

bool RankLink::has_message(std::chrono::milliseconds within) const {
  pollfd look{socket_->get(), POLLIN, 0};
  return ::poll(&look, 1, static_cast<int>(within.count())) > 0;
}

void RankLink::limit_waits(std::chrono::seconds limit) const {
  const timeval longest{.tv_sec = limit.count(), .tv_usec = 0};
  ::setsockopt(socket_->get(), SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
}

bool RankLink::is_closed() const {
  char next = 0;
  const ssize_t got = ::recv(socket_->get(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

std::string RankLink::own_address() const { return address_of(*socket_, ::getsockname); }

std::string RankLink::peer_address() const { return address_of(*socket_, ::getpeername); }

}  // namespace collbench::launch
