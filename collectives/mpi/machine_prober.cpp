#include "collectives/mpi/machine_prober.hpp"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <vector>

#include "base/statistics.hpp"
#include "collectives/mpi/communicator.hpp"
#include "launch/real_machine.hpp"

namespace collbench::collectives {

constexpr std::size_t kLineBytes = 128;  // two cache lines, which processors fetch together

/// What two neighboring ranks share: each writes one line and reads the other. What is asked is a number that
/// grows from turn to turn, also from probe to probe; the last one of a probe has kEnd set.
struct SharedLines {
  alignas(kLineBytes) std::atomic<std::uint32_t> asked{0};
  alignas(kLineBytes) std::atomic<std::uint32_t> answered{0};
};

namespace {

constexpr std::uint32_t kRoundTripsPerBatch = 16;  // a reading of the clock is 1 % of them
constexpr std::size_t kMinBatches = 9;             // the median passes over four that were disturbed
constexpr double kRoundTripSeconds = 0.25e-3;      // for all batches
constexpr double kMaxRoundTripSeconds = 2e-3;      // where ranks take turns on a core
constexpr double kMaxCacheLineSeconds = 10e-6;     // longer is the scheduler's time, of no cache line
constexpr int kSpinsBeforeYield = 4096;            // some microseconds: the other one may need this core
constexpr int kStepRounds = 3;                     // the fastest is believed: the others waited for a core
constexpr std::uint64_t kSteps = 8192;
constexpr std::size_t kCopiedBytes = std::size_t{512} << 10U;
constexpr std::size_t kCopyPieces = 16;  // 8 MiB: more than a core's own caches hold

constexpr std::uint32_t kEnd = 1U << 31U;

std::uint32_t next_value(const std::atomic<std::uint32_t>& line, std::uint32_t seen) {
  for (int spins = 1;; ++spins) {
    const std::uint32_t value = line.load(std::memory_order_acquire);
    if (value != seen) return value;
    if (spins % kSpinsBeforeYield == 0) sched_yield();
  }
}

/// The median of batches of round trips, by the rank that asks. `last` is what was asked last.
double timed_round_trips(SharedLines& lines, const Clock& clock, std::uint32_t& last) {
  const auto round_trip = [&lines, &last](std::uint32_t end) {
    const std::uint32_t before = last;
    last = ((last + 1) & ~kEnd) | end;
    lines.asked.store(last, std::memory_order_release);
    static_cast<void>(next_value(lines.answered, before));
  };
  std::vector<double> batches;
  const double start = clock.seconds();
  double before = start;
  const auto goes_on = [&] {
    const double passed = before - start;
    return passed < kMaxRoundTripSeconds && (batches.size() < kMinBatches || passed < kRoundTripSeconds);
  };
  // Where the two take turns on a busy core a single round trip takes longer than all of them should.
  round_trip(0);
  before = clock.seconds();
  if (before - start > kMaxRoundTripSeconds) batches.push_back(before - start);
  while (batches.empty() || goes_on()) {
    for (std::uint32_t i = 0; i < kRoundTripsPerBatch; ++i) round_trip(0);
    const double after = clock.seconds();
    batches.push_back((after - before) / kRoundTripsPerBatch);
    before = after;
  }
  round_trip(kEnd);
  return median(batches);
}

/// By the other one.
void answer_round_trips(SharedLines& lines, std::uint32_t& last) {
  do {
    last = next_value(lines.asked, last);
    lines.answered.store(last, std::memory_order_release);
  } while ((last & kEnd) == 0);
}

/// Of xorshift (Marsaglia, 2003): six operations that wait for each other, as many cycles on most processors.
double steps_per_second(const Clock& clock) {
  double fastest = 0;
  static volatile std::uint64_t result = 88172645463325252U;  // so that the chain is not left out
  for (int round = 0; round < kStepRounds; ++round) {
    std::uint64_t x = result;
    const double before = clock.seconds();
    for (std::uint64_t i = 0; i < kSteps; ++i) {
      x ^= x << 13U;
      x ^= x >> 7U;
      x ^= x << 17U;
    }
    result = x;
    fastest = std::max(fastest, static_cast<double>(kSteps) / (clock.seconds() - before));
  }
  return fastest;
}

}  // namespace

struct MachineProber::Handles {
  const Clock& clock;
  Communicator world;
  Communicator host;
  int exceptions_before = std::uncaught_exceptions();
  int local_rank = 0;
  bool has_partner = false;
  MPI_Win window = MPI_WIN_NULL;
  SharedLines* lines = nullptr;
  std::uint32_t last_turn = 0;
  std::vector<std::byte> from = std::vector<std::byte>(kCopiedBytes * kCopyPieces);
  std::vector<std::byte> to = std::vector<std::byte>(kCopiedBytes);
  std::size_t piece = 0;
  launch::CpuTimes cpu_before;

  explicit Handles(const Clock& with) : clock(with), world(Communicator::duplicate(MPI_COMM_WORLD)) {
    MPI_Comm shared = MPI_COMM_NULL;
    launch::check_mpi(MPI_Comm_split_type(world.get(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared),
                      "MPI_Comm_split_type");
    host = Communicator(shared);
    int local_ranks = 0;
    MPI_Comm_rank(host.get(), &local_rank);
    MPI_Comm_size(host.get(), &local_ranks);
    has_partner = (local_rank ^ 1) < local_ranks;
    if (local_ranks > 1) share_lines();
    if (local_rank == 0) cpu_before = launch::view_cpu_times();
  }

  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  /// MPI_Win_free waits for all ranks of the host: where an error takes this one away, they do not come.
  ~Handles() {
    if (window != MPI_WIN_NULL && std::uncaught_exceptions() == exceptions_before) MPI_Win_free(&window);
  }

  [[nodiscard]] bool asks() const { return local_rank % 2 == 0; }

  /// The lines lie in the memory of the rank that asks.
  void share_lines() {
    void* own = nullptr;
    const MPI_Aint bytes = asks() ? MPI_Aint{2 * sizeof(SharedLines)} : 0;
    const int code =
        MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, host.get(), static_cast<void*>(&own), &window);
    // The probe stands beside the measurement: where MPI has no such windows the round trip is not known.
    int shared = code == MPI_SUCCESS ? 1 : 0;
    launch::check_mpi(MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_MIN, host.get()), "MPI_Allreduce");
    if (shared == 0) {
      has_partner = false;
      return;
    }
    if (has_partner) {
      MPI_Aint size = 0;
      int unit = 0;
      void* base = nullptr;
      launch::check_mpi(
          MPI_Win_shared_query(window, local_rank & ~1, &size, &unit, static_cast<void*>(&base)),
          "MPI_Win_shared_query");
      auto room = static_cast<std::size_t>(size);
      lines = static_cast<SharedLines*>(std::align(kLineBytes, sizeof(SharedLines), base, room));
      if (asks()) new (lines) SharedLines;
    }
    launch::check_mpi(MPI_Barrier(host.get()), "MPI_Barrier");
  }

  [[nodiscard]] double round_trip_seconds() {
    if (!has_partner) return 0;
    if (!asks()) {
      answer_round_trips(*lines, last_turn);
      return 0;
    }
    const double seconds = timed_round_trips(*lines, clock, last_turn);
    return seconds <= kMaxCacheLineSeconds ? seconds : 0;
  }

  [[nodiscard]] double read_bytes_per_second() {
    const double before = clock.seconds();
    std::memcpy(to.data(), &from[piece * kCopiedBytes], kCopiedBytes);
    piece = (piece + 1) % kCopyPieces;
    return static_cast<double>(kCopiedBytes) / (clock.seconds() - before);
  }

  [[nodiscard]] double stolen_share() {
    if (local_rank != 0) return 0;
    const launch::CpuTimes now = launch::view_cpu_times();
    const double stolen = now.stolen_seconds - cpu_before.stolen_seconds;
    const double asked_for = now.host_busy_seconds - cpu_before.host_busy_seconds + stolen;
    cpu_before = now;
    // The kernel's count of it can run backwards.
    return asked_for > 0 ? std::clamp(stolen / asked_for, 0.0, 1.0) : 0;
  }
};

MachineProber::MachineProber(const Clock& clock) : handles_(std::make_unique<Handles>(clock)) {}
MachineProber::~MachineProber() = default;

MachineProbe MachineProber::probe() {
  Handles& handles = *handles_;
  launch::check_mpi(MPI_Barrier(handles.host.get()), "MPI_Barrier");
  std::array<double, 4> worst{handles.round_trip_seconds(), 1 / steps_per_second(handles.clock),
                              1 / handles.read_bytes_per_second(), handles.stolen_share()};
  launch::check_mpi(MPI_Allreduce(MPI_IN_PLACE, worst.data(), static_cast<int>(worst.size()), MPI_DOUBLE,
                                  MPI_MAX, handles.world.get()),
                    "MPI_Allreduce");
  return {.round_trip_seconds = worst[0],
          .steps_per_second = 1 / worst[1],
          .read_bytes_per_second = 1 / worst[2],
          .stolen_share = worst[3]};
}

}  // namespace collbench::collectives
