#include "collectives/mpi/calibration.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>

#include "base/statistics.hpp"
#include "base/units.hpp"
#include "collectives/engine/block_timer.hpp"
#include "collectives/mpi/communicator.hpp"
#include "collectives/mpi/host_buffer.hpp"
#include "collectives/mpi/mpi_types.hpp"
#include "launch/real_machine.hpp"

namespace collbench::collectives {
namespace {

constexpr std::size_t kMaxBlocks = 9;
constexpr std::size_t kMinBlocks = 3;
constexpr int kPilots = 3;  // the shortest is believed: the others may have waited for a core
constexpr double kBlockSeconds = 1e-3;
constexpr double kPointSeconds = 30e-3;  // a slow link gets fewer blocks, not more time
constexpr std::uint64_t kMaxBlockIterations = 10'000;
constexpr std::uint64_t kFreshBytes = 4 * kMiB;  // a huge page of 2 MiB lies in it wherever it begins
// To 16 MiB: data falls out of the caches on the way, and the models follow it from size to size. Closer
// there, because between two points the models draw a line. Always to 1 MiB: from there on B is what it is.
constexpr std::uint64_t kAlwaysBytes = kMiB;
constexpr std::array<std::uint64_t, 13> kMessageBytes{8,         64,         512,        2 * kKiB, 4 * kKiB,
                                                      32 * kKiB, 256 * kKiB, 512 * kKiB, kMiB,     2 * kMiB,
                                                      4 * kMiB,  8 * kMiB,   16 * kMiB};
constexpr std::array<std::uint64_t, 9> kLocalBytes{4 * kKiB, 32 * kKiB, 256 * kKiB, 512 * kKiB, kMiB,
                                                   2 * kMiB, 4 * kMiB,  8 * kMiB,   16 * kMiB};

/// Of the sizes those up to what the rows use, rounded up to the next: buffers of more would only cost
/// memory.
std::span<const std::uint64_t> up_to(std::span<const std::uint64_t> sizes, std::uint64_t max_bytes) {
  const std::uint64_t wanted = std::max(max_bytes, kAlwaysBytes);
  const auto end = std::ranges::find_if(sizes, [&](std::uint64_t size) { return size >= wanted; });
  return sizes.first(static_cast<std::size_t>(end - sizes.begin()) + (end == sizes.end() ? 0 : 1));
}

/// Seconds per iteration of a block on the slowest rank; the same on all ranks.
template <typename Issue>
double run_block(CalibrationBench& bench, std::uint64_t iterations, const Issue& issue) {
  const auto now = [&bench] { return bench.clock.seconds(); };
  bench.ranks.barrier();
  const double elapsed = time_block(now, iterations, iterations, issue).elapsed_seconds;
  std::array<double, 2> slowest{elapsed, now() - bench.start};
  bench.ranks.reduce(slowest, launch::RankAggregate::maximum);
  bench.passed = slowest[1];
  return slowest[0] / static_cast<double>(iterations);
}

/// The shortest of some blocks; of one where a block is long enough to stand for itself, or time is out.
template <typename Issue>
double run_pilot(CalibrationBench& bench, std::uint64_t iterations, const Issue& issue) {
  double shortest = run_block(bench, iterations, issue);
  for (int i = 1; i < kPilots; ++i) {
    const double likely = shortest * static_cast<double>(iterations);
    if (!bench.has_time_for(likely) || likely > kPointSeconds / kPilots) break;
    shortest = std::min(shortest, run_block(bench, iterations, issue));
  }
  return shortest;
}

/// Seconds of one `issue()`: median over blocks of the slowest rank, the shortest of a point that is
/// repeated. Where the point's time is out before the first of them, that of the pilot. 0 where the simulator
/// lets no time pass.
template <typename Issue>
double seconds_of(CalibrationBench& bench, const Issue& issue) {
  bench.before_point();
  issue();  // sets up connections and touches memory
  // In simulated time all ranks leave a barrier at one moment, and nothing varies: once says it all.
  if (bench.simulated) return run_block(bench, 1, issue) - bench.clock_read_seconds;
  std::uint64_t iterations = 1;
  double pilot = run_pilot(bench, iterations, issue);
  while (pilot * static_cast<double>(iterations) < kBlockSeconds && iterations < kMaxBlockIterations &&
         !bench.is_late()) {
    const double fitting = kBlockSeconds / pilot;
    iterations = static_cast<std::uint64_t>(
        std::clamp(fitting, static_cast<double>(iterations) * 2, static_cast<double>(iterations) * 10));
    pilot = run_pilot(bench, iterations, issue);
  }
  std::vector<double> blocks;
  // By what the blocks take, since on a busy machine the pilot may have been too hopeful.
  double left = kPointSeconds;
  double likely = pilot * static_cast<double>(iterations);
  while ((blocks.size() < kMinBlocks || (blocks.size() < kMaxBlocks && left > 0)) &&
         bench.has_time_for(likely)) {
    blocks.push_back(run_block(bench, iterations, issue));
    likely = blocks.back() * static_cast<double>(iterations);
    left -= likely;
  }
  if (blocks.empty()) return pilot;
  return bench.repeating ? *std::ranges::min_element(blocks) : median(blocks);
}

/// One task for each size, the ends of which are needed.
template <typename Measure>
void add_curve(std::vector<CalibrationTask>& tasks, const CalibrationPoint& curve,
               std::span<const std::uint64_t> sizes, const Measure& measure) {
  const auto before = static_cast<std::ptrdiff_t>(tasks.size());
  for (const std::uint64_t bytes : sizes) {
    CalibrationTask task{.point = curve, .measure = [measure, bytes](CalibrationBench& bench) {
                           return measure(bench, bytes);
                         }};
    task.point.bytes = bytes;
    tasks.push_back(std::move(task));
  }
  spread_levels({tasks.begin() + before, tasks.end()});
}

/// Where a rank stands in the ring of `group`: alone when it is not in it.
struct RingPosition {
  explicit RingPosition(const Communicator& group) : communicator(group.get()) {
    if (communicator == MPI_COMM_NULL) return;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &size);
  }
  [[nodiscard]] bool alone() const { return size < 2; }
  [[nodiscard]] int next() const { return (rank + 1) % size; }
  [[nodiscard]] int before() const { return (rank + size - 1) % size; }

  MPI_Comm communicator;
  int rank = 0;
  int size = 1;
};

/// The same for work that is no message: SimGrid lets no time pass for it (but for reading the clock).
template <typename Issue>
double local_seconds_of(CalibrationBench& bench, const Issue& issue) {
  return bench.simulated ? 0 : seconds_of(bench, issue);
}

/// The ring shift among the members of `group`; a rank outside of it (no communicator, or alone) only keeps
/// step.
void add_shift(std::vector<CalibrationTask>& tasks, const Communicator& group, CalibrationKind kind,
               std::uint64_t max_bytes) {
  const RingPosition ring(group);
  const auto measure = [ring, kind](CalibrationBench& bench, std::uint64_t bytes) {
    const int count = static_cast<int>(bytes);
    std::byte* from = bench.from.data();
    std::byte* to = bench.to.data();
    return seconds_of(bench, [&] {
      if (ring.alone()) return;
      launch::check_mpi(MPI_Sendrecv(from, count, MPI_BYTE, ring.next(), 0, to, count, MPI_BYTE,
                                     ring.before(), 0, ring.communicator, MPI_STATUS_IGNORE),
                        "MPI_Sendrecv");
      if (kind == CalibrationKind::forward_intra) std::swap(from, to);
    });
  };
  add_curve(tasks, {.kind = kind}, up_to(kMessageBytes, max_bytes), measure);
}

/// kBurstMessages of the smallest size at once around the same ring, into a buffer of its own each: how soon
/// the next message can follow.
void add_burst(std::vector<CalibrationTask>& tasks, const Communicator& group, CalibrationKind kind) {
  constexpr int kBytes = static_cast<int>(kMessageBytes.front());
  const auto measure = [ring = RingPosition(group)](CalibrationBench& bench) {
    std::array<MPI_Request, 2UL * kBurstMessages> requests{};
    return seconds_of(bench, [&] {
      if (ring.alone()) return;
      auto* request = requests.data();
      for (std::ptrdiff_t i = 0; i < kBurstMessages; ++i) {
        launch::check_mpi(MPI_Irecv(bench.to.data() + i * kBytes, kBytes, MPI_BYTE, ring.before(), 0,
                                    ring.communicator, request++),
                          "MPI_Irecv");
      }
      for (std::ptrdiff_t i = 0; i < kBurstMessages; ++i) {
        launch::check_mpi(MPI_Isend(bench.from.data() + i * kBytes, kBytes, MPI_BYTE, ring.next(), 0,
                                    ring.communicator, request++),
                          "MPI_Isend");
      }
      launch::check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
                        "MPI_Waitall");
    });
  };
  tasks.push_back({.point = {.kind = kind, .bytes = kBytes}, .measure = measure, .messages = kBurstMessages});
}

/// Members 0 and 1 of `group`, 2 and 3, … exchange messages that are above any eager limit, without a barrier
/// in between. Without it, exchanges are taken for single messages.
void add_exchange(std::vector<CalibrationTask>& tasks, const Communicator& group) {
  const auto measure = [position = RingPosition(group)](CalibrationBench& bench) {
    constexpr int kBytes = kAlwaysBytes;
    const int peer = position.rank ^ 1;
    const double seconds = seconds_of(bench, [&] {
      if (position.alone() || peer >= position.size) return;
      for (int i = 0; i < kExchanges; ++i) {
        launch::check_mpi(MPI_Sendrecv(bench.from.data(), kBytes, MPI_BYTE, peer, 0, bench.to.data(), kBytes,
                                       MPI_BYTE, peer, 0, position.communicator, MPI_STATUS_IGNORE),
                          "MPI_Sendrecv");
      }
    });
    return seconds / kExchanges;
  };
  tasks.push_back({.point = {.kind = CalibrationKind::exchange_inter, .bytes = kAlwaysBytes},
                   .measure = measure,
                   .needed = false,
                   .messages = kExchanges});
}

void add_reduce_local(std::vector<CalibrationTask>& tasks, ReductionOps& ops, DataType type,
                      Reduction reduction, std::uint64_t max_bytes) {
  const auto measure = [&ops, type, reduction](CalibrationBench& bench, std::uint64_t bytes) {
    const int count = static_cast<int>(bytes / traits(type).bytes);
    return local_seconds_of(bench, [&] {
      launch::check_mpi(MPI_Reduce_local(bench.from.data(), bench.to.data(), count, mpi_type(type),
                                         ops.get(type, reduction)),
                        "MPI_Reduce_local");
    });
  };
  add_curve(tasks, {.kind = CalibrationKind::reduce_local, .type = type, .reduction = reduction},
            up_to(kLocalBytes, max_bytes), measure);
}

void add_copy(std::vector<CalibrationTask>& tasks, std::uint64_t max_bytes) {
  const auto measure = [](CalibrationBench& bench, std::uint64_t bytes) {
    return local_seconds_of(bench, [&] { std::memcpy(bench.to.data(), bench.from.data(), bytes); });
  };
  add_curve(tasks, {.kind = CalibrationKind::copy}, up_to(kLocalBytes, max_bytes), measure);
}

/// What a page fault costs on the slowest rank: memory is mapped, touched and given back. No point where huge
/// pages come by themselves on some rank: then a fault is worth what its page is, and pages differ.
void add_page_fault(std::vector<CalibrationTask>& tasks) {
  if (!launch::view_page_faults()) return;  // in simulated time
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto measure = [page_bytes](CalibrationBench& bench) -> std::optional<double> {
    const std::uint64_t before = *launch::view_page_faults();
    std::uint64_t pages = 0;
    const double seconds = seconds_of(bench, [&] {
      const HostBuffer fresh(kFreshBytes);
      for (std::uint64_t at = 0; at < kFreshBytes; at += page_bytes) fresh.data()[at] = std::byte{1};
      pages += kFreshBytes / page_bytes;
    });
    std::array<double, 1> faults_per_page{static_cast<double>(*launch::view_page_faults() - before) /
                                          static_cast<double>(pages)};
    bench.ranks.reduce(faults_per_page, launch::RankAggregate::minimum);
    if (faults_per_page[0] < 0.9) return std::nullopt;
    return seconds * static_cast<double>(page_bytes) / static_cast<double>(kFreshBytes);
  };
  tasks.push_back({.point = {.kind = CalibrationKind::page_fault, .bytes = page_bytes},
                   .measure = measure,
                   .needed = false});
}

}  // namespace

MeasuredCalibration measure_calibration(launch::Ranks& ranks, const Clock& clock,
                                        const Identities& identities, const CalibrationRequest& request) {
  const std::uint64_t bytes = up_to(kLocalBytes, request.max_bytes).back();
  CalibrationBench bench{.ranks = ranks,
                         .before_point = request.before_point,
                         .clock = clock,
                         .simulated = request.simulated,
                         .start = clock.seconds(),
                         .from = HostBuffer(bytes),
                         .to = HostBuffer(bytes)};
  // Zeros: a sum of zeros neither overflows nor becomes subnormal, however often it is repeated.
  std::memset(bench.from.data(), 0, bench.from.size());
  std::memset(bench.to.data(), 0, bench.to.size());

  // In simulated time nothing is repeated, so that reading the clock would count.
  if (request.simulated) bench.clock_read_seconds = run_block(bench, 1, [] {});
  const Identity& me = identities.at(static_cast<std::size_t>(ranks.rank()));
  const std::vector<int> per_node = ranks_per_node(identities);
  const int most = *std::ranges::max_element(per_node);
  const int least = *std::ranges::min_element(per_node);
  std::vector<CalibrationTask> tasks;
  Communicator node;
  Communicator firsts;
  Communicator counterparts;
  if (most > 1) {
    node = Communicator::split(MPI_COMM_WORLD, me.node);
    add_shift(tasks, node, CalibrationKind::send_recv_intra, bytes);
    // In simulated time it does not matter where data lie.
    if (!request.simulated) add_shift(tasks, node, CalibrationKind::forward_intra, bytes);
    add_burst(tasks, node, CalibrationKind::burst_intra);
  }
  if (per_node.size() > 1) {
    firsts = Communicator::split(MPI_COMM_WORLD, me.local_rank == 0 ? 0 : MPI_UNDEFINED);
    add_shift(tasks, firsts, CalibrationKind::send_recv_inter, bytes);
    add_burst(tasks, firsts, CalibrationKind::burst_inter);
    // In simulated time both directions go at once.
    if (!request.simulated) add_exchange(tasks, firsts);
    counterparts = Communicator::split(MPI_COMM_WORLD, me.local_rank < least ? me.local_rank : MPI_UNDEFINED);
    add_shift(tasks, counterparts, CalibrationKind::send_recv_inter_all, bytes);
  }
  ReductionOps ops;
  for (const auto& [type, reduction] : request.reductions)
    add_reduce_local(tasks, ops, type, reduction, bytes);
  add_copy(tasks, bytes);
  add_page_fault(tasks);
  return run_calibration_tasks(bench, request.seconds, tasks);
}

}  // namespace collbench::collectives
