#include "tools/burnin/attribution/steadiness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/statistics.hpp"

namespace collbench::analysis {
namespace {

constexpr double kMinSlow = 0.0513;  // log 1/0.95
constexpr std::size_t kRepeats = 3;
constexpr double kChance = 0.05;

/// One direction that was measured alone.
struct AloneTime {
  int from = 0;
  int to = 0;
  double excess = 0;  ///< log, over the quick ones of its class

  [[nodiscard]] bool is_of(int node) const { return from == node || to == node; }
};

double lower_quartile(std::vector<double> values) {
  std::ranges::sort(values);
  return values[(values.size() - 1) / 4];
}

std::vector<AloneTime> alone_times_of(const PairTable& table, const PairEffects& effects, int rail) {
  std::array<std::vector<double>, 2> of_class;
  const auto counts = [rail](const RailTime& time) {
    return time.alone && time.seconds > 0 && time.rail == rail;
  };
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    if (counts(table.times[i]))
      of_class.at(slot_of(effects.classes[i])).push_back(std::log(table.times[i].seconds));
  }
  std::array<double, 2> quick{};
  for (std::size_t i = 0; i < quick.size(); ++i) {
    if (!of_class.at(i).empty()) quick.at(i) = lower_quartile(of_class.at(i));
  }
  std::vector<AloneTime> times;
  for (std::size_t i = 0; i < table.times.size(); ++i) {
    const RailTime& time = table.times[i];
    if (counts(time))
      times.push_back({time.from, time.to, std::log(time.seconds) - quick.at(slot_of(effects.classes[i]))});
  }
  return times;
}

/// Without the directions that were slow each time, and often enough to tell: what stays is no part that
/// comes and goes, and a single hiccup of a neighbor must not turn it into one.
std::vector<AloneTime> without_what_stays(const std::vector<AloneTime>& times, double line) {
  std::map<std::pair<int, int>, std::pair<std::size_t, std::size_t>> slow_of;  // of so many
  for (const AloneTime& time : times) {
    auto& [slow, measured] = slow_of[{time.from, time.to}];
    slow += time.excess > line ? 1 : 0;
    ++measured;
  }
  std::vector<AloneTime> rest;
  std::ranges::copy_if(times, std::back_inserter(rest), [&slow_of](const AloneTime& time) {
    const auto& [slow, measured] = slow_of.at({time.from, time.to});
    return slow < measured || measured <= kRepeats;
  });
  return rest;
}

std::optional<UnsteadyPart> unsteady_part(const std::vector<AloneTime>& times, int node, int rail,
                                          double line) {
  UnsteadyPart part{.node = node, .rail = rail, .line = line};
  std::set<int> partners;
  std::set<std::pair<int, int>> slow_directions;
  std::set<std::pair<int, int>> quick_directions;
  std::vector<double> excess;
  for (const AloneTime& time : times) {
    const bool is_slow = time.excess > line;
    if (!time.is_of(node)) {
      if (is_slow) return std::nullopt;
      ++part.without;
      continue;
    }
    ++part.measured;
    (is_slow ? slow_directions : quick_directions).insert({time.from, time.to});
    if (!is_slow) continue;
    ++part.slow;
    (time.from == node ? part.sends : part.receives) = true;
    partners.insert(time.from == node ? time.to : time.from);
    excess.push_back(time.excess);
  }
  part.partners = static_cast<int>(partners.size());
  const bool contradicts_itself = std::ranges::any_of(
      slow_directions, [&](const auto& direction) { return quick_directions.contains(direction); });
  if (part.partners < 2 || part.without < 2 || !contradicts_itself) return std::nullopt;
  part.log_time = median(excess);
  return part;
}

/// How likely it is that all of `slow` are among the `with` of one of `parts` by chance, were they spread
/// over all that were measured: parts × C(with, slow) / C(with + without, slow).
double by_chance(std::size_t parts, int slow, int with, int without) {
  auto chance = static_cast<double>(parts);
  for (int i = 0; i < slow; ++i)
    chance *= static_cast<double>(with - i) / static_cast<double>(with + without - i);
  return chance;
}

/// Both directions of a launch share its moment, so that launches are what chance spreads.
bool is_certain(const UnsteadyPart& part, std::size_t nodes, int rails) {
  const int of_a_launch = part.sends && part.receives ? 2 : 1;
  return by_chance(nodes * slot_of(rails), (part.slow + of_a_launch - 1) / of_a_launch, part.measured / 2,
                   part.without / 2) <= kChance;
}

/// The pairs that tell who of a and b it is, and where (without b: whether it is a).
std::vector<std::pair<int, int>> telling_pairs(int a, std::optional<int> b, const std::vector<int>& good) {
  std::vector<int> partners;
  std::ranges::copy_if(good, std::back_inserter(partners), [&](int node) { return node != a && node != b; });
  if (partners.size() > 2) partners.resize(2);
  std::vector<std::pair<int, int>> pairs;
  if (b) pairs.emplace_back(a, *b);
  // The same node is not in two of them in turn, so that it is met at different times.
  for (std::size_t i = 0; i < partners.size(); ++i) {
    pairs.emplace_back(a, partners[i]);
    if (b) pairs.emplace_back(*b, partners[partners.size() - 1 - i]);
  }
  if (partners.size() == 2) pairs.emplace_back(partners[0], partners[1]);
  return pairs;
}

/// A node, its peer or -1, and the rail.
using Asked = std::tuple<int, int, int>;

/// Whether a direction of it was measured alone more often than once and kRepeats times.
bool is_repeated(const PairTable& table, const Asked& asked) {
  const auto& [node, peer, rail] = asked;
  std::map<std::pair<int, int>, std::size_t> launches;
  for (const RailTime& time : table.times) {
    const bool is_of_it = time.from == node || time.to == node;
    const bool is_of_peer = peer < 0 || time.from == peer || time.to == peer;
    if (time.alone && time.rail == rail && is_of_it && is_of_peer) ++launches[{time.from, time.to}];
  }
  return std::ranges::any_of(launches, [](const auto& direction) { return direction.second > kRepeats; });
}

}  // namespace

std::vector<UnsteadyPart> unsteady_parts(const PairTable& table, const PairEffects& effects) {
  std::vector<UnsteadyPart> parts;
  for (int rail = 0; rail < table.rails; ++rail) {
    const double line = std::max(kMinSlow, line_of_rail(table, effects, rail));
    const std::vector<AloneTime> times = without_what_stays(alone_times_of(table, effects, rail), line);
    std::set<int> slow;  // most nodes are in nothing that was slow alone
    for (const AloneTime& time : times) {
      if (time.excess > line) slow.insert({time.from, time.to});
    }
    for (const int node : slow) {
      auto part = unsteady_part(times, node, rail, line);
      if (!part || by_chance(table.nodes.size(), part->slow, part->measured, part->without) > kChance)
        continue;
      part->certain = is_certain(*part, table.nodes.size(), table.rails);
      parts.push_back(*part);
    }
  }
  return parts;
}

PairTable without_slow_moments(const PairTable& table, const std::vector<UnsteadyPart>& parts) {
  PairTable steady = table;
  for (const UnsteadyPart& part : parts) {
    const auto is_of_it = [&part](const RailTime& time) {
      return time.rail == part.rail && time.seconds > 0 && (time.from == part.node || time.to == part.node);
    };
    std::map<std::pair<int, int>, double> quickest;
    for (const RailTime& time : table.times) {
      if (!is_of_it(time)) continue;
      double& seconds = quickest.try_emplace({time.from, time.to}, time.seconds).first->second;
      seconds = std::min(seconds, time.seconds);
    }
    std::erase_if(steady.times, [&](const RailTime& time) {
      return is_of_it(time) && std::log(time.seconds / quickest.at({time.from, time.to})) > part.line;
    });
  }
  return steady;
}

std::vector<PairOnRail> steadiness_pairs(const PairTable& table, const Attribution& found,
                                         const std::vector<int>& good) {
  std::set<Asked> asked;
  for (const Blame& blame : found.blames) {
    if (blame.kind == BlameKind::path && blame.nodes.size() == 2 && blame.rail)
      asked.insert({blame.nodes[0], blame.nodes[1], *blame.rail});
  }
  for (const Cleared& cleared : found.cleared)
    asked.insert({cleared.node, cleared.peer.value_or(-1), cleared.rail});
  std::erase_if(asked, [&table](const auto& one) { return is_repeated(table, one); });
  if (asked.size() > std::max<std::size_t>(4, table.nodes.size() / 8)) return {};
  // Whoever is asked about is a partner of last resort.
  const auto is_asked = [&asked](int node) {
    return std::ranges::any_of(
        asked, [node](const auto& one) { return std::get<0>(one) == node || std::get<1>(one) == node; });
  };
  std::vector<int> partners;
  std::remove_copy_if(good.begin(), good.end(), std::back_inserter(partners), is_asked);
  std::ranges::copy_if(good, std::back_inserter(partners), is_asked);
  std::vector<PairOnRail> pairs;
  for (std::size_t repeat = 0; repeat < kRepeats; ++repeat) {
    for (const auto& [node, peer, rail] : asked) {
      for (const auto& [a, b] : telling_pairs(node, peer < 0 ? std::nullopt : std::optional(peer), partners))
        pairs.emplace_back(std::minmax(a, b), rail);
    }
  }
  return pairs;
}

}  // namespace collbench::analysis
