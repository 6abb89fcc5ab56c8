#include "launch/flight/flight_page.hpp"

#include <chrono>
#include <cstring>
#include <thread>

namespace collbench::launch {
namespace {

// Of a step that changes meanwhile: a name is written in some nanoseconds, but its writer may lose its core.
constexpr int kReads = 200;
constexpr auto kPause = std::chrono::microseconds(50);

std::string load_text(const FlightPage::Text& words) {
  std::array<char, sizeof words> text{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t word = words.at(i).load(std::memory_order_relaxed);
    std::memcpy(text.data() + i * sizeof word, &word, sizeof word);
  }
  return {text.data(), strnlen(text.data(), text.size())};
}

void store_text(FlightPage::Text& words, std::string_view text) {
  std::array<char, sizeof words> bytes{};
  text.copy(bytes.data(), bytes.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i * sizeof word, sizeof word);
    words.at(i).store(word, std::memory_order_relaxed);
  }
}

FlightStep read_once(const FlightPage& page) {
  return {.name = load_text(page.step),
          .device = load_text(page.device),
          .calls_before = page.calls_before_step.load(std::memory_order_relaxed),
          .pass = page.pass.load(std::memory_order_relaxed)};
}

// A sequence lock, as in Boehm, "Can seqlocks get along with programming language memory models?" (2012).
template <class Write>
void write_at_once(FlightPage& page, const Write& write) {
  const std::uint64_t version = page.version.load(std::memory_order_relaxed);
  page.version.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  write();
  page.version.store(version + 2, std::memory_order_release);
}

}  // namespace

void write_step(FlightPage& page, std::string_view name) {
  write_at_once(page, [&] {
    store_text(page.step, name);
    page.calls_before_step.store(page.calls.entered.load(std::memory_order_relaxed),
                                 std::memory_order_relaxed);
    page.steps.store(page.steps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  });
}

void write_device(FlightPage& page, std::string_view device) {
  write_at_once(page, [&] { store_text(page.device, device); });
}

FlightStep read_step(const FlightPage& page) {
  for (int i = 0; i < kReads; ++i) {
    const std::uint64_t before = page.version.load(std::memory_order_acquire);
    FlightStep step = read_once(page);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && page.version.load(std::memory_order_relaxed) == before) return step;
    std::this_thread::sleep_for(kPause);
  }
  FlightStep step = read_once(page);
  step.is_whole = false;
  return step;
}

}  // namespace collbench::launch
