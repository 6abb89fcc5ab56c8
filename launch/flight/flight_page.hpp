#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace collbench::launch {

/// Counts calls where others can see them, also after a SIGKILL. One thread counts; each count is a plain
/// store.
struct CallCounter {
  std::atomic<std::uint64_t> entered{0};
  std::atomic<std::uint64_t> left{0};

  void enter() noexcept { add_one(entered); }
  void leave() noexcept { add_one(left); }

 private:
  /// No read-modify-write: nobody else writes, and a locked instruction would take longer than a short
  /// message's share of this.
  static void add_one(std::atomic<std::uint64_t>& count) noexcept {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

/// Those of a rank.
struct CallCounters {
  CallCounter& calls;      ///< of the measured operation
  CallCounter& exchanges;  ///< of collbench's own
};

/// One call, from here to the end of the block.
class CountedCall {
 public:
  explicit CountedCall(CallCounter& counter) : counter_(counter) { counter_.enter(); }
  CountedCall(const CountedCall&) = delete;
  CountedCall& operator=(const CountedCall&) = delete;
  ~CountedCall() { counter_.leave(); }

 private:
  CallCounter& counter_;
};

/// What one host sent to another, and sends again and again.
struct Unacknowledged {
  std::uint32_t address = 0;  ///< of the other end, by IPv4; 0: not known
  std::uint32_t times = 0;    ///< in a row, without an acknowledgment
};

/// What a flight recorder's file holds (docs/formats.md): written by one rank, read by anybody, at any time.
/// Text is UTF-8, ended by a NUL or by its array.
struct FlightPage {
  static constexpr std::array<char, 8> kMagic{'c', 'o', 'l', 'l', 'f', 'l', 't', '3'};

  // Written once, before `magic`.
  std::array<char, 8> magic{};
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  std::int32_t local_ranks = 0;  ///< on this host, as the launcher says; 0: it does not
  std::int32_t pid = 0;
  std::uint64_t started_ticks =
      0;  ///< field 22 of /proc/PID/stat: tells a process from a later one of its PID
  std::uint64_t pid_namespace = 0;  ///< inode of /proc/self/ns/pid
  std::array<char, 40> boot{};      ///< /proc/sys/kernel/random/boot_id: the host, until it starts again
  std::array<char, 64> host{};
  std::array<char, 64> gpu{};

  // A step or the device is being written while `version` is odd.
  alignas(64) std::atomic<std::uint64_t> version{0};
  using Text = std::array<std::atomic<std::uint64_t>, 8>;  ///< 64 bytes
  Text step{};
  Text device{};  ///< "GPU3, mlx5_2"; empty until it is known, and on host memory
  std::atomic<std::uint64_t> calls_before_step{0};
  std::atomic<std::int32_t> pass{0};
  std::atomic<std::uint64_t> steps{0};
  // 0 or 1; no bool, as a damaged file may hold any byte.
  std::atomic<std::uint8_t> step_has_limit{1};
  std::atomic<std::uint8_t> is_over{0};         ///< the rank ends on purpose: its process may go
  std::atomic<std::uint64_t> progressed_ns{0};  ///< CLOCK_BOOTTIME, to a quarter of a second
  std::atomic<std::uint64_t> heard{0};          ///< how often other hosts' ranks were heard to go on

  std::atomic<Unacknowledged> unacknowledged{};

  alignas(64) CallCounter calls;      ///< of the measured operation
  alignas(64) CallCounter exchanges;  ///< of collbench's own
};

struct FlightStep {
  std::string name;
  std::string device;
  std::uint64_t calls_before = 0;
  int pass = 0;
  bool is_whole = true;  ///< false: read in the midst of a write that did not end
};

/// By the rank itself: a new step, in the same pass. A name that is too long is cut.
void write_step(FlightPage& page, std::string_view name);
/// Likewise what the rank works with.
void write_device(FlightPage& page, std::string_view device);
/// By anybody. What a process that was stopped
/// or died while it wrote has left is read as it is, after some milliseconds.
[[nodiscard]] FlightStep read_step(const FlightPage& page);

static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<Unacknowledged>::is_always_lock_free &&
              std::atomic<std::uint8_t>::is_always_lock_free);

}  // namespace collbench::launch
