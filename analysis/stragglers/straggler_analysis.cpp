#include "analysis/stragglers/straggler_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "base/statistics.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr double kChance = 1e-3;       // that a whole run names anybody who is not late
constexpr double kMinSeconds = 10e-6;  // what is less costs nobody much
constexpr double kMinShare = 0.5;      // of what the others take
constexpr double kMinRatio = 1.25;     // of a slow link's time
constexpr double kNotSeen = std::numeric_limits<double>::quiet_NaN();

/// One who may be late (a rank, a host, a link), with an effect per repetition; NaN where it was not probed.
struct Suspect {
  std::vector<int> ranks;
  std::vector<double> effects;
};

double median_effect(const std::vector<double>& effects) {
  std::vector<double> seen;
  std::ranges::copy_if(effects, std::back_inserter(seen), [](double each) { return each == each; });
  return seen.empty() ? 0 : median(std::move(seen));
}

struct Count {
  int seen = 0;
  int of = 0;
};

Count count_of(const Suspect& suspect, double threshold) {
  Count count;
  for (const double effect : suspect.effects) {
    if (effect != effect) continue;
    ++count.of;
    if (effect >= threshold) ++count.seen;
  }
  return count;
}

/// The suspects whose median effect reaches the threshold, and who show it more often than the others' share
/// explains. That share is of all others' repetitions, one hit and one miss added (Laplace): a machine on
/// which everybody is late now and then names nobody. `tests` suspects share the chance (Bonferroni).
std::vector<ProbeFinding> beyond_chance(const std::vector<Suspect>& suspects, double threshold,
                                        std::size_t tests, ProbeFindingKind kind) {
  std::vector<ProbeFinding> findings;
  Count all;
  for (const Suspect& suspect : suspects) {
    const Count count = count_of(suspect, threshold);
    all.seen += count.seen;
    all.of += count.of;
  }
  for (const Suspect& suspect : suspects) {
    const Count own = count_of(suspect, threshold);
    if (own.seen == 0 || median_effect(suspect.effects) < threshold) continue;
    const double others = (all.seen - own.seen + 1.0) / (all.of - own.of + 2.0);
    const boost::math::binomial by_chance(own.of, others);
    const double probability = std::min(
        1.0, static_cast<double>(tests) * boost::math::cdf(boost::math::complement(by_chance, own.seen - 1)));
    if (probability > kChance) continue;
    findings.push_back({.kind = kind,
                        .ranks = suspect.ranks,
                        .seconds = median_effect(suspect.effects),
                        .ratio = median_effect(suspect.effects),
                        .seen = own.seen,
                        .probability = probability,
                        .text = {}});
  }
  return findings;
}

/// Of each rank, how much longer than the quickest pair of the same kind its own quickest pair takes: a late
/// rank has no quick partner. Kinds: within a host, and across.
std::vector<double> message_effects(const ProbeRepetition& repetition, const Identities& ranks) {
  std::vector<double> effects(ranks.size(), kNotSeen);
  const auto node = [&](int rank) { return ranks[static_cast<std::size_t>(rank)].node; };
  for (const bool across : {false, true}) {
    double quickest = std::numeric_limits<double>::infinity();
    int pairs = 0;
    for (const PairTime& pair : repetition.latencies) {
      if ((node(pair.from) != node(pair.to)) != across) continue;
      quickest = std::min(quickest, pair.seconds);
      ++pairs;
    }
    if (pairs < 2) continue;  // nothing to compare with
    for (const PairTime& pair : repetition.latencies) {
      if ((node(pair.from) != node(pair.to)) != across) continue;
      for (const int rank : {pair.from, pair.to}) {
        double& effect = effects[static_cast<std::size_t>(rank)];
        const double longer = pair.seconds - quickest;
        effect = effect == effect ? std::min(effect, longer) : longer;
      }
    }
  }
  return effects;
}

/// What a quick message takes, over all repetitions.
double quick_message_seconds(const std::vector<ProbeRepetition>& repetitions) {
  std::vector<double> quickest;
  for (const ProbeRepetition& repetition : repetitions) {
    std::vector<double> seconds;
    for (const PairTime& pair : repetition.latencies) seconds.push_back(pair.seconds);
    if (!seconds.empty()) quickest.push_back(*std::ranges::min_element(seconds));
  }
  return quickest.empty() ? 0 : median(std::move(quickest));
}

std::vector<Suspect> rank_suspects(const std::vector<ProbeRepetition>& repetitions, std::size_t ranks,
                                   const std::function<double(const ProbeRepetition&, std::size_t)>& effect) {
  std::vector<Suspect> suspects(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    suspects[rank].ranks = {static_cast<int>(rank)};
    for (const ProbeRepetition& repetition : repetitions) {
      suspects[rank].effects.push_back(effect(repetition, rank));
    }
  }
  return suspects;
}

/// Time over the quickest of the repetition, by pair of hosts' first ranks.
std::map<std::pair<int, int>, std::vector<double>> transfer_ratios(
    const std::vector<ProbeRepetition>& repetitions) {
  std::map<std::pair<int, int>, std::vector<double>> ratios;
  for (std::size_t i = 0; i < repetitions.size(); ++i) {
    double quickest = std::numeric_limits<double>::infinity();
    for (const PairTime& pair : repetitions[i].transfers) quickest = std::min(quickest, pair.seconds);
    for (const PairTime& pair : repetitions[i].transfers) {
      auto& own = ratios[{pair.from, pair.to}];
      own.resize(repetitions.size(), kNotSeen);
      own[i] = pair.seconds / quickest;
    }
  }
  return ratios;
}

/// A host is slow to send when its quickest transfer out is slow: whichever partner, it takes longer.
std::vector<Suspect> host_suspects(const std::map<std::pair<int, int>, std::vector<double>>& ratios,
                                   bool sends) {
  std::map<int, Suspect> by_host;
  for (const auto& [pair, effects] : ratios) {
    Suspect& suspect = by_host[sends ? pair.first : pair.second];
    suspect.ranks = {sends ? pair.first : pair.second};
    suspect.effects.resize(effects.size(), kNotSeen);
    for (std::size_t i = 0; i < effects.size(); ++i) {
      double& own = suspect.effects[i];
      if (effects[i] == effects[i]) own = own == own ? std::min(own, effects[i]) : effects[i];
    }
  }
  std::vector<Suspect> suspects;
  for (auto& [host, suspect] : by_host) suspects.push_back(std::move(suspect));
  return suspects;
}

std::string rank_name(int rank, const Identities& ranks) {
  return fmt::format("rank {} on {}", rank, ranks[static_cast<std::size_t>(rank)].host);
}

std::string host_of(int rank, const Identities& ranks) { return ranks[static_cast<std::size_t>(rank)].host; }

std::string seen_count(const ProbeFinding& finding, std::size_t repetitions) {
  return fmt::format("seen in {} of {} probes", finding.seen, repetitions);
}

/// Both ways of being late, each rank once.
void add_late_ranks(RankProbe& probe, const std::vector<ProbeRepetition>& repetitions,
                    const Identities& ranks, std::size_t tests) {
  std::vector<std::vector<double>> messages;
  messages.reserve(repetitions.size());
  for (const ProbeRepetition& repetition : repetitions)
    messages.push_back(message_effects(repetition, ranks));
  const auto entries =
      rank_suspects(repetitions, ranks.size(),
                    [](const ProbeRepetition& each, std::size_t rank) { return each.entry_seconds[rank]; });
  const auto partners =
      rank_suspects(repetitions, ranks.size(), [&](const ProbeRepetition& each, std::size_t rank) {
        return messages[static_cast<std::size_t>(&each - repetitions.data())][rank];
      });
  std::vector<double> inside;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<double> own;
    for (const ProbeRepetition& each : repetitions) own.push_back(each.inside_seconds[rank]);
    inside.push_back(median(std::move(own)));
    probe.ranks.push_back({.rank = static_cast<int>(rank),
                           .entry_seconds = median_effect(entries[rank].effects),
                           .inside_seconds = inside.back(),
                           .message_seconds = median_effect(partners[rank].effects)});
  }
  const double least = std::max(kMinSeconds, 2 * probe.clock_uncertainty_seconds);
  for (ProbeFinding& finding : beyond_chance(entries, least, tests, ProbeFindingKind::late_rank)) {
    finding.ratio = 0;
    finding.text = fmt::format(
        "{} is a straggler: it enters {} after the others, and every collective call waits for it ({})",
        rank_name(finding.ranks[0], ranks), format_seconds(finding.seconds),
        seen_count(finding, repetitions.size()));
    probe.findings.push_back(std::move(finding));
  }
  const double message = std::max(kMinSeconds, kMinShare * quick_message_seconds(repetitions));
  for (ProbeFinding& finding : beyond_chance(partners, message, tests, ProbeFindingKind::late_rank)) {
    const auto known = std::ranges::find(probe.findings, finding.ranks, &ProbeFinding::ranks);
    if (known != probe.findings.end()) continue;
    finding.ratio = 0;
    finding.text =
        fmt::format("{} adds {} to every message, whichever the peer: the rank itself is slow ({})",
                    rank_name(finding.ranks[0], ranks), format_seconds(finding.seconds),
                    seen_count(finding, repetitions.size()));
    probe.findings.push_back(std::move(finding));
  }
}

std::string format_cost(double ratio) {
  return fmt::format("its transfers run at {:.0f} % of the rate of the others", 100 / ratio);
}

/// Whole hosts first; then single links that no slow host explains. Between two hosts only the direction is
/// known.
void add_slow_links(RankProbe& probe, const std::vector<ProbeRepetition>& repetitions,
                    const Identities& ranks, std::size_t tests) {
  const auto ratios = transfer_ratios(repetitions);
  std::vector<Suspect> links;
  for (const auto& [pair, effects] : ratios) links.push_back({{pair.first, pair.second}, effects});
  std::vector<ProbeFinding> found;
  if (links.size() > 2) {
    for (const bool sends : {true, false}) {
      for (ProbeFinding& finding :
           beyond_chance(host_suspects(ratios, sends), kMinRatio, tests,
                         sends ? ProbeFindingKind::slow_sender : ProbeFindingKind::slow_receiver)) {
        finding.text = fmt::format("{} is slow to {} with every peer: {} ({})",
                                   host_of(finding.ranks[0], ranks), sends ? "send" : "receive",
                                   format_cost(finding.ratio), seen_count(finding, repetitions.size()));
        found.push_back(std::move(finding));
      }
    }
  }
  std::erase_if(links, [&](const Suspect& link) {
    return std::ranges::any_of(found, [&](const ProbeFinding& host) {
      return host.ranks[0] == link.ranks[host.kind == ProbeFindingKind::slow_sender ? 0 : 1];
    });
  });
  for (ProbeFinding& finding : beyond_chance(links, kMinRatio, tests, ProbeFindingKind::slow_link)) {
    finding.text = fmt::format("the link from {} to {} is slow{}: {} ({})", host_of(finding.ranks[0], ranks),
                               host_of(finding.ranks[1], ranks),
                               ratios.size() == 2 ? ", but the reverse direction is not"
                                                  : ", but the other links of both hosts are not",
                               format_cost(finding.ratio), seen_count(finding, repetitions.size()));
    found.push_back(std::move(finding));
  }
  for (ProbeFinding& finding : found) {
    finding.seconds = 0;
    probe.findings.push_back(std::move(finding));
  }
}

}  // namespace

RankProbe straggler_findings(const std::vector<ProbeRepetition>& repetitions, const Identities& ranks) {
  RankProbe probe;
  probe.repetitions = static_cast<int>(repetitions.size());
  if (repetitions.empty()) return probe;
  std::vector<double> uncertainties;
  std::size_t links = 0;
  for (const ProbeRepetition& each : repetitions) {
    uncertainties.push_back(each.clock_uncertainty_seconds);
    links = std::max(links, each.transfers.size());
  }
  probe.clock_uncertainty_seconds = median(std::move(uncertainties));
  const auto hosts = static_cast<std::size_t>(node_count(ranks));
  const std::size_t tests = 2 * ranks.size() + 2 * hosts + links;
  add_late_ranks(probe, repetitions, ranks, tests);
  add_slow_links(probe, repetitions, ranks, tests);
  return probe;
}

}  // namespace collbench::analysis
