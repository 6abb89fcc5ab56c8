// A burn-in of a fleet that SimGrid simulates: launches one after the other against d·log2(n/d) (of a
// diagnosis by halving also all of them), minutes, and whom the burn-in's own scheduler and attribution name.
// Exits 1 where a fault is not named or somebody else is, or a diagnosis takes 15 % more or less than it
// predicted.

#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "tools/burnin/tests/fleet/simulated_fleet.hpp"

namespace {

using namespace collbench;
using simgrid_test::FleetShape;
using simgrid_test::NicFault;
using simgrid_test::SimulatedFleet;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double peak_gigabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e9;
}

using analysis::BlameKind;
using analysis::GroupLaunch;

bool has(const GroupLaunch& launch, int node) {
  return std::find(launch.nodes.begin(), launch.nodes.end(), node) != launch.nodes.end();
}

/// What a diagnosis has to find, beside NICs: of `nodes`, those that a finding must name.
struct Truth {
  BlameKind kind = BlameKind::host;
  std::vector<int> nodes;
};

/// A fleet's faults.
struct Faults {
  std::vector<NicFault> nics;
  std::vector<Truth> others;

  [[nodiscard]] bool explain(const analysis::Blame& blame) const {
    return std::any_of(nics.begin(), nics.end(),
                       [&](const NicFault& fault) { return names(blame, fault); }) ||
           std::any_of(others.begin(), others.end(),
                       [&](const Truth& truth) { return found_by(blame, truth); });
  }
  [[nodiscard]] static bool found_by(const analysis::Blame& blame, const Truth& truth) {
    return blame.kind == truth.kind && std::all_of(truth.nodes.begin(), truth.nodes.end(), [&](int node) {
             return std::find(blame.nodes.begin(), blame.nodes.end(), node) != blame.nodes.end();
           });
  }
  [[nodiscard]] bool has_node(int node) const {
    return std::any_of(nics.begin(), nics.end(), [&](const NicFault& fault) { return fault.node == node; }) ||
           std::any_of(others.begin(), others.end(),
                       [&](const Truth& truth) { return truth.nodes == std::vector{node}; });
  }
};

/// Of `kind` so many; their hosts and NICs by `seed`.
Faults faults_of(const FleetShape& shape, const std::string& kind, int count, std::uint64_t seed,
                 simgrid_test::FleetWeather& weather) {
  Faults faults;
  const std::vector<NicFault> drawn = drawn_faults(shape, count, seed);
  weather.share = [](const GroupLaunch&) { return 1.0; };
  if (kind == "nic") {
    faults.nics = drawn;
    return faults;
  }
  for (const NicFault& fault : drawn) {
    const int leaf = fault.node / shape.leaf_nodes * shape.leaf_nodes;
    const int other = leaf + (fault.node - leaf + shape.leaf_nodes / 2) % shape.leaf_nodes;
    const int first = fault.node / (2 * shape.leaf_nodes) * 2 * shape.leaf_nodes;
    faults.others.push_back(kind == "host"     ? Truth{BlameKind::host, {fault.node}}
                            : kind == "inside" ? Truth{BlameKind::inside, {fault.node}}
                            : kind == "path"   ? Truth{BlameKind::group, {fault.node, other}}
                                               : Truth{BlameKind::trunk, {first, first + shape.leaf_nodes}});
  }
  weather.share = [others = faults.others, leaf_nodes = shape.leaf_nodes](const GroupLaunch& launch) {
    double share = 1;
    for (const Truth& truth : others) {
      const bool all = std::all_of(truth.nodes.begin(), truth.nodes.end(), [&](int node) {
        return truth.kind == BlameKind::trunk
                   ? std::any_of(launch.nodes.begin(), launch.nodes.end(),
                                 [&](int of) { return of / leaf_nodes == node / leaf_nodes; })
                   : has(launch, node);
      });
      if (all && (truth.kind != BlameKind::host || launch.nodes.size() > 1)) share = 0.6;
    }
    return share;
  };
  return faults;
}

/// How many of the faults are named, and how many other findings or nodes that are not good there are; of
/// these, those that nobody accuses.
struct Score {
  int named = 0;
  int others = 0;
  int unclear = 0;
};

Score score_of(const analysis::Attribution& found, const Faults& faults) {
  Score score;
  const auto is_found = [&](const auto& finds) {
    return std::any_of(found.blames.begin(), found.blames.end(), finds) ? 1 : 0;
  };
  for (const NicFault& fault : faults.nics)
    score.named += is_found([&](const analysis::Blame& blame) { return names(blame, fault); });
  for (const Truth& truth : faults.others)
    score.named += is_found([&](const analysis::Blame& blame) { return Faults::found_by(blame, truth); });
  for (const analysis::Blame& blame : found.blames) score.others += faults.explain(blame) ? 0 : 1;
  for (const analysis::NodeVerdict& node : found.nodes) {
    const bool is_good = node.bucket == analysis::Bucket::good;
    const bool is_unclear = !is_good && node.bucket == analysis::Bucket::not_tested;
    if (is_good == faults.has_node(node.node)) (is_unclear ? score.unclear : score.others) += 1;
  }
  score.unclear += found.doubt.empty() ? 0 : 1;
  return score;
}

std::string middle_and_most(std::vector<double> values) {
  const double most = *std::max_element(values.begin(), values.end());
  return fmt::format("{:.0f} ({:.0f})", median(std::move(values)), most);
}

}  // namespace

int main(int argc, char** argv) {
  FleetShape shape;
  simgrid_test::FleetWeather weather;
  analysis::PairPhaseOptions options;
  options.at_once = 1'000'000;
  std::vector<int> counts{1, 5, 20};
  int seeds = 100;
  int first_seed = 1;
  std::string kind = "nic";
  bool all_alone = false;
  bool verbose = false;
  bool diagnose = false;
  CLI::App app("burn-ins of a simulated fleet");
  app.add_option("--hosts", shape.hosts);
  app.add_option("--rails", shape.rails);
  app.add_option("--leaf-nodes", shape.leaf_nodes);
  app.add_option("--oversubscription", shape.oversubscription);
  app.add_option("--faults", counts, "NICs at half; several numbers, one after the other")->delimiter(',');
  app.add_option("--seeds", seeds);
  app.add_option("--first-seed", first_seed);
  app.add_option("--disturbed", weather.disturbed);
  app.add_option("--noise", weather.noise);
  app.add_option("--launch-seconds", weather.launch_seconds);
  app.add_option("--pair-seconds", weather.pair_seconds);
  app.add_option("--parallel", options.at_once);
  app.add_option("--kind", kind, "of faults: nic; of a diagnosis also host, inside, path, trunk");
  app.add_flag("--disturbed-alone", weather.disturbed_alone);
  app.add_flag("--diagnose", diagnose, "by halving, instead of pairs");
  app.add_flag("--verbose", verbose, "each finding");
  app.add_flag("--all-alone", all_alone, "every retest alone, none in batches");
  CLI11_PARSE(app, argc, argv);
  if (all_alone) options.few_retests = std::string::npos;

  const auto started = std::chrono::steady_clock::now();
  std::vector<int> leaf_of_node;
  for (int node = 0; node < shape.hosts; ++node) leaf_of_node.push_back(node / shape.leaf_nodes);
  const std::size_t rounds = analysis::pair_rounds(shape.hosts, leaf_of_node, options.schedule).size();
  fmt::print("{} hosts, {} rails, {} rounds scheduled in {:.2f} s\n", shape.hosts, shape.rails, rounds,
             seconds_since(started));
  SimulatedFleet fleet(argc, argv, shape);
  fmt::print("platform after {:.1f} s, {:.2f} GB\n", seconds_since(started), peak_gigabytes());
  fmt::print(
      "median (largest) of the seeds\n{:>6} {:>6} {:>8} {:>10} {:>10} {:>10} {:>10} {:>12} {:>9} {:>7} "
      "{:>7}\n",
      "faults", "seeds", "d·log2", "rounds", "repeats", "alone", "all", "minutes", "named", "others",
      "unclear");
  bool is_right = true;
  for (const int count : counts) {
    std::vector<double> in_rounds;
    std::vector<double> in_repeats;
    std::vector<double> alone;
    std::vector<double> launches;
    std::vector<double> minutes;
    std::vector<double> percent_off;  // of a diagnosis
    int in_range = 0;
    Score all;
    for (int seed = first_seed; seed < first_seed + seeds; ++seed) {
      const auto number = static_cast<std::uint64_t>(seed);
      const Faults faults = faults_of(shape, kind, count, number, weather);
      const SimulatedFleet::Burnin done = diagnose
                                              ? fleet.diagnose(faults.nics, weather, options.at_once, number)
                                              : fleet.burn_in(faults.nics, weather, options, number);
      const analysis::Attribution found = attribute(done.record);
      for (std::size_t i = 0; verbose && i < found.blames.size(); ++i)
        fmt::print("{}: {} ({}): {}\n", faults.explain(found.blames[i]) ? "right" : "other",
                   name(found.blames[i].kind), found.blames[i].confirmed ? "confirmed" : "not confirmed",
                   found.blames[i].evidence);
      const Score score = score_of(found, faults);
      all.named += score.named;
      all.others += score.others;
      all.unclear += score.unclear;
      if (verbose && !found.doubt.empty()) fmt::print("not known: {}\n", found.doubt);
      const double predicted = done.record.halving_predicted.seconds;
      if (diagnose) percent_off.push_back(100 * (done.simulated_seconds / predicted - 1));
      const double least =
          done.record.halving_least.rounds > 0 ? done.record.halving_least.seconds : predicted;
      // Those with nothing beside them are in the words of the prediction, and not in its number.
      const auto launches_alone = std::count_if(done.record.groups.begin(), done.record.groups.end(),
                                                [](const analysis::GroupRate& rate) {
                                                  return rate.launch.alone && rate.operation == "all_reduce";
                                                });
      const double beside = done.simulated_seconds - static_cast<double>(launches_alone) *
                                                         (weather.pair_seconds + done.record.start_seconds);
      if (done.simulated_seconds > 0.85 * least && beside < 1.15 * predicted) ++in_range;
      if (diagnose && verbose) fmt::print("{}\n", analysis::halving_words(done.record));
      in_rounds.push_back(done.rounds);
      in_repeats.push_back(done.repeats);
      alone.push_back(diagnose ? static_cast<double>(launches_alone) : done.alone);
      launches.push_back(diagnose ? static_cast<double>(done.record.halving.launches)
                                  : done.rounds + done.repeats + done.alone);
      minutes.push_back(done.simulated_seconds / 60);
    }
    is_right = is_right && all.named == count * seeds && all.others == 0 && all.unclear == 0;
    const double bound =
        count == 0 ? 0 : count * std::log2(static_cast<double>(shape.hosts) * shape.rails / count);
    fmt::print("{:>6} {:>6} {:>7.0f} {:>10} {:>10} {:>10} {:>10} {:>12} {:>9} {:>7} {:>7}\n", count, seeds,
               bound, middle_and_most(in_rounds), middle_and_most(in_repeats), middle_and_most(alone),
               middle_and_most(launches), middle_and_most(minutes),
               fmt::format("{}/{}", all.named, count * seeds), all.others, all.unclear);
    if (diagnose) {
      const auto off = std::count_if(percent_off.begin(), percent_off.end(),
                                     [](double percent) { return std::fabs(percent) > 15; });
      is_right = is_right && off == 0;
      const auto [lowest, highest] = std::minmax_element(percent_off.begin(), percent_off.end());
      fmt::print(
          "minutes {:+.0f} to {:+.0f} % of what was predicted after the first launches, {} of {} off by more "
          "than 15 %; {} within the range that was predicted\n",
          *lowest, *highest, off, seeds, in_range);
    }
    std::fflush(stdout);
  }
  fmt::print("{:.1f} s, {:.2f} GB\n", seconds_since(started), peak_gigabytes());
  return is_right ? 0 : 1;
}
