#include "launch/hosts/host_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <thread>
#include <utility>  // before Asio, which uses it and does not say so

#include <boost/asio/buffers_iterator.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

namespace collbench::launch {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kMaxAnswerBytes = 256;

asio::steady_timer::duration duration(double seconds) {
  return std::chrono::duration_cast<asio::steady_timer::duration>(std::chrono::duration<double>(seconds));
}

/// Takes the first line of `buffer`, which is of `bytes` bytes with its end.
std::string taken_line(asio::streambuf& buffer, std::size_t bytes) {
  const auto data = buffer.data();  // the iterators point into it
  const auto begin = asio::buffers_begin(data);
  std::string line(begin, begin + static_cast<std::ptrdiff_t>(bytes) - 1);
  buffer.consume(bytes);
  return line;
}

/// One question to one address after the other. Lives as long as one of its handlers is pending.
class Question : public std::enable_shared_from_this<Question> {
  using Step = void (Question::*)(std::size_t bytes);

  /// Goes on with `step`, or where what comes before it failed, with the next address.
  auto then(Step step) {
    return [self = shared_from_this(), step](error_code failure, std::size_t bytes = 0) {
      failure ? self->try_next() : (*self.*step)(bytes);
    };
  }

 public:
  using Done = std::function<void(std::optional<HostNetwork::Answered>)>;

  Question(asio::io_context& context, const std::string& secret, double seconds,
           std::vector<NetworkAddress> addresses, std::string line, Done done)
      : socket_(context),
        deadline_(context),
        secret_(secret),
        seconds_(seconds),
        addresses_(std::move(addresses)),
        line_(std::move(line)),
        done_(std::move(done)) {}

  void begin(std::size_t index) {
    if (index == addresses_.size()) {
      done_(std::nullopt);
      return;
    }
    index_ = index;
    error_code failure;
    const asio::ip::address address = asio::ip::make_address(addresses_[index].address, failure);
    if (failure) {
      begin(index + 1);
      return;
    }
    answer_.consume(answer_.size());
    socket_ = tcp::socket(deadline_.get_executor());
    deadline_.expires_after(duration(seconds_));
    deadline_.async_wait([self = shared_from_this(), index](error_code over) {
      error_code ignored;
      if (!over && self->index_ == index) static_cast<void>(self->socket_.close(ignored));
    });
    socket_.async_connect({address, addresses_[index].port}, then(&Question::read_challenge));
  }

 private:
  void read_challenge(std::size_t /*bytes*/) {
    asio::async_read(socket_, asio::buffer(challenge_), then(&Question::send_question));
  }

  [[nodiscard]] std::string_view challenge() const { return {challenge_.data(), challenge_.size()}; }

  void send_question(std::size_t /*bytes*/) {
    const bool is_challenge = challenge().starts_with(kChallengeStart);
    greeting_ = is_challenge ? greeting(secret_, Purpose::question, addresses_[index_], challenge()) : "";
    if (greeting_.empty()) {
      try_next();
      return;
    }
    text_ = fmt::format("{}{}\n", greeting_, line_);
    asio::async_write(socket_, asio::buffer(text_), then(&Question::read_answer));
  }

  void read_answer(std::size_t /*bytes*/) {
    asio::async_read_until(socket_, answer_, '\n', then(&Question::take));
  }

  void take(std::size_t bytes) {
    const std::string line = taken_line(answer_, bytes);
    const std::string text = line.substr(std::min(kRandomWordLength + 1, line.size()));
    const std::string proof = answer_proof(secret_, challenge(), greeting_, text);
    if (!equal_proofs(line, fmt::format("{} {}", proof, text))) {
      try_next();
      return;
    }
    deadline_.cancel();
    done_(HostNetwork::Answered{index_, text});
  }

  void try_next() {
    deadline_.cancel();
    begin(index_ + 1);
  }

  tcp::socket socket_;
  asio::steady_timer deadline_;
  const std::string& secret_;
  double seconds_;
  std::vector<NetworkAddress> addresses_;
  std::string line_;
  std::array<char, kChallengeBytes> challenge_{};
  std::string greeting_;
  std::string text_;
  Done done_;
  std::size_t index_ = 0;
  asio::streambuf answer_{kMaxAnswerBytes};
};

/// By any thread.
void begin_question(asio::io_context& context, const std::shared_ptr<Question>& question) {
  asio::post(context, [question] { question->begin(0); });
}

}  // namespace

/// What all who come to one listener share; of the network's thread.
struct HostNetwork::Reception {
  const std::string& secret;
  const NetworkLimits& limits;
  Listener listener{};
  NetworkAddress at{};
  std::size_t greeted = 0;              // of the connections that are open
  std::set<asio::ip::address> known{};  // somebody there greeted before
};

/// Somebody who asks, or whose heart beats, or a stranger. Lives as long as one of its handlers is pending.
class HostNetwork::Visit : public std::enable_shared_from_this<Visit> {
  using Step = void (Visit::*)(std::size_t bytes);

  /// Goes on with `step`; what fails before it ends the visit.
  auto then(Step step) {
    return [self = shared_from_this(), step](error_code failure, std::size_t bytes) {
      failure ? self->close() : (*self.*step)(bytes);
    };
  }

 public:
  Visit(tcp::socket socket, Reception& reception)
      : socket_(std::move(socket)),
        deadline_(socket_.get_executor()),
        reception_(reception),
        challenge_(new_challenge()),
        lines_(reception.limits.line_bytes + 1) {
    error_code gone;
    from_ = socket_.remote_endpoint(gone).address();
  }

  void begin() {
    if (challenge_.empty()) {
      close();
      return;
    }
    deadline_.expires_after(duration(reception_.limits.seconds));
    deadline_.async_wait([self = shared_from_this()](error_code failure) {
      if (!failure) self->close();
    });
    asio::async_write(socket_, asio::buffer(challenge_), then(&Visit::nothing));
    asio::async_read(socket_, asio::buffer(greeting_), then(&Visit::welcome));
  }

  [[nodiscard]] bool is_stranger() const { return socket_.is_open() && !is_greeted_; }
  [[nodiscard]] bool is_from_known_address() const { return reception_.known.contains(from_); }

  void close() {
    error_code ignored;
    static_cast<void>(socket_.close(ignored));
    deadline_.cancel();
    if (std::exchange(is_greeted_, false)) --reception_.greeted;
  }

 private:
  [[nodiscard]] std::string_view greeting_text() const { return {greeting_.data(), greeting_.size()}; }

  void nothing(std::size_t /*bytes*/) {}

  void welcome(std::size_t /*bytes*/) {
    const auto purpose = purpose_of(greeting_text(), reception_.secret, reception_.at, challenge_);
    if (!purpose || !socket_.is_open() || reception_.greeted >= reception_.limits.connections) {
      close();
      return;
    }
    reception_.known.insert(from_);
    ++reception_.greeted;
    is_greeted_ = true;
    if (purpose == Purpose::question) {
      asio::async_read_until(socket_, lines_, '\n', then(&Visit::reply));
    } else {
      deadline_.cancel();
      read_beat();
    }
  }

  void read_beat() {
    asio::async_read_until(socket_, lines_, '\n',
                           [self = shared_from_this()](error_code failure, std::size_t bytes) {
                             if (failure) {
                               // A kernel says that nothing more will come.
                               if (failure == asio::error::eof && !self->beat_.empty())
                                 self->reception_.listener.lost(self->beat_);
                               self->close();
                               return;
                             }
                             self->beat_ = taken_line(self->lines_, bytes);
                             if (self->beat_ == kHeartbeatFarewell) {
                               self->close();
                             } else {
                               self->reception_.listener.beat(self->beat_);
                               self->read_beat();
                             }
                           });
  }

  void reply(std::size_t bytes) {
    const auto answer = reception_.listener.answer(taken_line(lines_, bytes));
    if (!answer) {
      close();
      return;
    }
    reply_ = fmt::format("{} {}\n", answer_proof(reception_.secret, challenge_, greeting_text(), *answer),
                         *answer);
    asio::async_write(socket_, asio::buffer(reply_),
                      [self = shared_from_this()](error_code, std::size_t) { self->close(); });
  }

  tcp::socket socket_;
  asio::steady_timer deadline_;
  Reception& reception_;
  asio::ip::address from_;
  std::string challenge_;
  bool is_greeted_ = false;  // and counted, as long as it is open
  std::array<char, kGreetingBytes> greeting_{};
  asio::streambuf lines_;
  std::string beat_;
  std::string reply_;
};

class HostNetwork::Sockets {
 public:
  Sockets(std::string secret, NetworkLimits limits)
      : secret_(std::move(secret)), limits_(limits), thread_([this] { context_.run(); }) {}
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;
  ~Sockets() {
    context_.stop();
    thread_.join();
  }

  std::optional<std::uint16_t> listen(const std::string& address, Listener listener) {
    error_code failure;
    const asio::ip::address at = asio::ip::make_address(address, failure);
    if (failure) return std::nullopt;
    reception_.listener = std::move(listener);
    static_cast<void>(acceptor_.open(at.is_v4() ? tcp::v4() : tcp::v6(), failure));
    if (!failure) static_cast<void>(acceptor_.bind({at, 0}, failure));
    if (!failure) static_cast<void>(acceptor_.listen(asio::socket_base::max_listen_connections, failure));
    const tcp::endpoint bound = failure ? tcp::endpoint() : acceptor_.local_endpoint(failure);
    if (failure) return std::nullopt;
    reception_.at = {address, bound.port()};
    asio::post(context_, [this] { accept(); });
    return bound.port();
  }

  void ask(std::vector<NetworkAddress> addresses, const std::string& line, Question::Done done) {
    begin_question(context_, std::make_shared<Question>(context_, secret_, limits_.seconds,
                                                        std::move(addresses), line, std::move(done)));
  }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code failure, tcp::socket socket) {
      if (failure) {
        accept_later();
        return;
      }
      make_room();
      strangers_.push_back(std::make_shared<Visit>(std::move(socket), reception_));
      strangers_.back()->begin();
      accept();
    });
  }

  /// The first to come goes, before all from where nobody has ever greeted.
  void make_room() {
    std::erase_if(strangers_, [](const auto& each) { return !each->is_stranger(); });
    if (strangers_.size() < limits_.strangers) return;
    auto first =
        std::ranges::find_if(strangers_, [](const auto& each) { return !each->is_from_known_address(); });
    if (first == strangers_.end()) first = strangers_.begin();
    (*first)->close();
    strangers_.erase(first);
    reception_.listener.crowded();
  }

  /// What fails now, such as for want of file descriptors, would fail again and again.
  void accept_later() {
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([this](error_code) { accept(); });
  }

  const std::string secret_;
  const NetworkLimits limits_;
  Reception reception_{.secret = secret_, .limits = limits_};  // before the context, whose end closes visits
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer pause_{context_};
  std::vector<std::shared_ptr<Visit>> strangers_;  // and who was one when the last one came
  std::thread thread_;
};

HostNetwork::HostNetwork(std::string secret, NetworkLimits limits)
    : sockets_(std::make_unique<Sockets>(std::move(secret), limits)) {}

HostNetwork::~HostNetwork() = default;

std::optional<std::uint16_t> HostNetwork::listen(const std::string& address, Listener listener) {
  return sockets_->listen(address, std::move(listener));
}

void HostNetwork::ask(std::vector<NetworkAddress> addresses, const std::string& question,
                      std::function<void(std::optional<Answered>)> done) {
  sockets_->ask(std::move(addresses), question, std::move(done));
}

}  // namespace collbench::launch
