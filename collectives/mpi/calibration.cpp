#include "collectives/mpi/calibration.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/statistics.hpp"
#include "base/units.hpp"
#include "collectives/block_timer.hpp"
#include "collectives/mpi/communicator.hpp"
#include "collectives/mpi/host_buffer.hpp"
#include "collectives/mpi/mpi_types.hpp"

namespace collbench {
namespace {

constexpr int kBlocks = 5;
constexpr double kBlockSeconds = 2e-3;
constexpr std::uint64_t kMostIterations = 10'000;
constexpr std::array<std::uint64_t, 8> kMessageBytes{8,         64,         512,  4 * kKiB,
                                                     32 * kKiB, 256 * kKiB, kMiB, 8 * kMiB};
constexpr std::array<std::uint64_t, 5> kLocalBytes{4 * kKiB, 32 * kKiB, 256 * kKiB, kMiB, 8 * kMiB};

/// What every measurement of this file needs.
struct Bench {
  Ranks& ranks;
  const Clock& clock;
  HostBuffer from{kLocalBytes.back()};
  HostBuffer to{kLocalBytes.back()};
};

/// Seconds of one `issue()`: median over blocks of the slowest rank. 0 where the simulator lets no time pass.
template <typename Issue>
double seconds_of(Bench& bench, const Issue& issue) {
  const auto now = [&bench] { return bench.clock.seconds(); };
  const auto block = [&](std::uint64_t iterations) {
    bench.ranks.barrier();
    std::array<double, 1> seconds{time_block(now, iterations, iterations, issue).elapsed_seconds};
    bench.ranks.reduce(seconds, AcrossRanks::maximum);
    return seconds[0] / static_cast<double>(iterations);
  };
  issue();  // sets up connections and touches memory
  std::uint64_t iterations = 1;
  double each = block(iterations);
  while (each > 0 && each * static_cast<double>(iterations) < kBlockSeconds && iterations < kMostIterations) {
    const double fitting = kBlockSeconds / each;
    iterations = static_cast<std::uint64_t>(
        std::clamp(fitting, static_cast<double>(iterations) * 2, static_cast<double>(iterations) * 10));
    each = block(iterations);
  }
  std::vector<double> blocks{each};
  for (int i = 1; i < kBlocks; ++i) blocks.push_back(block(iterations));
  return median(blocks);
}

/// The ring shift among the members of `group`; a rank outside of it (no communicator, or alone) only keeps
/// step.
void add_shift(Bench& bench, const Communicator& group, CalibrationKind kind,
               std::vector<CalibrationPoint>& points) {
  int rank = 0;
  int size = 1;
  if (group.get() != MPI_COMM_NULL) {
    MPI_Comm_rank(group.get(), &rank);
    MPI_Comm_size(group.get(), &size);
  }
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  for (const std::uint64_t bytes : kMessageBytes) {
    std::byte* from = bench.from.data();
    std::byte* to = bench.to.data();
    const double seconds = seconds_of(bench, [&] {
      if (size < 2) return;
      check_mpi(MPI_Sendrecv(from, static_cast<int>(bytes), MPI_BYTE, next, 0, to, static_cast<int>(bytes),
                             MPI_BYTE, before, 0, group.get(), MPI_STATUS_IGNORE),
                "MPI_Sendrecv");
      if (kind == CalibrationKind::forward_intra) std::swap(from, to);
    });
    points.push_back(
        {.kind = kind, .bytes = bytes, .seconds = seconds, .type = std::nullopt, .reduction = std::nullopt});
  }
}

void add_reduce_local(Bench& bench, ReductionOps& ops, DataType type, Reduction reduction,
                      std::vector<CalibrationPoint>& points) {
  for (const std::uint64_t bytes : kLocalBytes) {
    const int count = static_cast<int>(bytes / traits(type).bytes);
    const double seconds = seconds_of(bench, [&] {
      check_mpi(MPI_Reduce_local(bench.from.data(), bench.to.data(), count, mpi_type(type),
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
  for (const std::uint64_t bytes : kLocalBytes) {
    const double seconds = seconds_of(bench, [&] { std::memcpy(bench.to.data(), bench.from.data(), bytes); });
    points.push_back({.kind = CalibrationKind::copy,
                      .bytes = bytes,
                      .seconds = seconds,
                      .type = std::nullopt,
                      .reduction = std::nullopt});
  }
}

}  // namespace

std::vector<CalibrationPoint> measure_calibration(
    Ranks& ranks, const Clock& clock, const Identities& identities,
    const std::vector<std::pair<DataType, Reduction>>& reductions) {
  Bench bench{.ranks = ranks, .clock = clock};
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
  }
  if (per_node.size() > 1) {
    const int first = me.local_rank == 0 ? 0 : MPI_UNDEFINED;
    add_shift(bench, Communicator::split(MPI_COMM_WORLD, first), CalibrationKind::send_recv_inter, points);
    const int everywhere = me.local_rank < least ? me.local_rank : MPI_UNDEFINED;
    add_shift(bench, Communicator::split(MPI_COMM_WORLD, everywhere), CalibrationKind::send_recv_inter_all,
              points);
  }
  ReductionOps ops;
  for (const auto& [type, reduction] : reductions) add_reduce_local(bench, ops, type, reduction, points);
  add_copy(bench, points);
  return points;
}

}  // namespace collbench
