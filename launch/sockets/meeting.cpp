#include "launch/sockets/meeting.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>  // before Asio, which uses it and does not say so

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

#include "base/error.hpp"
#include "base/host_name.hpp"

namespace collbench::launch {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using SteadyClock = std::chrono::steady_clock;

constexpr const char* kRanksGreeting = "collbench-ranks-1";
constexpr const char* kWelcome = "welcome";
constexpr std::size_t kMaxLine = 1024;
constexpr std::size_t kSpareGuests = 64;  // strangers, whose time is soon over
constexpr std::chrono::seconds kGreetingTime{5};
constexpr std::chrono::seconds kSayAfter{3};
constexpr std::chrono::milliseconds kBetweenRounds{100};

/// The first `bytes` of it without the line's end; a streambuf keeps its bytes in one piece.
std::string line_of(const asio::streambuf& buffer, std::size_t bytes) {
  return {static_cast<const char*>(buffer.data().data()), bytes - 1};
}

/// Its descriptor, which blocks.
std::unique_ptr<FileDescriptor> released(tcp::socket& socket) {
  auto descriptor = std::make_unique<FileDescriptor>(socket.release());
  ::fcntl(descriptor->get(), F_SETFL, ::fcntl(descriptor->get(), F_GETFL) & ~O_NONBLOCK);
  return descriptor;
}

/// "collbench-ranks-1 WORD RANK RANKS HOST"
std::string greeting(const Party& party) {
  return fmt::format("{} {} {} {} {}\n", kRanksGreeting, party.word, party.rank, party.ranks,
                     own_host_name());
}

/// Who stands at the door, by its greeting; none for a stranger.
struct Guest {
  int rank = 0;
  int ranks = 0;
  std::string host;
};

std::optional<Guest> guest_of(const std::string& line, const std::string& word) {
  const std::string start = fmt::format("{} {} ", kRanksGreeting, word);
  if (!line.starts_with(start)) return std::nullopt;
  std::istringstream rest(line.substr(start.size()));
  Guest guest;
  rest >> guest.rank >> guest.ranks >> guest.host;
  if (!rest) return std::nullopt;
  guest.host = legal_host_name(guest.host);
  return guest;
}

/// A connection until its greeting is read, or its time is over. Lives as long as a handler is pending.
class Caller : public std::enable_shared_from_this<Caller> {
 public:
  using Greeted = std::function<void(tcp::socket socket, const std::string& line)>;

  Caller(tcp::socket socket, Greeted greeted, std::shared_ptr<void> counted)
      : socket_(std::move(socket)),
        deadline_(socket_.get_executor()),
        greeted_(std::move(greeted)),
        counted_(std::move(counted)) {}

  void begin() {
    deadline_.expires_after(kGreetingTime);
    deadline_.async_wait([self = shared_from_this()](error_code failure) {
      error_code ignored;
      if (!failure) static_cast<void>(self->socket_.close(ignored));
    });
    asio::async_read_until(socket_, line_, '\n',
                           [self = shared_from_this()](error_code failure, std::size_t bytes) {
                             self->deadline_.cancel();
                             if (!failure)
                               self->greeted_(std::move(self->socket_), line_of(self->line_, bytes));
                           });
  }

 private:
  tcp::socket socket_;
  asio::steady_timer deadline_;
  Greeted greeted_;
  std::shared_ptr<void> counted_;
  asio::streambuf line_{kMaxLine};
};

}  // namespace

class Door::Sockets {
 public:
  Sockets(std::uint16_t port, std::uint16_t ports, bool only_here) {
    error_code failure;
    for (std::uint16_t i = 0; i < ports; ++i) {
      if (open(static_cast<std::uint16_t>(port + i), only_here, failure)) return;
    }
    throw Error(
        ExitStatus::not_here, "rendezvous",
        fmt::format("rank 0 can have no port from {} to {}: {}", port, port + ports - 1, failure.message()),
        "give another one: --rendezvous HOST:PORT, or another MASTER_PORT");
  }

  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  std::vector<RankLink> receive(const Party& party, double seconds, const Waits& waits) {
    party_ = party;
    links_.resize(static_cast<std::size_t>(party.ranks));
    accept();
    const auto start = SteadyClock::now();
    bool said = false;
    while (!refused_ && !missing().empty()) {
      context_.run_for(std::chrono::milliseconds(200));
      const auto passed = SteadyClock::now() - start;
      if (!said && passed >= kSayAfter && !missing().empty()) {
        waits(missing());
        said = true;
      }
      if (seconds > 0 && passed >= std::chrono::duration<double>(seconds)) break;
    }
    error_code ignored;
    static_cast<void>(acceptor_.close(ignored));
    if (refused_) throw *refused_;
    if (const std::vector<int> late = missing(); !late.empty())
      throw Error(
          ExitStatus::rank_lost, "rendezvous",
          fmt::format("after {:g} s only {} of {} ranks have come to port {} of rank 0; missing: {}", seconds,
                      party.ranks - static_cast<int>(late.size()), party.ranks, port_, fmt::join(late, ", ")),
          "see whether they were started, and whether their hosts reach that port");
    std::vector<RankLink> links;
    for (std::optional<RankLink>& link : links_) {
      if (link) links.push_back(std::move(*link));
    }
    return links;
  }

 private:
  bool open(std::uint16_t port, bool only_here, error_code& failure) {
    // The dual stack takes IPv4 too; a kernel without IPv6 has only that.
    for (const bool v6 : {true, false}) {
      const asio::ip::address any = v6 ? asio::ip::address(asio::ip::address_v6::any())
                                       : asio::ip::address(asio::ip::address_v4::any());
      if (only_here && v6) continue;
      const tcp::endpoint at(only_here ? asio::ip::address_v4::loopback() : any, port);
      error_code ignored;
      static_cast<void>(acceptor_.close(ignored));
      static_cast<void>(acceptor_.open(at.protocol(), failure));
      if (!failure && v6) static_cast<void>(acceptor_.set_option(asio::ip::v6_only(false), failure));
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
      if (!links_[static_cast<std::size_t>(rank)]) ranks.push_back(rank);
    }
    return ranks;
  }

  void accept() {
    acceptor_.async_accept([this](error_code failure, tcp::socket socket) {
      if (failure == asio::error::operation_aborted) return;
      if (!failure && callers_ < links_.size() + kSpareGuests) {  // else it is closed here
        ++callers_;
        const std::shared_ptr<void> counted(nullptr, [this](void*) { --callers_; });
        std::make_shared<Caller>(
            std::move(socket), [this](tcp::socket guest, const std::string& line) { take(guest, line); },
            counted)
            ->begin();
      }
      // What fails now, such as for want of descriptors, would fail again and again.
      if (failure) std::this_thread::sleep_for(kBetweenRounds);
      accept();
    });
  }

  void take(tcp::socket& socket, const std::string& line) {
    const auto guest = guest_of(line, party_.word);
    if (!guest) return;
    const std::string why = refusal(*guest);
    const std::string answer = fmt::format("{} {}\n", kRanksGreeting, why.empty() ? kWelcome : why);
    error_code failure;
    asio::write(socket, asio::buffer(answer), failure);
    if (!why.empty() && !refused_) refused_ = usage_error("rendezvous", why, kHowToNumber);
    if (why.empty() && !failure)
      links_[static_cast<std::size_t>(guest->rank)].emplace(
          released(socket), fmt::format("rank {} ({})", guest->rank, guest->host));
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
  std::size_t callers_ = 0;  // before the context, whose end closes them
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
};

Door::Door(std::uint16_t port, std::uint16_t ports, bool only_here)
    : sockets_(std::make_unique<Sockets>(port, ports, only_here)) {}

Door::~Door() = default;

std::uint16_t Door::port() const { return sockets_->port(); }

std::vector<RankLink> Door::receive(const Party& party, double seconds, const Waits& waits) {
  return sockets_->receive(party, seconds, waits);
}

namespace {

/// One look behind one port: rank 0's answer, if it is there.
class Look {
 public:
  Look(const tcp::resolver::results_type& at, const Party& party) {
    error_code connected = asio::error::would_block;
    asio::async_connect(socket_, at, [&](error_code failure, const tcp::endpoint&) { connected = failure; });
    if (!run(connected)) return;
    const std::string line = greeting(party);
    error_code answered;
    asio::write(socket_, asio::buffer(line), answered);
    if (answered) {
      fail(answered);
      return;
    }
    answered = asio::error::would_block;
    asio::streambuf buffer{kMaxLine};
    std::size_t bytes = 0;
    asio::async_read_until(socket_, buffer, '\n', [&](error_code failure, std::size_t length) {
      answered = failure;
      bytes = length;
    });
    if (!run(answered)) return;
    const std::string answer = line_of(buffer, bytes);
    const std::string start = fmt::format("{} ", kRanksGreeting);
    if (answer.starts_with(start)) answer_ = answer.substr(start.size());
  }

  [[nodiscard]] const std::optional<std::string>& answer() const { return answer_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] tcp::socket& socket() { return socket_; }

 private:
  /// Until it is over, or too late; whether it went well.
  bool run(error_code& failure) {
    context_.restart();
    context_.run_for(kGreetingTime);
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
    problem_ = failure == asio::error::eof ? "it is another program, or another job" : failure.message();
  }

  asio::io_context context_{1};
  tcp::socket socket_{context_};
  std::optional<std::string> answer_;
  std::string problem_ = "it is another program";
};

}  // namespace

RankLink knock(const std::string& host, std::uint16_t port, std::uint16_t ports, const Party& party,
               double seconds) {
  const auto start = SteadyClock::now();
  std::string problem;
  for (;;) {
    for (std::uint16_t i = 0; i < ports; ++i) {
      asio::io_context context;
      error_code unknown;
      const auto at = tcp::resolver(context).resolve(host, std::to_string(port + i), unknown);
      if (unknown) {
        problem = fmt::format("{}: {}", host, unknown.message());
        continue;
      }
      Look look(at, party);
      if (look.answer() == kWelcome)
        return {released(look.socket()), fmt::format("rank 0 ({})", legal_host_name(host))};
      if (look.answer()) throw usage_error("rendezvous", *look.answer(), "see rank 0's message");
      problem = fmt::format("port {} of {}: {}", port + i, host, look.problem());
    }
    if (seconds > 0 && SteadyClock::now() - start >= std::chrono::duration<double>(seconds)) break;
    std::this_thread::sleep_for(kBetweenRounds);
  }
  throw Error(ExitStatus::rank_lost, "rendezvous",
              fmt::format("rank {} has not found rank 0 in {:g} s ({})", party.rank, seconds, problem),
              "see whether rank 0 was started, and whether this host reaches that port");
}

}  // namespace collbench::launch
