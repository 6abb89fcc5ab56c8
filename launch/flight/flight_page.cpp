#include "launch/flight/flight_page.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace collbench::launch {
namespace {

// Of a step that changes meanwhile: a name is written in some nanoseconds, but its writer may lose its core.
constexpr int kReads = 200;
constexpr auto kPause = std::chrono::microseconds(50);

FlightStep read_once(const FlightPage& page) {
  std::array<char, sizeof page.step> text{};
  for (std::size_t i = 0; i < page.step.size(); ++i) {
    const std::uint64_t word = page.step.at(i).load(std::memory_order_relaxed);
    std::memcpy(text.data() + i * sizeof word, &word, sizeof word);
  }
  return {.name = std::string(text.data(), strnlen(text.data(), text.size())),
          .calls_before = page.calls_before_step.load(std::memory_order_relaxed),
          .pass = page.pass.load(std::memory_order_relaxed)};
}

}  // namespace

// A sequence lock, as in Boehm, "Can seqlocks get along with programming language memory models?" (2012).
void write_step(FlightPage& page, std::string_view name) {
  std::array<char, sizeof page.step> text{};
  name.copy(text.data(), text.size());
  const std::uint64_t version = page.version.load(std::memory_order_relaxed);
  page.version.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (std::size_t i = 0; i < page.step.size(); ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i * sizeof word, sizeof word);
    page.step.at(i).store(word, std::memory_order_relaxed);
  }
  page.calls_before_step.store(page.calls.entered.load(std::memory_order_relaxed), std::memory_order_relaxed);
  page.steps.store(page.steps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  page.version.store(version + 2, std::memory_order_release);
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
