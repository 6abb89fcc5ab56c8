#include "collectives/mpi/calibration.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>

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

/// What every measurement of this file needs.
struct Bench {
  launch::Ranks& ranks;
  const std::function<void()>& before_point;
  const Clock& clock;
  bool simulated;
  double hurry_after;  ///< this clock's reading from which every point is measured as shortly as can be
  HostBuffer from;
  HostBuffer to;
};

/// Of the sizes those up to what the rows use, rounded up to the next: buffers of more would only cost
/// memory.
std::span<const std::uint64_t> up_to(std::span<const std::uint64_t> sizes, std::uint64_t max_bytes) {
  const std::uint64_t wanted = std::max(max_bytes, kAlwaysBytes);
  const auto end =
      std::find_if(sizes.begin(), sizes.end(), [&](std::uint64_t size) { return size >= wanted; });
  return sizes.first(static_cast<std::size_t>(end - sizes.begin()) + (end == sizes.end() ? 0 : 1));
}

/// How long a block took on the slowest rank, and whether any rank is late already: the same on all ranks.
struct TimedBlock {
  double each = 0;  ///< seconds per iteration
  bool hurry = false;
};

template <typename Issue>
TimedBlock run_block(Bench& bench, std::uint64_t iterations, const Issue& issue) {
  const auto now = [&bench] { return bench.clock.seconds(); };
  bench.ranks.barrier();
  const double elapsed = time_block(now, iterations, iterations, issue).elapsed_seconds;
  std::array<double, 2> slowest{elapsed, now() > bench.hurry_after ? 1.0 : 0.0};
  bench.ranks.reduce(slowest, launch::RankAggregate::maximum);
  return {.each = slowest[0] / static_cast<double>(iterations), .hurry = slowest[1] > 0};
}

/// The shortest of some blocks; of one where a block is long enough to stand for itself, or time is out.
template <typename Issue>
TimedBlock run_pilot(Bench& bench, std::uint64_t iterations, const Issue& issue) {
  TimedBlock shortest = run_block(bench, iterations, issue);
  for (int i = 1; i < kPilots; ++i) {
    if (shortest.hurry || shortest.each * static_cast<double>(iterations) > kPointSeconds / kPilots) break;
    const TimedBlock again = run_block(bench, iterations, issue);
    shortest = {.each = std::min(shortest.each, again.each), .hurry = again.hurry};
  }
  return shortest;
}

/// Seconds of one `issue()`: median over blocks of the slowest rank. 0 where the simulator lets no time pass.
template <typename Issue>
double seconds_of(Bench& bench, const Issue& issue) {
  bench.before_point();
  issue();  // sets up connections and touches memory
  if (bench.simulated) {
    // The barrier lets ranks go at different moments, always the same ones: it cancels in a difference.
    constexpr double kSteps = 16;
    return (run_block(bench, 17, issue).each * 17 - run_block(bench, 1, issue).each) / kSteps;
  }
  std::uint64_t iterations = 1;
  TimedBlock pilot = run_pilot(bench, iterations, issue);
  while (pilot.each * static_cast<double>(iterations) < kBlockSeconds && iterations < kMaxBlockIterations) {
    const double fitting = kBlockSeconds / pilot.each;
    iterations = static_cast<std::uint64_t>(
        std::clamp(fitting, static_cast<double>(iterations) * 2, static_cast<double>(iterations) * 10));
    pilot = run_pilot(bench, iterations, issue);
  }
  std::vector<double> blocks;
  // By what the blocks take, since on a busy machine the pilot may have been too hopeful.
  double left = kPointSeconds;
  bool hurry = pilot.hurry;
  while (blocks.size() < kMinBlocks || (blocks.size() < kMaxBlocks && left > 0 && !hurry)) {
    const TimedBlock block = run_block(bench, iterations, issue);
    blocks.push_back(block.each);
    left -= block.each * static_cast<double>(iterations);
    hurry = block.hurry;
  }
  return median(blocks);
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
double local_seconds_of(Bench& bench, const Issue& issue) {
  return bench.simulated ? 0 : seconds_of(bench, issue);
}

/// The ring shift among the members of `group`; a rank outside of it (no communicator, or alone) only keeps
/// step.
void add_shift(Bench& bench, const Communicator& group, CalibrationKind kind,
               std::vector<CalibrationPoint>& points) {
  const RingPosition ring(group);
  for (const std::uint64_t bytes : up_to(kMessageBytes, bench.from.size())) {
    const int count = static_cast<int>(bytes);
    std::byte* from = bench.from.data();
    std::byte* to = bench.to.data();
    const double seconds = seconds_of(bench, [&] {
      if (ring.alone()) return;
      launch::check_mpi(MPI_Sendrecv(from, count, MPI_BYTE, ring.next(), 0, to, count, MPI_BYTE,
                                     ring.before(), 0, ring.communicator, MPI_STATUS_IGNORE),
                        "MPI_Sendrecv");
      if (kind == CalibrationKind::forward_intra) std::swap(from, to);
    });
    points.push_back(
        {.kind = kind, .bytes = bytes, .seconds = seconds, .type = std::nullopt, .reduction = std::nullopt});
  }
}

/// kBurstMessages of the smallest size at once around the same ring, into a buffer of its own each: how soon
/// the next message can follow.
void add_burst(Bench& bench, const Communicator& group, CalibrationKind kind,
               std::vector<CalibrationPoint>& points) {
  const RingPosition ring(group);
  constexpr int kBytes = static_cast<int>(kMessageBytes.front());
  std::array<MPI_Request, 2UL * kBurstMessages> requests{};
  const double seconds = seconds_of(bench, [&] {
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
  points.push_back(
      {.kind = kind, .bytes = kBytes, .seconds = seconds, .type = std::nullopt, .reduction = std::nullopt});
}

/// Members 0 and 1 of `group`, 2 and 3, … exchange messages that are above any eager limit, without a barrier
/// in between.
void add_exchange(Bench& bench, const Communicator& group, std::vector<CalibrationPoint>& points) {
  if (bench.simulated) return;  // there, both directions go at once
  const RingPosition position(group);
  const int peer = position.rank ^ 1;
  constexpr int kBytes = kAlwaysBytes;
  const double seconds = seconds_of(bench, [&] {
    if (position.alone() || peer >= position.size) return;
    for (int i = 0; i < kExchanges; ++i) {
      launch::check_mpi(MPI_Sendrecv(bench.from.data(), kBytes, MPI_BYTE, peer, 0, bench.to.data(), kBytes,
                                     MPI_BYTE, peer, 0, position.communicator, MPI_STATUS_IGNORE),
                        "MPI_Sendrecv");
    }
  });
  points.push_back({.kind = CalibrationKind::exchange_inter,
                    .bytes = kAlwaysBytes,
                    .seconds = seconds / kExchanges,
                    .type = std::nullopt,
                    .reduction = std::nullopt});
}

void add_reduce_local(Bench& bench, ReductionOps& ops, DataType type, Reduction reduction,
                      std::vector<CalibrationPoint>& points) {
  for (const std::uint64_t bytes : up_to(kLocalBytes, bench.from.size())) {
    const int count = static_cast<int>(bytes / traits(type).bytes);
    const double seconds = local_seconds_of(bench, [&] {
      launch::check_mpi(MPI_Reduce_local(bench.from.data(), bench.to.data(), count, mpi_type(type),
                                         ops.get(type, reduction)),
                        "MPI_Reduce_local");
    });
    points.push_back({.kind = CalibrationKind::reduce_local,
                      .bytes = bytes,
                      .seconds = seconds,
                      .type = type,
                      .reduction = reduction});
  }
}

void add_copy(Bench& bench, std::vector<CalibrationPoint>& points) {
  for (const std::uint64_t bytes : up_to(kLocalBytes, bench.from.size())) {
    const double seconds =
        local_seconds_of(bench, [&] { std::memcpy(bench.to.data(), bench.from.data(), bytes); });
    points.push_back({.kind = CalibrationKind::copy,
                      .bytes = bytes,
                      .seconds = seconds,
                      .type = std::nullopt,
                      .reduction = std::nullopt});
  }
}

/// What a page fault costs on the slowest rank: memory is mapped, touched and given back. No point where huge
/// pages come by themselves on some rank: then a fault is worth what its page is, and pages differ.
void add_page_fault(Bench& bench, std::vector<CalibrationPoint>& points) {
  const auto before = launch::view_page_faults();
  if (!before) return;  // in simulated time
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t pages = 0;
  const double seconds = seconds_of(bench, [&] {
    const HostBuffer fresh(kFreshBytes);
    for (std::uint64_t at = 0; at < kFreshBytes; at += page_bytes) fresh.data()[at] = std::byte{1};
    pages += kFreshBytes / page_bytes;
  });
  std::array<double, 1> faults_per_page{static_cast<double>(*launch::view_page_faults() - *before) /
                                        static_cast<double>(pages)};
  bench.ranks.reduce(faults_per_page, launch::RankAggregate::minimum);
  if (faults_per_page[0] < 0.9) return;
  points.push_back({.kind = CalibrationKind::page_fault,
                    .bytes = page_bytes,
                    .seconds = seconds * static_cast<double>(page_bytes) / static_cast<double>(kFreshBytes),
                    .type = std::nullopt,
                    .reduction = std::nullopt});
}

}  // namespace

std::vector<CalibrationPoint> measure_calibration(launch::Ranks& ranks, const Clock& clock,
                                                  const Identities& identities,
                                                  const CalibrationRequest& request) {
  const std::uint64_t bytes = up_to(kLocalBytes, request.max_bytes).back();
  Bench bench{.ranks = ranks,
              .before_point = request.before_point,
              .clock = clock,
              .simulated = request.simulated,
              .hurry_after = clock.seconds() + request.seconds,
              .from = HostBuffer(bytes),
              .to = HostBuffer(bytes)};
  // Zeros: a sum of zeros neither overflows nor becomes subnormal, however often it is repeated.
  std::memset(bench.from.data(), 0, bench.from.size());
  std::memset(bench.to.data(), 0, bench.to.size());

  const Identity& me = identities.at(static_cast<std::size_t>(ranks.rank()));
  const std::vector<int> per_node = ranks_per_node(identities);
  const int most = *std::max_element(per_node.begin(), per_node.end());
  const int least = *std::min_element(per_node.begin(), per_node.end());
  std::vector<CalibrationPoint> points;
  if (most > 1) {
    const Communicator node = Communicator::split(MPI_COMM_WORLD, me.node);
    add_shift(bench, node, CalibrationKind::send_recv_intra, points);
    add_shift(bench, node, CalibrationKind::forward_intra, points);
    add_burst(bench, node, CalibrationKind::burst_intra, points);
  }
  if (per_node.size() > 1) {
    const Communicator firsts = Communicator::split(MPI_COMM_WORLD, me.local_rank == 0 ? 0 : MPI_UNDEFINED);
    add_shift(bench, firsts, CalibrationKind::send_recv_inter, points);
    add_burst(bench, firsts, CalibrationKind::burst_inter, points);
    add_exchange(bench, firsts, points);
    const int everywhere = me.local_rank < least ? me.local_rank : MPI_UNDEFINED;
    add_shift(bench, Communicator::split(MPI_COMM_WORLD, everywhere), CalibrationKind::send_recv_inter_all,
              points);
  }
  ReductionOps ops;
  for (const auto& [type, reduction] : request.reductions)
    add_reduce_local(bench, ops, type, reduction, points);
  add_copy(bench, points);
  add_page_fault(bench, points);
  return points;
}

}  // namespace collbench::collectives
