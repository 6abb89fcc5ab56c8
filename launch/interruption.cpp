#include "launch/interruption.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace collbench::launch {
namespace {

constexpr std::array kOrders{SIGINT, SIGTERM, SIGHUP};
constexpr std::array kWarnings{SIGUSR1, SIGUSR2};  // sbatch --signal, and what mpirun forwards
constexpr std::int64_t kOneOrderMilliseconds = 300;

// A signal handler may touch what needs no lock and has static storage, and nothing else.
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free &&
              std::atomic<std::uint8_t>::is_always_lock_free &&
              std::atomic<std::atomic<std::uint8_t>*>::is_always_lock_free);
std::atomic<int> first_signal = 0;
std::atomic<std::int64_t> first_order_milliseconds = 0;
std::atomic<std::atomic<std::uint8_t>*> marked = nullptr;

std::int64_t monotonic_milliseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void notice_warning(int signal) {
  int none = 0;
  first_signal.compare_exchange_strong(none, signal);
  if (std::atomic<std::uint8_t>* const mark = marked) *mark = 1;
}

void notice_order(int signal) {
  notice_warning(signal);
  const std::int64_t now = monotonic_milliseconds();
  std::int64_t before = 0;
  if (first_order_milliseconds.compare_exchange_strong(before, now)) return;
  if (is_same_order(signal, now - before)) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void install(int signal, void (*handler)(int)) {
  struct sigaction action{};
  if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // libraries need not know
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

bool is_same_order(int signal, std::int64_t milliseconds_after) {
  return signal != SIGINT && milliseconds_after < kOneOrderMilliseconds;
}

void notice_interruption() {
  for (const int signal : kOrders) install(signal, notice_order);
  for (const int signal : kWarnings) install(signal, notice_warning);
}

void mark_interruption(std::atomic<std::uint8_t>* mark) {
  marked = mark;
  if (mark != nullptr && interrupted()) *mark = 1;
}

bool interrupted() { return first_signal != 0; }

std::string interrupting_signal() {
  const char* const name = ::sigabbrev_np(first_signal);
  return first_signal == 0 || name == nullptr ? "" : std::string("SIG") + name;
}

}  // namespace collbench::launch
