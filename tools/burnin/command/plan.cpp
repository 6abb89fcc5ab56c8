#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "tools/burnin/attribution/halving.hpp"
#include "tools/burnin/attribution/pairs/pair_effects.hpp"
#include "tools/burnin/attribution/pairs/pair_schedule.hpp"
#include "tools/burnin/command/forecast.hpp"
#include "tools/burnin/command/gpu_phase.hpp"
#include "tools/burnin/command/launches.hpp"

namespace collbench::program {
namespace {

using analysis::BurninPhase;

double seconds_of_job(const BurninOptions& options, BurninPhase phase) {
  if (phase == BurninPhase::gpus) return gpu_phase_seconds(options);
  const bool forces = phase == BurninPhase::groups || phase == BurninPhase::whole;
  return group_seconds(options, forces ? options.group_algorithms.size() : 0);
}

PhasePlan plan_of_jobs(const BurninOptions& options, BurninPhase phase) {
  std::vector<int> nodes(options.hosts.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  const auto batches = analysis::group_batches(phase, nodes, options.rails, leaves_of(options));
  const std::size_t jobs =
      std::accumulate(batches.begin(), batches.end(), std::size_t{0},
                      [](std::size_t sum, const auto& batch) { return sum + batch.size(); });
  PhasePlan plan{.phase = phase};
  for (const analysis::GroupBatch& batch : batches) {  // --parallel cuts a batch
    const auto at_once = static_cast<std::size_t>(options.parallel);
    plan.rounds += (batch.size() + at_once - 1) / at_once;
  }
  plan.launches = jobs;
  plan.seconds = seconds_of_job(options, phase) * static_cast<double>(plan.rounds);
  plan.doubles_on_gpus = (phase == BurninPhase::groups || phase == BurninPhase::whole) &&
                         options.group_algorithms.empty() && has_phase(options, BurninPhase::nodes);
  plan.text = fmt::format("phase {}: {} in {}, about {}{}\n", name(phase), counted(jobs, "job"),
                          counted(plan.rounds, "round"), format_seconds(plan.seconds),
                          plan.doubles_on_gpus ? " (twice that on GPUs, where ring and tree are forced, too)"
                          : phase == BurninPhase::gpus ? " (only where there are GPUs)"
                                                       : "");
  return plan;
}

/// `seconds`: what --time leaves for them; 0: no bound.
PhasePlan plan_of_pairs(const BurninOptions& options, double seconds) {
  const int hosts = static_cast<int>(options.hosts.size());
  std::vector<analysis::PairRound> rounds = analysis::pair_rounds(hosts, leaves_of(options));
  const std::size_t all_rounds = rounds.size();
  const int at_once = std::min(options.parallel, hosts / 2);
  const int batches = (hosts / 2 + at_once - 1) / at_once;
  const double a_round = options.pair_seconds * options.rails * batches;
  if (options.seconds > 0) rounds = analysis::fitting(std::move(rounds), seconds, a_round);
  const analysis::PairCoverage covered = analysis::coverage(rounds, hosts);
  PhasePlan plan{.phase = BurninPhase::pairs};
  plan.seconds = a_round * static_cast<double>(rounds.size());
  plan.rounds = rounds.size() * static_cast<std::size_t>(options.rails * batches);
  plan.launches = static_cast<std::size_t>(covered.pairs) * static_cast<std::size_t>(options.rails);
  plan.text = fmt::format(
      "phase pairs: {} of {} pairs on {} in {}, about {} at {:g} s a pair and rail, and retests of whoever "
      "is slow\n",
      covered.pairs, covered.all_pairs, counted(options.rails, "rail"), counted(rounds.size(), "round"),
      format_seconds(plan.seconds), options.pair_seconds);
  if (rounds.size() < all_rounds) {
    plan.text += fmt::format(
        "{} do not fit into --time; a host is judged with {} partners, and each gets at least {}\n",
        counted(all_rounds - rounds.size(), "round"), analysis::kMinPartners, covered.fewest_partners);
  }
  constexpr std::size_t kMaxListed = 16;  // hosts
  for (std::size_t i = 0; i < rounds.size() && options.hosts.size() <= kMaxListed; ++i) {
    plan.text += fmt::format("round {}:", i + 1);
    for (const auto& [a, b] : rounds[i]) {
      plan.text += fmt::format(" {}-{}", options.hosts[static_cast<std::size_t>(a)],
                               options.hosts[static_cast<std::size_t>(b)]);
    }
    plan.text += '\n';
  }
  return plan;
}

PhasePlan plan_of_halving(const BurninOptions& options) {
  analysis::BurninRecord record;
  record.table.nodes = options.hosts;
  record.table.rails = options.rails;
  record.table.leaf_of_node = leaves_of(options);
  record.nvlink_nodes = options.nvlink_nodes;
  const auto words = [&options](const analysis::HalvingCost& cost) {
    return fmt::format("{} in {}, about {}", counted(cost.launches, "launch"), counted(cost.rounds, "round"),
                       format_seconds(static_cast<double>(cost.rounds) * group_seconds(options, 0)));
  };
  const analysis::HalvingCost none = analysis::expected_cost(record, {}, options.parallel);
  const analysis::HalvingCost one =
      analysis::expected_cost(record, {static_cast<int>(options.hosts.size()) - 1}, options.parallel);
  PhasePlan plan{.phase = BurninPhase::halving};
  plan.text = fmt::format(
      "diagnosis by halving: {} where all are good, {} where one host is slow; predicted again after the "
      "first launches\n",
      words(none), words(one));
  plan.seconds = static_cast<double>(none.rounds) * group_seconds(options, 0);
  plan.rounds = none.rounds;
  plan.launches = none.launches;
  return plan;
}

}  // namespace

std::vector<PhasePlan> phase_plans(const BurninOptions& options) {
  std::vector<PhasePlan> plans;
  double before_pairs = 0;  // seconds
  for (const BurninPhase phase : analysis::burnin_phases()) {
    if (!has_phase(options, phase)) continue;
    plans.push_back(phase == BurninPhase::pairs
                        ? plan_of_pairs(options, std::max(0.0, options.seconds - before_pairs))
                    : phase == BurninPhase::halving ? plan_of_halving(options)
                                                    : plan_of_jobs(options, phase));
    if (phase != BurninPhase::gpus) before_pairs += plans.back().seconds;
  }
  return plans;
}

std::string plan_of(const BurninOptions& options) {
  PhasePlan all;
  PhasePlan gpus;  // only where there are GPUs
  const std::size_t a_look = options.counters && launches_groups(options) ? options.hosts.size() : 0;
  std::size_t looks = a_look;
  for (const PhasePlan& plan : phase_plans(options)) {
    all.text += plan.text;
    looks += a_look;
    if (plan.phase == BurninPhase::gpus) {
      gpus = plan;
      continue;
    }
    all.seconds += plan.seconds;
    all.rounds += plan.rounds;
    all.launches += plan.launches;
  }
  if (const std::string note = whole_fleet_note(options); !note.empty()) all.text += note + "\n";
  const std::vector<analysis::LeftOutPhase> left_out = phases_left_out(options);
  if (!left_out.empty() && !has_phase(options, BurninPhase::halving))
    all.text += fmt::format("left out: {}\n",
                            fmt::join(std::views::transform(left_out, &analysis::LeftOutPhase::words), ", "));
  all.text += fmt::format(
      "in all about {} of measuring{}, without retests: {} in {}{}; start-up time is known only after the "
      "first{}\n",
      format_seconds(all.seconds),
      gpus.rounds > 0 ? fmt::format(", and {} of phase gpus where there are GPUs ({})",
                                    format_seconds(gpus.seconds), counted(gpus.launches, "launch"))
                      : "",
      counted(all.launches, "launch"), counted(all.rounds, "round"),
      looks > 0 ? fmt::format(", and {} that read error counters", looks) : "",
      options.seconds > 0 && all.seconds > options.seconds
          ? "; more than --time, so the last of it is left out"
          : "");
  return all.text;
}

}  // namespace collbench::program
