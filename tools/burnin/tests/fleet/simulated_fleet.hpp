#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/burnin/attribution/halving.hpp"
#include "tools/burnin/attribution/pair_phase.hpp"

// A fleet that SimGrid simulates (S4U, network model CM02: max-min shares of the links' bandwidths), for the
// burn-in's own scheduler and attribution.

namespace simgrid::s4u {
class Engine;
class Host;
class Link;
}  // namespace simgrid::s4u

namespace collbench::simgrid_test {

/// Each host has a NIC on each rail; a rail is a network of its own: leaf switches below one core, whose
/// uplinks together carry the NICs' rate over `oversubscription`.
struct FleetShape {
  int hosts = 1024;
  int rails = 8;
  int leaf_nodes = 32;
  double oversubscription = 1;
  double nic_rate = 50e9;  ///< bytes per second, each way
};

/// A NIC that sends, or receives, or both, at half.
struct NicFault {
  int node = 0;
  int rail = 0;
  bool sends = true;
  bool receives = true;
};

/// What happens beside the faults.
struct FleetWeather {
  double noise = 0.004;          ///< standard deviation of what is measured, relative (normal)
  double disturbed = 0.05;       ///< share of pairs whose receiver has other traffic while others run
  double disturbance = 0.3;      ///< of a message, at most
  bool disturbed_alone = false;  ///< other traffic also while nothing else of the burn-in runs
  /// What a group makes of its rate, for faults that are no NIC's.
  std::function<double(const analysis::GroupLaunch&)> share{[](const auto&) { return 1.0; }};
  double launch_scatter = 0.1;  ///< standard deviation of the next, relative (normal); of groups
  double launch_seconds = 1;    ///< until the ranks of a launch measure; nobody knows it for a cluster
  double pair_seconds = 3;      ///< that a healthy pair measures
};

/// One engine for all fleets of a process: SimGrid has one.
class SimulatedFleet {
 public:
  SimulatedFleet(int& argc, char** argv, const FleetShape& shape);

  /// What one burn-in took.
  struct Burnin {
    analysis::BurninRecord record;
    int rounds = 0;   ///< launches one after the other, of the rounds
    int repeats = 0;  ///< of repeats in batches
    int alone = 0;
    double simulated_seconds = 0;
  };

  /// The phase "pairs" on a fleet with these faults. One call after the other, from one thread.
  Burnin burn_in(const std::vector<NicFault>& faults, const FleetWeather& weather,
                 const analysis::PairPhaseOptions& options, std::uint64_t seed);

  /// The phase "halving" in its place: AllReduce in rings over all rails, or over the one of a launch.
  Burnin diagnose(const std::vector<NicFault>& faults, const FleetWeather& weather, int at_once,
                  std::uint64_t seed);

 private:
  void simulate(const std::vector<NicFault>& faults, const std::function<void()>& burn_in, Burnin& done);
  struct Nic {
    simgrid::s4u::Host* host = nullptr;
    simgrid::s4u::Link* up = nullptr;
    simgrid::s4u::Link* down = nullptr;
  };
  [[nodiscard]] const Nic& nic(int node, int rail) const;
  [[nodiscard]] simgrid::s4u::Host* storage(int node, int rail) const;
  [[nodiscard]] std::vector<double> seconds_of(const std::vector<analysis::PairOnRail>& pairs, bool back,
                                               double bytes, const std::vector<double>& disturbances) const;

  FleetShape shape_;
  simgrid::s4u::Engine* engine_;
  std::vector<Nic> nics_{};
  std::vector<simgrid::s4u::Host*> storages_{};  ///< by rail, then leaf: where other traffic comes from
};

/// `count` NICs that differ, by chance: at half both ways, as senders or as receivers, in turn.
[[nodiscard]] std::vector<NicFault> drawn_faults(const FleetShape& shape, int count, std::uint64_t seed);

/// Whether `blame` is this fault: its host, rail and direction.
[[nodiscard]] bool names(const analysis::Blame& blame, const NicFault& fault);

}  // namespace collbench::simgrid_test
