#include "collectives/nccl/on_host/hub.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <thread>

#include "collectives/data/element_types.hpp"

namespace collbench::collectives {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::int32_t kMaxRanks = 1 << 16;
constexpr std::uint64_t kMaxParts = 1 << 20;  // sends, or receives, of a group
constexpr int kHelloSeconds = 5;              // a rank says hello as soon as it is connected

struct Asked {
  AskHeader header;
  std::vector<PeerPart> sends;
  std::vector<PeerPart> receives;
  Bytes data;
};

/// By NCCL's numbers.
constexpr std::array kReductions{Reduction::sum, Reduction::prod, Reduction::max, Reduction::min,
                                 Reduction::avg};

Reduction reduction_of(NcclReduction reduction) {
  return kReductions.at(static_cast<std::size_t>(reduction));
}

/// In `result`: all ranks' data, element by element. A float average scales each rank's element before the
/// sum, as NCCL does (src/enqueue.cc, hostToDevRedOp: avg of a float is PreMulSum); an integer's divides it.
void reduce(const std::vector<Asked>& all, Bytes& result) {
  result.resize(all[0].data.size());
  const int ranks = static_cast<int>(all.size());
  const Reduction reduction = reduction_of(all[0].header.reduction);
  with_element_type(data_type(all[0].header.type), [&]<typename Element>(std::type_identity<Element>) {
    const bool scales = reduction == Reduction::avg && !std::is_integral_v<Element>;
    const auto value = [&](const Bytes& data, std::size_t i) {
      Element element{};
      std::memcpy(&element, data.data() + i * sizeof element, sizeof element);
      return scales ? static_cast<Element>(element * static_cast<Element>(1.0 / ranks)) : element;
    };
    for (std::size_t i = 0; i < result.size() / sizeof(Element); ++i) {
      Element total = value(all[0].data, i);
      for (std::size_t rank = 1; rank < all.size(); ++rank) {
        total = reduced(reduction, total, value(all[rank].data, i));
      }
      if (reduction == Reduction::avg && !scales) total = averaged(total, ranks);
      std::memcpy(result.data() + i * sizeof total, &total, sizeof total);
    }
  });
}

/// `count` elements from block `block` of `data` on.
std::span<const std::byte> block_of(const Bytes& data, const AskHeader& header, std::size_t block) {
  const std::size_t bytes = header.count * element_bytes(header.type);
  return std::span(data).subspan(block * bytes, bytes);
}

void append(Bytes& to, std::span<const std::byte> more) { to.insert(to.end(), more.begin(), more.end()); }

/// Each receive takes the sender's next part for this rank. False: a sender has none.
bool append_group(const std::vector<Asked>& all, int rank, Bytes& result) {
  std::map<int, std::size_t> next;  // by sender: its next part to look at
  for (const PeerPart& receive : all[static_cast<std::size_t>(rank)].receives) {
    const Asked& sender = all[static_cast<std::size_t>(receive.peer)];
    std::size_t& part = next[receive.peer];
    while (part < sender.sends.size() && sender.sends[part].peer != rank) ++part;
    if (part == sender.sends.size() || sender.sends[part].bytes != receive.bytes) return false;
    std::size_t offset = 0;
    for (std::size_t i = 0; i < part; ++i) offset += sender.sends[i].bytes;
    append(result, std::span(sender.data).subspan(offset, receive.bytes));
    ++part;
  }
  return true;
}

/// What `rank` receives, made in `made` where no rank sent it as it is; none: it cannot be answered.
std::optional<std::span<const std::byte>> answer(const std::vector<Asked>& all, const Bytes& reduced,
                                                 int rank, Bytes& made) {
  const AskHeader& header = all[0].header;
  made.clear();
  switch (header.ask) {
    case Ask::all_reduce:
      return reduced;
    case Ask::reduce_scatter:
      return block_of(reduced, header, static_cast<std::size_t>(rank));
    case Ask::all_gather:
      for (const Asked& asked : all) append(made, asked.data);
      return made;
    case Ask::all_to_all:
      for (const Asked& asked : all)
        append(made, block_of(asked.data, header, static_cast<std::size_t>(rank)));
      return made;
    case Ask::broadcast:
      return all[static_cast<std::size_t>(header.root)].data;
    case Ask::reduce:
      return rank == header.root ? reduced : made;
    case Ask::group:
      if (append_group(all, rank, made)) return made;
      break;
    case Ask::join:
    case Ask::bye:
      break;
  }
  return std::nullopt;
}

/// Blocks of `count` elements that the rank sends; none for a group, whose parts say it.
std::uint64_t blocks_sent(const AskHeader& header, int rank, int ranks) {
  const bool sends_to_each = header.ask == Ask::reduce_scatter || header.ask == Ask::all_to_all;
  if (header.ask == Ask::broadcast) return rank == header.root ? 1 : 0;
  return sends_to_each ? static_cast<std::uint64_t>(ranks) : 1;
}

/// No rank has more data than this host has memory.
std::uint64_t host_memory_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Whether its numbers are such that the data can be received and worked on.
bool is_possible(const AskHeader& header, int rank, int ranks) {
  if (header.ask == Ask::bye) return header.sends + header.receives + header.bytes == 0;
  if (header.ask <= Ask::join || header.ask > Ask::bye) return false;
  const auto type = static_cast<std::uint32_t>(header.type);
  const auto reduction = static_cast<std::uint32_t>(header.reduction);
  if (type >= data_types().size() || reduction >= kReductions.size()) return false;
  if (header.root < 0 || header.root >= ranks || header.bytes > host_memory_bytes()) return false;
  if (header.ask == Ask::group) return header.sends <= kMaxParts && header.receives <= kMaxParts;
  return header.sends == 0 && header.receives == 0 && header.count <= host_memory_bytes() &&
         header.bytes == blocks_sent(header, rank, ranks) * header.count * element_bytes(header.type);
}

bool are_possible(const std::vector<PeerPart>& parts, int ranks) {
  return std::ranges::all_of(parts,
                             [&](const PeerPart& part) { return part.peer >= 0 && part.peer < ranks; });
}

/// Whether a group's sends are its data, all of them.
bool hold(const std::vector<PeerPart>& sends, std::uint64_t bytes) {
  for (const PeerPart& part : sends) {
    if (part.bytes > bytes) return false;
    bytes -= part.bytes;
  }
  return bytes == 0;
}

/// False, too, for what no rank of ours asks.
bool receive_asked(int socket, int rank, int ranks, Asked& asked) {
  if (!receive_all(socket, &asked.header, sizeof asked.header)) return false;
  if (!is_possible(asked.header, rank, ranks)) return false;
  asked.sends.resize(asked.header.sends);
  asked.receives.resize(asked.header.receives);
  if (!receive_all(socket, asked.sends.data(), asked.sends.size() * sizeof(PeerPart)) ||
      !receive_all(socket, asked.receives.data(), asked.receives.size() * sizeof(PeerPart)) ||
      !are_possible(asked.sends, ranks) || !are_possible(asked.receives, ranks)) {
    return false;
  }
  if (asked.header.ask == Ask::group && !hold(asked.sends, asked.header.bytes)) return false;
  asked.data.resize(asked.header.bytes);
  return receive_all(socket, asked.data.data(), asked.data.size());
}

bool same_call(const AskHeader& a, const AskHeader& b) {
  return a.ask == b.ask && a.type == b.type && a.reduction == b.reduction && a.root == b.root &&
         a.count == b.count;
}

/// Answers the calls of all ranks, one after another, in memory that it keeps.
class Server {
 public:
  explicit Server(std::vector<int> sockets) : sockets_(std::move(sockets)), all_(sockets_.size()) {}

  /// False when a call cannot be answered, or was the last.
  bool serve() {
    if (sockets_.empty()) return false;
    const int ranks = static_cast<int>(sockets_.size());
    for (int rank = 0; rank < ranks; ++rank) {
      Asked& asked = all_[static_cast<std::size_t>(rank)];
      if (!receive_asked(sockets_[static_cast<std::size_t>(rank)], rank, ranks, asked)) return false;
      if (same_call(asked.header, all_[0].header)) continue;
      std::fprintf(stderr, "the ranks' data: rank %d calls something other than rank 0\n", rank);
      return false;
    }
    const Ask ask = all_[0].header.ask;
    if (ask == Ask::all_reduce || ask == Ask::reduce_scatter || ask == Ask::reduce) reduce(all_, reduced_);
    for (int rank = 0; rank < ranks; ++rank) {
      const auto result = answer(all_, reduced_, rank, made_);
      if (!result || !send_all(sockets_[static_cast<std::size_t>(rank)], result->data(), result->size()))
        return false;
    }
    return true;
  }

 private:
  std::vector<int> sockets_;
  std::vector<Asked> all_;  // by rank
  Bytes reduced_;
  Bytes made_;
};

/// The other end's process had this user when it connected, or listened: the abstract namespace has no
/// permissions, so that every user of the host reaches what stands there.
bool is_of_this_user(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == ::geteuid();
}

void limit_receives(int socket, int seconds) {
  const timeval limit{.tv_sec = seconds, .tv_usec = 0};  // 0: none
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

/// Whether a rank that is still awaited is at the socket. The first says how many ranks there are.
bool takes_part(int socket, std::vector<int>& sockets) {
  if (!is_of_this_user(socket)) return false;
  AskHeader hello;
  limit_receives(socket, kHelloSeconds);
  if (!receive_all(socket, &hello, sizeof hello) || hello.ask != Ask::join) return false;
  limit_receives(socket, 0);
  if (hello.ranks < 1 || hello.ranks > kMaxRanks || hello.rank < 0 || hello.rank >= hello.ranks) return false;
  const auto ranks = static_cast<std::size_t>(hello.ranks);
  if (sockets.empty()) sockets.resize(ranks, -1);
  int& own = sockets[static_cast<std::size_t>(hello.rank) % sockets.size()];
  if (sockets.size() != ranks || own >= 0) return false;
  own = socket;
  return true;
}

/// All ranks' sockets, by rank, once all have come; none where the system accepts no more. Whoever else
/// connects is hung up on.
std::vector<int> join(int listener) {
  std::vector<int> sockets;
  while (sockets.empty() || std::ranges::find(sockets, -1) != sockets.end()) {
    const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (socket < 0) {
      std::fprintf(stderr, "the ranks' data: accept: %s\n", std::strerror(errno));
      for (const int joined : sockets) ::close(joined);
      sockets.clear();
      break;
    }
    if (!takes_part(socket, sockets)) ::close(socket);
  }
  ::close(listener);
  const char welcome = 1;
  for (const int socket : sockets) static_cast<void>(send_all(socket, &welcome, 1));
  return sockets;
}

sockaddr_un address_of(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A 0 first: the abstract namespace, which leaves no file behind and ends with the network namespace.
  const std::size_t first = name.starts_with('/') ? 0 : 1;
  name.copy(&address.sun_path[first], sizeof address.sun_path - 2);
  return address;
}

}  // namespace

bool ask_hub(int socket, const DataOperation& operation) {
  bool good = send_all(socket, &operation.header, sizeof operation.header);
  for (const auto& [part, data] : operation.sends) good = good && send_all(socket, &part, sizeof part);
  for (const auto& [part, data] : operation.receives) good = good && send_all(socket, &part, sizeof part);
  if (operation.send != nullptr) good = good && send_all(socket, operation.send, operation.header.bytes);
  for (const auto& [part, data] : operation.sends) good = good && send_all(socket, data, part.bytes);
  // All is sent before anything is received: in-place forms read what they write.
  good = good && receive_all(socket, operation.receive, operation.receive_bytes);
  for (const auto& [part, data] : operation.receives) good = good && receive_all(socket, data, part.bytes);
  return good;
}

std::size_t element_bytes(NcclType type) { return traits(data_type(type)).bytes; }

bool send_all(int socket, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = ::recv(socket, at, bytes, 0);
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool start_hub(const std::string& name) {
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(name);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, 256) != 0) {
    ::close(listener);
    return false;
  }
  std::thread([listener] {
    const std::vector<int> sockets = join(listener);
    for (Server server(sockets); server.serve();) {
    }
    for (const int socket : sockets) ::close(socket);
  }).detach();
  return true;
}

int connect_to_hub(const std::string& name) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(name);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      is_of_this_user(socket)) {
    return socket;
  }
  ::close(socket);
  return -1;
}

}  // namespace collbench::collectives
