#include "src/burnin/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/pairs/pair_effects.hpp"
#include "analysis/attribution/pairs/pair_schedule.hpp"
#include "base/units.hpp"
#include "src/burnin/gpu_phase.hpp"
#include "src/burnin/launches.hpp"

namespace collbench::program {
namespace {

using analysis::BurninPhase;
using analysis::PairRound;

double seconds_of_job(const BurninOptions& options, BurninPhase phase) {
  if (phase == BurninPhase::gpus) return gpu_phase_seconds(options);
  const bool forces = phase == BurninPhase::groups || phase == BurninPhase::whole;
  return group_seconds(options, forces ? options.group_algorithms.size() : 0);
}

/// A line for each phase but pairs, and one for those that are left out.
std::string group_plan(const BurninOptions& options) {
  std::vector<int> nodes(options.hosts.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  std::string text;
  for (const BurninPhase phase : options.phases) {
    if (!has_phase(options, phase) || phase == BurninPhase::pairs) continue;
    const auto batches = analysis::group_batches(phase, nodes, options.rails, leaves_of(options));
    const std::size_t launches =
        std::accumulate(batches.begin(), batches.end(), std::size_t{0},
                        [](std::size_t sum, const auto& batch) { return sum + batch.size(); });
    std::size_t rounds = 0;  // --parallel cuts a batch
    for (const analysis::GroupBatch& batch : batches) {
      const auto at_once = static_cast<std::size_t>(options.parallel);
      rounds += (batch.size() + at_once - 1) / at_once;
    }
    text += fmt::format("phase {}: {} in {}, about {}\n", name(phase), counted(launches, "job"),
                        counted(rounds, "round"),
                        format_seconds(seconds_of_job(options, phase) * static_cast<double>(rounds)));
  }
  const std::vector<std::string> left_out = phases_left_out(options);
  if (!left_out.empty()) text += fmt::format("left out: {}\n", fmt::join(left_out, ", "));
  return text;
}

}  // namespace

std::string plan_of(const BurninOptions& options) {
  const int hosts = static_cast<int>(options.hosts.size());
  std::string text = group_plan(options);
  if (!has_phase(options, BurninPhase::pairs)) return text;
  std::vector<PairRound> rounds = analysis::pair_rounds(hosts, leaves_of(options));
  const std::size_t all_rounds = rounds.size();
  const int at_once = std::min(options.parallel, hosts / 2);
  const int batches = (hosts / 2 + at_once - 1) / at_once;
  const double a_round = options.pair_seconds * options.rails * batches;
  if (options.seconds > 0) rounds = analysis::fitting(std::move(rounds), options.seconds, a_round);
  const analysis::PairCoverage covered = analysis::coverage(rounds, hosts);
  text += fmt::format(
      "{} of {} pairs on {} in {}, about {} at {:g} s a pair and rail, and retests of whoever is slow\n",
      covered.pairs, covered.all_pairs, counted(static_cast<std::size_t>(options.rails), "rail"),
      counted(rounds.size(), "round"), format_seconds(a_round * static_cast<double>(rounds.size())),
      options.pair_seconds);
  if (rounds.size() < all_rounds) {
    text += fmt::format(
        "{} are left out for want of time; a node needs {} partners to be judged, and the least "
        "here has {}\n",
        counted(all_rounds - rounds.size(), "round"), analysis::kMinPartners, covered.fewest_partners);
  }
  for (std::size_t i = 0; i < rounds.size() && options.hosts.size() <= 16; ++i) {
    text += fmt::format("round {}:", i + 1);
    for (const auto& [a, b] : rounds[i]) {
      text += fmt::format(" {}-{}", options.hosts[static_cast<std::size_t>(a)],
                          options.hosts[static_cast<std::size_t>(b)]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace collbench::program
