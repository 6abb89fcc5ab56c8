#include "launch/hosts/host_network.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <chrono>
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

#include "base/error.hpp"

namespace collbench::launch {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::string_view kGreeting = "collbench-hosts-1 ";
constexpr std::string_view kHeartbeatGreeting = "collbench-beats-1 ";
static_assert(kGreeting.size() == kHeartbeatGreeting.size());  // one is read, then compared with both
constexpr std::size_t kGreetingBytes = kGreeting.size() + RunSecrets::kLength + 1;
constexpr std::size_t kMaxAnswerBytes = 256;

/// In a time that does not depend on where they differ.
bool equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return different == 0;
}

std::string random_text() {
  std::array<unsigned char, RunSecrets::kLength / 2> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error(ExitStatus::internal, "getrandom", "gives no random numbers", "");
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string question_greeting(const RunSecrets& secrets) {
  return fmt::format("{}{}\n", kGreeting, secrets.asking);
}

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

/// Somebody who asks, or whose heart beats. Lives as long as one of its handlers is pending.
class Visit : public std::enable_shared_from_this<Visit> {
 public:
  Visit(tcp::socket socket, const RunSecrets& secrets, const NetworkLimits& limits,
        const HostNetwork::Answer& answer, const HostNetwork::Lost& lost, std::shared_ptr<void> counted)
      : socket_(std::move(socket)),
        deadline_(socket_.get_executor()),
        secrets_(secrets),
        limits_(limits),
        answer_(answer),
        lost_(lost),
        counted_(std::move(counted)),
        lines_(limits.line_bytes + 1) {}

  void begin() {
    deadline_.expires_after(duration(limits_.seconds));
    deadline_.async_wait([self = shared_from_this()](error_code failure) {
      if (!failure) self->close();
    });
    asio::async_read(socket_, asio::buffer(greeting_),
                     [self = shared_from_this()](error_code failure, std::size_t) {
                       if (!failure && self->is_greeted(question_greeting(self->secrets_))) {
                         self->read_question();
                       } else if (!failure && self->is_greeted(heartbeat_greeting(self->secrets_))) {
                         self->deadline_.cancel();
                         self->read_beat();
                       } else {
                         self->close();
                       }
                     });
  }

 private:
  [[nodiscard]] bool is_greeted(const std::string& greeting) const {
    return equal({greeting_.data(), greeting_.size()}, greeting);
  }

  void read_beat() {
    asio::async_read_until(socket_, lines_, '\n',
                           [self = shared_from_this()](error_code failure, std::size_t bytes) {
                             if (failure) {
                               // Its kernel says that nothing more will come.
                               if (failure == asio::error::eof && !self->beat_.empty())
                                 self->lost_(self->beat_);
                               self->close();
                               return;
                             }
                             self->beat_ = taken_line(self->lines_, bytes);
                             if (self->beat_ == kHeartbeatFarewell) {
                               self->close();
                             } else {
                               self->read_beat();
                             }
                           });
  }

  void read_question() {
    asio::async_read_until(socket_, lines_, '\n',
                           [self = shared_from_this()](error_code failure, std::size_t bytes) {
                             if (failure) {
                               self->close();
                             } else {
                               self->reply(self->answer_(taken_line(self->lines_, bytes)));
                             }
                           });
  }

  void reply(const std::optional<std::string>& answer) {
    if (!answer) {
      close();
      return;
    }
    reply_ = fmt::format("{} {}\n", secrets_.answering, *answer);
    asio::async_write(socket_, asio::buffer(reply_),
                      [self = shared_from_this()](error_code, std::size_t) { self->close(); });
  }

  void close() {
    error_code ignored;
    static_cast<void>(socket_.close(ignored));
    deadline_.cancel();
  }

  tcp::socket socket_;
  asio::steady_timer deadline_;
  const RunSecrets& secrets_;
  const NetworkLimits& limits_;
  const HostNetwork::Answer& answer_;
  const HostNetwork::Lost& lost_;
  std::shared_ptr<void> counted_;  // one of the connections that are allowed
  std::array<char, kGreetingBytes> greeting_{};
  asio::streambuf lines_;
  std::string beat_;
  std::string reply_;
};

/// One question to one address after the other. Lives as long as one of its handlers is pending.
class Question : public std::enable_shared_from_this<Question> {
 public:
  using Done = std::function<void(std::optional<HostNetwork::Answered>)>;

  Question(asio::io_context& context, const RunSecrets& secrets, double seconds,
           std::vector<NetworkAddress> addresses, const std::string& line, Done done)
      : socket_(context),
        deadline_(context),
        secrets_(secrets),
        seconds_(seconds),
        addresses_(std::move(addresses)),
        text_(fmt::format("{}{}\n", question_greeting(secrets), line)),
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
    socket_.async_connect({address, addresses_[index].port},
                          [self = shared_from_this()](error_code refused) { self->send(refused); });
  }

 private:
  void send(error_code failure) {
    if (failure) {
      try_next();
      return;
    }
    asio::async_write(
        socket_, asio::buffer(text_),
        [self = shared_from_this()](error_code unsent, std::size_t) { self->read_answer(unsent); });
  }

  void read_answer(error_code failure) {
    if (failure) {
      try_next();
      return;
    }
    asio::async_read_until(
        socket_, answer_, '\n',
        [self = shared_from_this()](error_code unread, std::size_t bytes) { self->take(unread, bytes); });
  }

  void take(error_code failure, std::size_t bytes) {
    if (failure) {
      try_next();
      return;
    }
    const std::string line = taken_line(answer_, bytes);
    const std::size_t length = RunSecrets::kLength;
    if (line.size() <= length || !equal(line.substr(0, length), secrets_.answering)) {
      try_next();
      return;
    }
    deadline_.cancel();
    done_(HostNetwork::Answered{index_, line.substr(length + 1)});
  }

  void try_next() {
    deadline_.cancel();
    begin(index_ + 1);
  }

  tcp::socket socket_;
  asio::steady_timer deadline_;
  const RunSecrets& secrets_;
  double seconds_;
  std::vector<NetworkAddress> addresses_;
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

std::string heartbeat_greeting(const RunSecrets& secrets) {
  return fmt::format("{}{}\n", kHeartbeatGreeting, secrets.asking);
}

RunSecrets new_run_secrets() { return {.asking = random_text(), .answering = random_text()}; }

class HostNetwork::Sockets {
 public:
  Sockets(RunSecrets secrets, NetworkLimits limits)
      : secrets_(std::move(secrets)), limits_(limits), thread_([this] { context_.run(); }) {}
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;
  Sockets(Sockets&&) = delete;
  Sockets& operator=(Sockets&&) = delete;
  ~Sockets() {
    context_.stop();
    thread_.join();
  }

  std::optional<std::uint16_t> listen(const std::string& address, Answer answer, Lost lost) {
    error_code failure;
    const asio::ip::address at = asio::ip::make_address(address, failure);
    if (failure) return std::nullopt;
    answer_ = std::move(answer);
    lost_ = std::move(lost);
    static_cast<void>(acceptor_.open(at.is_v4() ? tcp::v4() : tcp::v6(), failure));
    if (!failure) static_cast<void>(acceptor_.bind({at, 0}, failure));
    if (!failure) static_cast<void>(acceptor_.listen(asio::socket_base::max_listen_connections, failure));
    const tcp::endpoint bound = failure ? tcp::endpoint() : acceptor_.local_endpoint(failure);
    if (failure) return std::nullopt;
    asio::post(context_, [this] { accept(); });
    return bound.port();
  }

  void ask(std::vector<NetworkAddress> addresses, const std::string& line, Question::Done done) {
    begin_question(context_, std::make_shared<Question>(context_, secrets_, limits_.seconds,
                                                        std::move(addresses), line, std::move(done)));
  }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code failure, tcp::socket socket) {
      if (failure) {
        accept_later();
        return;
      }
      if (visits_ < limits_.connections) {  // else it is closed here
        ++visits_;
        const std::shared_ptr<void> counted(nullptr, [this](void*) { --visits_; });
        std::make_shared<Visit>(std::move(socket), secrets_, limits_, answer_, lost_, counted)->begin();
      }
      accept();
    });
  }

  /// What fails now, such as for want of file descriptors, would fail again and again.
  void accept_later() {
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([this](error_code) { accept(); });
  }

  const RunSecrets secrets_;
  const NetworkLimits limits_;
  Answer answer_;
  Lost lost_;
  std::size_t visits_ = 0;  // of the network's thread; before the context, whose end closes them
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer pause_{context_};
  std::thread thread_;
};

HostNetwork::HostNetwork(RunSecrets secrets, NetworkLimits limits)
    : sockets_(std::make_unique<Sockets>(std::move(secrets), limits)) {}

HostNetwork::~HostNetwork() = default;

std::optional<std::uint16_t> HostNetwork::listen(const std::string& address, Answer answer, Lost lost) {
  return sockets_->listen(address, std::move(answer), std::move(lost));
}

void HostNetwork::ask(std::vector<NetworkAddress> addresses, const std::string& question,
                      std::function<void(std::optional<Answered>)> done) {
  sockets_->ask(std::move(addresses), question, std::move(done));
}

}  // namespace collbench::launch
