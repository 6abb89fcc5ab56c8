// ReduceScatter on host memory: S is what every rank starts with, p blocks.
#include <array>

#include "analysis/models/host/algorithms.hpp"
#include "analysis/models/host/comm_schedules.hpp"
#include "analysis/models/host/loggp_simulator.hpp"

namespace collbench::analysis {
namespace {

/// The library reduces in a copy of the input, in place or not, and copies the rank's block out of it.
LogGpSimulator clock_for(const HostCall& call, double temporary_bytes) {
  const double buffers = call.size_bytes + (call.in_place ? 0 : call.block());
  LogGpSimulator clock(call.model, SentData::forwarded, buffers + call.size_bytes + temporary_bytes);
  clock.work(clock.copy(call.size_bytes));
  return clock;
}

double finish(LogGpSimulator& clock, const HostCall& call) {
  clock.work(clock.copy(call.block()));
  return clock.seconds();
}

double ring(const HostCall& call) {
  LogGpSimulator clock = clock_for(call, 2 * call.block());  // one block arrives while another is reduced
  const Round step = shift(call.model, 1);
  const double reduce = clock.reduce(call.block());
  clock.repeat(step, call.block(), reduce, call.ranks() - 1);
  return finish(clock, call);
}

/// A half with the partner at distance p/2, a quarter at p/4, … or, when `near_first`, at distance 1, 2, ….
/// Guests hand over all they have before.
void halve(LogGpSimulator& clock, const Hypercube& cube, double size, bool near_first) {
  if (cube.has_guests()) clock.exchange(cube.guests_to_hosts(), size, clock.reduce(size));
  double part = size / 2;
  for (int mask = 1; mask < cube.participants(); mask *= 2, part /= 2) {
    const int distance = near_first ? mask : cube.participants() / 2 / mask;
    clock.exchange(cube.exchange(distance), part, clock.reduce(part));
  }
}

double recursive_halving(const HostCall& call) {
  LogGpSimulator clock = clock_for(call, call.size_bytes);
  const Hypercube cube(call.model);
  halve(clock, cube, call.size_bytes, false);
  if (cube.has_guests()) clock.exchange(cube.hosts_to_guests(), call.block());
  return finish(clock, call);
}

/// Halves as well, nearest partner first; the blocks end up at the rank with reversed bits and go home. J. L.
/// Träff, "An Improved Algorithm for (Non-commutative) Reduce-Scatter", EuroPVM/MPI 2005.
double butterfly(const HostCall& call) {
  LogGpSimulator clock = clock_for(call, call.size_bytes);
  const Hypercube cube(call.model);
  halve(clock, cube, call.size_bytes, true);
  clock.exchange(cube.mirror(), call.block());
  if (cube.has_guests()) clock.exchange(cube.hosts_to_guests(), call.block());
  return clock.seconds();
}

/// A binomial reduction to rank 0, which then sends each rank its block.
double non_overlapping(const HostCall& call) {
  LogGpSimulator clock = clock_for(call, call.size_bytes);
  const double reduce = clock.reduce(call.size_bytes);
  for (const Round& round : binomial_rounds(call.model, TreeWay::to_root))
    clock.exchange(round, call.size_bytes, reduce);
  for (const Round& round : linear_rounds(call.model, TreeWay::from_root))
    clock.exchange(round, call.block());
  return finish(clock, call);
}

constexpr std::array<HostAlgorithm, 4> kAlgorithms{{{"non-overlapping", any_ranks, non_overlapping},
                                                    {"recursive_halving", any_ranks, recursive_halving},
                                                    {"ring", any_ranks, ring},
                                                    {"butterfly", any_ranks, butterfly}}};

}  // namespace

std::span<const HostAlgorithm> host_reduce_scatter_algorithms() { return kAlgorithms; }

}  // namespace collbench::analysis
