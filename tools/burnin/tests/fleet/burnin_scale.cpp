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

/// How many of the faults are named, and how many other findings or nodes that are not good there are.
struct Score {
  int named = 0;
  int others = 0;
};

Score score_of(const analysis::Attribution& found, const std::vector<NicFault>& faults) {
  Score score;
  for (const NicFault& fault : faults) {
    score.named += std::any_of(found.blames.begin(), found.blames.end(),
                               [&](const auto& blame) { return names(blame, fault); })
                       ? 1
                       : 0;
  }
  for (const analysis::Blame& blame : found.blames) {
    score.others +=
        std::any_of(faults.begin(), faults.end(), [&](const NicFault& fault) { return names(blame, fault); })
            ? 0
            : 1;
  }
  for (const analysis::NodeVerdict& node : found.nodes) {
    const bool has_fault = std::any_of(faults.begin(), faults.end(),
                                       [&](const NicFault& fault) { return fault.node == node.node; });
    score.others += (node.bucket == analysis::Bucket::good) == has_fault ? 1 : 0;
  }
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
      "median (largest) of the seeds\n{:>6} {:>6} {:>8} {:>10} {:>10} {:>10} {:>10} {:>12} {:>9} {:>7}\n",
      "faults", "seeds", "d·log2", "rounds", "repeats", "alone", "all", "minutes", "named", "others");
  bool is_right = true;
  for (const int count : counts) {
    std::vector<double> in_rounds;
    std::vector<double> in_repeats;
    std::vector<double> alone;
    std::vector<double> launches;
    std::vector<double> minutes;
    std::vector<double> percent_off;  // of a diagnosis
    Score all;
    for (int seed = first_seed; seed < first_seed + seeds; ++seed) {
      const auto number = static_cast<std::uint64_t>(seed);
      const std::vector<NicFault> faults = drawn_faults(shape, count, number);
      const SimulatedFleet::Burnin done = diagnose ? fleet.diagnose(faults, weather, options.at_once, number)
                                                   : fleet.burn_in(faults, weather, options, number);
      const analysis::Attribution found = attribute(done.record);
      for (std::size_t i = 0; verbose && i < found.blames.size(); ++i)
        fmt::print("{} ({}): {}\n", name(found.blames[i].kind),
                   found.blames[i].confirmed ? "confirmed" : "not confirmed", found.blames[i].evidence);
      const Score score = score_of(found, faults);
      all.named += score.named;
      all.others += score.others;
      const double predicted = done.record.halving_predicted.seconds;
      if (diagnose) percent_off.push_back(100 * (done.simulated_seconds / predicted - 1));
      if (diagnose && verbose) fmt::print("{}\n", analysis::halving_words(done.record));
      in_rounds.push_back(done.rounds);
      in_repeats.push_back(done.repeats);
      alone.push_back(done.alone);
      launches.push_back(diagnose ? static_cast<double>(done.record.halving.launches)
                                  : done.rounds + done.repeats + done.alone);
      minutes.push_back(done.simulated_seconds / 60);
    }
    is_right = is_right && all.named == count * seeds && all.others == 0;
    const double bound =
        count == 0 ? 0 : count * std::log2(static_cast<double>(shape.hosts) * shape.rails / count);
    fmt::print("{:>6} {:>6} {:>7.0f} {:>10} {:>10} {:>10} {:>10} {:>12} {:>9} {:>7}\n", count, seeds, bound,
               middle_and_most(in_rounds), middle_and_most(in_repeats), middle_and_most(alone),
               middle_and_most(launches), middle_and_most(minutes),
               fmt::format("{}/{}", all.named, count * seeds), all.others);
    if (diagnose) {
      const auto off = std::count_if(percent_off.begin(), percent_off.end(),
                                     [](double percent) { return std::fabs(percent) > 15; });
      is_right = is_right && off == 0;
      const auto [lowest, highest] = std::minmax_element(percent_off.begin(), percent_off.end());
      fmt::print(
          "minutes {:+.0f} to {:+.0f} % of what was predicted after the first launches, {} of {} off by more "
          "than 15 %\n",
          *lowest, *highest, off, seeds);
    }
    std::fflush(stdout);
  }
  fmt::print("{:.1f} s, {:.2f} GB\n", seconds_since(started), peak_gigabytes());
  return is_right ? 0 : 1;
}
