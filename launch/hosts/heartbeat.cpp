#include "launch/hosts/heartbeat.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

namespace collbench::launch {
namespace {

constexpr int kFarewellMilliseconds = 200;

}  // namespace

Heartbeat::Heartbeat(const NetworkAddress& to, const RunSecrets& secrets)
    : pending_(heartbeat_greeting(secrets)) {
  begin_connection(to);
}

void Heartbeat::beat(std::string_view line) {
  const std::lock_guard lock(mutex_);
  send_pending();
  if (!pending_.empty()) return;
  pending_.append(line).append("\n");
  send_pending();
}

void Heartbeat::farewell() {
  const std::lock_guard lock(mutex_);
  if (!socket_) return;
  pending_.append(kHeartbeatFarewell).append("\n");
  pollfd room{.fd = socket_->get(), .events = POLLOUT, .revents = 0};
  if (::poll(&room, 1, kFarewellMilliseconds) > 0) send_pending();
  socket_.reset();
}

void Heartbeat::begin_connection(const NetworkAddress& to) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (::getaddrinfo(to.address.c_str(), std::to_string(to.port).c_str(), &hints, &list) != 0) return;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(list, &::freeaddrinfo);
  socket_.emplace(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (::connect(socket_->get(), found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS)
    socket_.reset();
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
