#include "launch/hosts/heartbeat.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>

#include "launch/hosts/host_network.hpp"

namespace collbench::launch {
namespace {

constexpr std::chrono::milliseconds kFarewell{200};
constexpr int kMaxUngreetedBeats = 8;  // then the connection is made anew

}  // namespace

Heartbeat::Heartbeat(NetworkAddress to, std::string secret) : to_(std::move(to)), secret_(std::move(secret)) {
  begin_connection();
}

void Heartbeat::beat(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (is_over_) return;
  read();
  if (!is_greeted() && ++beats_ungreeted_ > kMaxUngreetedBeats) socket_.reset();
  if (!socket_) begin_connection();
  send_pending();
  if (!is_greeted() || !pending_.empty()) return;
  last_line_.assign(line).append("\n");
  pending_.append(last_line_);
  send_pending();
}

void Heartbeat::farewell() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_over_, true)) return;
  const auto end = std::chrono::steady_clock::now() + kFarewell;
  read();
  if (!last_line_.empty() && !socket_) begin_connection();
  // Who never heard of this rank misses nothing. Others may have lost an earlier connection: the line says of
  // whom the farewell is.
  for (bool is_said = false; socket_ && !last_line_.empty();) {
    if (is_greeted() && !std::exchange(is_said, true))
      pending_.append(last_line_).append(kHeartbeatFarewell).append("\n");
    send_pending();
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if ((is_said && pending_.empty()) || !socket_ || left <= 0) break;
    const auto events = static_cast<short>(pending_.empty() ? POLLIN : POLLIN | POLLOUT);
    pollfd either{.fd = socket_->get(), .events = events, .revents = 0};
    if (::poll(&either, 1, static_cast<int>(left)) > 0) read();
  }
  socket_.reset();
}

void Heartbeat::begin_connection() {
  beats_ungreeted_ = 0;
  challenge_.clear();
  pending_.clear();
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (::getaddrinfo(to_.address.c_str(), std::to_string(to_.port).c_str(), &hints, &list) != 0) return;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(list, &::freeaddrinfo);
  socket_.emplace(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (::connect(socket_->get(), found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS)
    socket_.reset();
}

/// The challenge, which is then answered, or that the other side, or something between, has closed.
void Heartbeat::read() {
  if (!socket_) return;
  std::array<char, kChallengeBytes> part{};
  const ssize_t got = ::recv(socket_->get(), part.data(), part.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    socket_.reset();
  } else if (!is_greeted()) {
    challenge_.append(part.data(), static_cast<std::size_t>(got));
    if (!is_greeted()) return;
    pending_ = greeting(secret_, Purpose::heartbeat, to_, challenge_);
    if (pending_.empty()) socket_.reset();
  }
}

/// As much as there is room for. Who hung up need not hear more.
void Heartbeat::send_pending() {
  if (!socket_) return;
  const ssize_t sent = ::send(socket_->get(), pending_.data(), pending_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) {
    pending_.erase(0, static_cast<std::size_t>(sent));
  } else if (errno != EAGAIN && errno != EINTR) {
    socket_.reset();
  }
}

}  // namespace collbench::launch
