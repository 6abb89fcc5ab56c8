// The simulator's side of launch/align_barrier_exit.hpp.
#include <array>
#include <simgrid/s4u/Actor.hpp>

#include "launch/align_barrier_exit.hpp"

namespace collbench::launch {

void align_barrier_exit(Ranks& ranks, double now_seconds) {
  std::array<double, 1> last{now_seconds};
  ranks.reduce(last, RankAggregate::maximum);
  // Later than anybody leaves the reduction, which takes simulated microseconds.
  constexpr double kSeconds = 10e-3;
  simgrid::s4u::this_actor::sleep_until(last[0] + kSeconds);
}

}  // namespace collbench::launch
