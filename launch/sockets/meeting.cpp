#include "launch/sockets/meeting.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>
#include <utility>  // before Asio, which uses it and does not say so

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

#include "base/error.hpp"
#include "base/units.hpp"
#include "launch/hosts/greeting.hpp"

namespace collbench::launch {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using SteadyClock = std::chrono::steady_clock;

constexpr const char* kWelcome = "welcome";
constexpr std::size_t kMaxLine = 4096;
constexpr std::size_t kSpareGuests = 64;  // strangers, of whom the first makes room
constexpr std::chrono::seconds kGreetingTime{5};
constexpr std::chrono::seconds kAnswerTime{2};  // rank 0 answers at once
constexpr std::chrono::seconds kSayAfter{3};
constexpr std::chrono::milliseconds kSlice{200};  // an interruption is noticed within it
constexpr std::chrono::milliseconds kMinPause{100};
constexpr std::chrono::milliseconds kMaxPause{2000};  // of many ranks that look for one host

/// The first `bytes` of it without the line's end; a streambuf keeps its bytes in one piece.
std::string line_of(const asio::streambuf& buffer, std::size_t bytes) {
  return {static_cast<const char*>(buffer.data().data()), bytes - 1};
}

bool is_interrupted(const Party& party) { return !party.interruption().empty(); }

Error interruption(const Party& party) {
  return {ExitStatus::rank_lost, "rendezvous", "interrupted by " + party.interruption(),
          "nothing was measured"};
}

/// Asio leaves its sockets to the programs that this one starts, which would keep a dead rank's open.
void keep_to_this_process(int descriptor) { ::fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

/// Its descriptor, which blocks.
std::unique_ptr<FileDescriptor> released(tcp::socket& socket) {
  auto descriptor = std::make_unique<FileDescriptor>(socket.release());
  keep_to_this_process(descriptor->get());
  ::fcntl(descriptor->get(), F_SETFL, ::fcntl(descriptor->get(), F_GETFL) & ~O_NONBLOCK);
  return descriptor;
}

}  // namespace

class Door::Sockets {
  /// A connection until it has answered the challenge, or its time is over. Lives as long as a handler is
  /// pending.
  class Caller : public std::enable_shared_from_this<Caller> {
   public:
    using Greeted =
        std::function<void(tcp::socket socket, const std::string& challenge, const std::string& line)>;

    Caller(tcp::socket socket, Greeted greeted)
        : socket_(std::move(socket)), deadline_(socket_.get_executor()), greeted_(std::move(greeted)) {}

    void end() {
      error_code ignored;
      static_cast<void>(socket_.close(ignored));
    }

    void begin() {
      deadline_.expires_after(kGreetingTime);
      deadline_.async_wait([self = shared_from_this()](error_code failure) {
        if (!failure) self->end();
      });
      error_code failed;  // which reading meets as well; a line of a new connection blocks nobody
      asio::write(socket_, asio::buffer(challenge_), failed);
      asio::async_read_until(
          socket_, line_, '\n', [self = shared_from_this()](error_code failure, std::size_t bytes) {
            self->deadline_.cancel();
            if (!failure)
              self->greeted_(std::move(self->socket_), self->challenge_, line_of(self->line_, bytes));
          });
    }

   private:
    tcp::socket socket_;
    asio::steady_timer deadline_;
    Greeted greeted_;
    std::string challenge_ = new_challenge();
    asio::streambuf line_{kMaxLine};
  };

 public:
  Sockets(std::uint16_t port, std::uint16_t ports, const std::string& address) {
    error_code failure;
    for (std::uint16_t i = 0; i < ports; ++i) {
      if (open(static_cast<std::uint16_t>(port + i), address, failure)) return;
    }
    throw Error(ExitStatus::not_here, "rendezvous",
                fmt::format("rank 0 cannot listen on any port from {} to {}: {}", port, port + ports - 1,
                            failure.message()),
                "give another one: --rendezvous HOST:PORT, or another MASTER_PORT");
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }

  std::vector<RankLink> receive(const Party& party, double seconds, const Waits& waits) {
    party_ = party;
    links_.resize(static_cast<std::size_t>(party.ranks));
    accept();
    const auto start = SteadyClock::now();
    auto looked = start;
    bool said = false;
    while (!refused_ && !all_are_here()) {
      context_.run_one_for(kSlice);
      if (is_interrupted(party)) fail_all(interruption(party));
      const auto passed = SteadyClock::now() - start;
      if (SteadyClock::now() - looked >= kSlice) {
        for (int rank = 0; rank < party.ranks; ++rank) forget_if_gone(rank);
        looked = SteadyClock::now();
      }
      if (!said && passed >= kSayAfter && !missing().empty()) {
        waits(missing());
        said = true;
      }
      if (seconds > 0 && passed >= std::chrono::duration<double>(seconds)) break;
    }
    error_code ignored;
    static_cast<void>(acceptor_.close(ignored));
    if (refused_) fail_all(*refused_);
    if (const std::vector<int> late = missing(); !late.empty()) {
      fail_all(Error(
          ExitStatus::rank_lost, "rendezvous",
          fmt::format(
              "after {:g} s only {} of {} ranks have connected to port {} of rank 0{}; missing: {}", seconds,
              party.ranks - static_cast<int>(late.size()), party.ranks, port_,
              problem_.empty() ? "" : fmt::format(" ({})", problem_),
              number_ranges(late) +
                  (strangers_ == 0
                       ? ""
                       : fmt::format("; {} others did not show that they know this job and COLLBENCH_SECRET",
                                     strangers_))),
          "see whether they were started, and whether their hosts reach that port"));
    }
    std::vector<RankLink> links;
    for (std::optional<RankLink>& link : links_) {
      if (link) links.push_back(std::move(*link));
    }
    for (const RankLink& link : links) link.send({});  // all are here
    return links;
  }

 private:
  bool open(std::uint16_t port, const std::string& address, error_code& failure) {
    // The dual stack takes IPv4 too; a kernel without IPv6 has only that.
    std::vector<asio::ip::address> addresses{asio::ip::address_v6::any(), asio::ip::address_v4::any()};
    if (!address.empty()) {
      addresses = {asio::ip::make_address(address, failure)};
      if (failure) return false;
    }
    for (const asio::ip::address& one : addresses) {
      const tcp::endpoint at(one, port);
      error_code ignored;
      static_cast<void>(acceptor_.close(ignored));
      static_cast<void>(acceptor_.open(at.protocol(), failure));
      if (!failure && one.is_v6()) static_cast<void>(acceptor_.set_option(asio::ip::v6_only(false), failure));
      if (!failure) keep_to_this_process(acceptor_.native_handle());
      if (!failure) static_cast<void>(acceptor_.set_option(tcp::acceptor::reuse_address(true), failure));
      if (!failure) static_cast<void>(acceptor_.bind(at, failure));
      if (!failure) static_cast<void>(acceptor_.listen(asio::socket_base::max_listen_connections, failure));
      if (!failure) {
        port_ = acceptor_.local_endpoint().port();
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::vector<int> missing() const {
    std::vector<int> ranks;
    for (int rank = 1; rank < party_.ranks; ++rank) {
      if (!links_[static_cast<std::size_t>(rank)]) ranks.push_back(party_.number(rank));
    }
    return ranks;
  }

  bool all_are_here() {
    if (!missing().empty()) return false;
    for (int rank = 0; rank < party_.ranks; ++rank) forget_if_gone(rank);
    return missing().empty();
  }

  void forget_if_gone(int rank) {
    if (rank < 0 || rank >= party_.ranks) return;
    std::optional<RankLink>& link = links_[static_cast<std::size_t>(rank)];
    if (link && link->is_closed()) link.reset();
  }

  [[noreturn]] void fail_all(const Error& error) const {
    for (const std::optional<RankLink>& link : links_)
      if (link) link->end(error.what());
    throw Error(error);
  }

  void accept() {
    acceptor_.async_accept([this](error_code failure, tcp::socket socket) {
      if (failure == asio::error::operation_aborted) return;
      if (!failure) {
        // When all are taken the oldest makes room: a rank answers within milliseconds, a stranger never.
        std::erase_if(callers_, [](const auto& caller) { return caller.expired(); });
        if (callers_.size() >= links_.size() + kSpareGuests) {
          if (const auto first = callers_.front().lock()) first->end();
          callers_.pop_front();
        }
        const auto caller = std::make_shared<Caller>(
            std::move(socket), [this](tcp::socket guest, const std::string& challenge,
                                      const std::string& line) { take(guest, challenge, line); });
        callers_.push_back(caller);
        caller->begin();
      }
      if (!failure) {
        accept();
        return;
      }
      // What fails now, such as for want of descriptors, would fail again and again.
      problem_ = failure.message();
      later_.expires_after(kMinPause);
      later_.async_wait([this](error_code) { accept(); });
    });
  }

  void take(tcp::socket& socket, const std::string& challenge, const std::string& line) {
    const auto guest = guest_of(line, party_.word, port_, challenge);
    if (!guest || challenge.empty()) {
      ++strangers_;
      return;
    }
    forget_if_gone(guest->rank);  // a rank that was started again takes its own place
    const std::string why = refusal(*guest);
    const std::string reply = why.empty() ? kWelcome : why;
    const std::string answer =
        fmt::format("{} {}\n", reply_proof(party_.word, challenge, guest->introduction, reply), reply);
    error_code failure;
    asio::write(socket, asio::buffer(answer), failure);
    if (!why.empty() && !refused_) refused_ = usage_error("rendezvous", why, kHowToNumber);
    if (why.empty() && !failure)
      links_[static_cast<std::size_t>(guest->rank)].emplace(
          released(socket), fmt::format("rank {} ({})", party_.number(guest->rank), guest->host));
  }

  [[nodiscard]] std::string refusal(const Guest& guest) const {
    if (guest.ranks != party_.ranks)
      return fmt::format("rank {} on {} was started as one of {} ranks, rank 0 as one of {}", guest.rank,
                         guest.host, guest.ranks, party_.ranks);
    if (guest.rank < 0 || guest.rank >= party_.ranks)
      return fmt::format("a process on {} says that it is rank {} of {}", guest.host, guest.rank,
                         party_.ranks);
    if (guest.rank == 0 || links_[static_cast<std::size_t>(guest.rank)])
      return fmt::format("two processes say that they are rank {}; one is on {}", guest.rank, guest.host);
    return {};
  }

  static constexpr const char* kHowToNumber =
      "give each process a number of its own, from 0, and all the same --ranks";

  Party party_;
  std::vector<std::optional<RankLink>> links_;
  std::optional<Error> refused_;
  std::uint16_t port_ = 0;
  std::deque<std::weak_ptr<Caller>> callers_;  // that have not answered yet, the first one first
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer later_{context_};
  std::string problem_;  // why somebody could not be accepted
  std::size_t strangers_ = 0;
};

Door::Door(std::uint16_t port, std::uint16_t ports, const std::string& address)
    : sockets_(std::make_unique<Sockets>(port, ports, address)) {}

Door::~Door() = default;

std::uint16_t Door::port() const { return sockets_->port(); }

std::vector<RankLink> Door::receive(const Party& party, double seconds, const Waits& waits) {
  return sockets_->receive(party, seconds, waits);
}

namespace {

/// One look behind one port: rank 0's answer, if it is there.
class Look {
 public:
  Look(const tcp::endpoint& at, const Party& party, SteadyClock::time_point until)
      : party_(party), until_(until) {
    error_code failure = asio::error::would_block;
    socket_.async_connect(at, [&](error_code connected) { failure = connected; });
    if (!run(failure)) {
      is_silent_ = failure == asio::error::timed_out;
      return;
    }
    keep_to_this_process(socket_.native_handle());
    const std::optional<std::string> challenge = line();
    if (!challenge) return;
    const std::string own = introduction(party.rank, party.ranks);
    asio::write(socket_,
                asio::buffer(fmt::format("{} {}\n", own,
                                         introduction_proof(party.word, at.port(), *challenge + "\n", own))),
                failure);
    if (failure) {
      fail(failure);
      return;
    }
    const std::optional<std::string> answer = line();
    const std::size_t proof = answer ? answer->find(' ') : std::string::npos;
    if (proof == std::string::npos) return;
    const std::string reply = answer->substr(proof + 1);
    if (equal_proofs(answer->substr(0, proof), reply_proof(party.word, *challenge + "\n", own, reply)))
      answer_ = reply;
  }

  [[nodiscard]] const std::optional<std::string>& answer() const { return answer_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Whether nothing came back at all, as from behind a firewall: other ports there will not answer either. A
  /// program that takes the connection and says nothing is only not rank 0.
  [[nodiscard]] bool is_silent() const { return is_silent_; }
  [[nodiscard]] tcp::socket& socket() { return socket_; }

 private:
  /// The next one. Byte by byte: what follows the last one is the link's.
  std::optional<std::string> line() {
    until_ = std::min(until_, SteadyClock::now() + kAnswerTime);
    std::string text;
    for (char next = 0; text.size() < kMaxLine; text += next) {
      error_code failure = asio::error::would_block;
      asio::async_read(socket_, asio::buffer(&next, 1), [&](error_code got, std::size_t) { failure = got; });
      if (!run(failure)) return std::nullopt;
      if (next == '\n') return text;
    }
    return std::nullopt;
  }

  /// Until it is over, too late, or interrupted; whether it went well.
  bool run(error_code& failure) {
    context_.restart();
    while (!context_.stopped() && SteadyClock::now() < until_ && !is_interrupted(party_))
      context_.run_for(std::min<SteadyClock::duration>(kSlice, until_ - SteadyClock::now()));
    if (!context_.stopped()) {
      error_code ignored;
      static_cast<void>(socket_.close(ignored));
      context_.run();
      failure = asio::error::timed_out;
    }
    if (failure) fail(failure);
    return !failure;
  }

  void fail(error_code failure) {
    problem_ = failure == asio::error::eof ? "it is another program, another job, or COLLBENCH_SECRET differs"
                                           : failure.message();
  }

  const Party& party_;
  SteadyClock::time_point until_;
  asio::io_context context_{1};
  tcp::socket socket_{context_};
  std::optional<std::string> answer_;
  bool is_silent_ = false;
  std::string problem_ = "it is another program";
};

/// The addresses of a name, the reason in `problem` where it has none.
std::vector<asio::ip::address> addresses_of(const std::string& host, std::string& problem) {
  asio::io_context context;
  error_code unknown;
  std::vector<asio::ip::address> addresses;
  for (const auto& entry : tcp::resolver(context).resolve(host, "", unknown))
    addresses.push_back(entry.endpoint().address());
  if (unknown) problem = fmt::format("{}: {}", host, unknown.message());
  return addresses;
}

/// Rank 0's link, if it is at one of the ports; else why not in `problem`. Throws Error (usage) where rank 0
/// refuses this one.
std::optional<RankLink> look_at(const asio::ip::address& address, std::uint16_t port, std::uint16_t ports,
                                const Party& party, SteadyClock::time_point end, std::string& problem) {
  for (std::uint16_t i = 0; i < ports && !is_interrupted(party); ++i) {
    const tcp::endpoint at(address, static_cast<std::uint16_t>(port + i));
    Look look(at, party, std::min(end, SteadyClock::now() + kGreetingTime));
    if (look.answer() == kWelcome)
      return RankLink(released(look.socket()),
                      fmt::format("rank {} ({})", party.number(0), address.to_string()));
    if (look.answer()) throw usage_error("rendezvous", *look.answer(), "see rank 0's message");
    problem = fmt::format("port {} of {}: {}", port + i, address.to_string(), look.problem());
    if (look.is_silent()) break;
  }
  return {};
}

/// Until rank 0 says that all have come. It gives up by itself before `end`; what has stopped does not.
void wait_for_all(const RankLink& link, const Party& party, SteadyClock::time_point end) {
  while (!link.has_message(kSlice)) {
    if (is_interrupted(party)) throw interruption(party);
    if (SteadyClock::now() >= end)
      throw Error(ExitStatus::rank_lost, "rendezvous",
                  fmt::format("rank {} took the connection of rank {} and has said nothing since",
                              party.number(0), party.number(party.rank)),
                  "see whether rank 0 still runs, and whether it is at that port");
  }
  link.limit_waits(kGreetingTime);
  link.receive_into({});
  link.limit_waits(std::chrono::seconds(0));
}

}  // namespace

RankLink knock(const std::string& host, std::uint16_t port, std::uint16_t ports, const Party& party,
               double seconds) {
  const auto end = seconds > 0 ? SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                                          std::chrono::duration<double>(seconds))
                               : SteadyClock::time_point::max();
  std::string problem;
  for (auto pause = kMinPause; SteadyClock::now() < end; pause = std::min(2 * pause, kMaxPause)) {
    for (const asio::ip::address& address : addresses_of(host, problem)) {
      std::optional<RankLink> link = look_at(address, port, ports, party, end, problem);
      if (!link) continue;
      wait_for_all(*link, party, seconds > 0 ? end + kGreetingTime : end);
      return std::move(*link);
    }
    // Not all at once.
    const auto next = SteadyClock::now() + pause + std::chrono::milliseconds(party.rank % 100);
    while (SteadyClock::now() < std::min(next, end) && !is_interrupted(party))
      std::this_thread::sleep_for(kMinPause);
    if (is_interrupted(party)) throw interruption(party);
  }
  throw Error(ExitStatus::rank_lost, "rendezvous",
              fmt::format("rank {} has not found rank {} in {:g} s ({})", party.number(party.rank),
                          party.number(0), seconds, problem),
              "see whether rank 0 was started, and whether this host reaches that port");
}

}  // namespace collbench::launch
