#include "analysis/models/fabric/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace collbench::analysis {
namespace {

// Hoefler, Schneider, Lumsdaine: Multistage Switches are not Crossbars, IEEE Cluster 2008: statically routed
// networks of full bisection carry 55 to 60 % of it, on average over bisecting patterns.
constexpr double kFixedRouting = 0.575;

Error fabric_error(const std::string& option, std::string_view word) {
  return usage_error(option, fmt::format("'{}' is not known of a fabric", word),
                     "give rail-optimized, fat-tree or rail-only, then leaf=NODES, oversubscription=RATIO, "
                     "routing=adaptive|static|ecmp, flows=N, placement=ordered|random, sharp");
}

/// `text` as a number within the bounds. Throws Error (usage).
double number_of(std::string_view text, double minimum, double maximum, const std::string& option,
                 std::string_view word) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_within = value >= minimum && value <= maximum;  // false for a NaN
  if (failure != std::errc() || end != text.data() + text.size() || !is_within) {
    throw usage_error(option, fmt::format("'{}' has no number from {:g} to {:g}", word, minimum, maximum),
                      "such as leaf=32 or oversubscription=2");
  }
  return value;
}

int whole_number_of(std::string_view text, double maximum, const std::string& option, std::string_view word) {
  const double value = number_of(text, 1, maximum, option, word);
  if (value != std::floor(value)) {
    throw usage_error(option, fmt::format("'{}' is no whole number", word), "such as leaf=32 or flows=4");
  }
  return static_cast<int>(value);
}

/// The words of an option, and what each means.
template <class Value, std::size_t Size>
using Words = std::array<std::pair<std::string_view, Value>, Size>;

constexpr Words<FabricKind, 4> kKinds{{{"rail-optimized", FabricKind::rail_optimized},
                                       {"rail-optimised", FabricKind::rail_optimized},
                                       {"fat-tree", FabricKind::fat_tree},
                                       {"rail-only", FabricKind::rail_only}}};
constexpr Words<Routing, 3> kRoutings{
    {{"adaptive", Routing::adaptive}, {"static", Routing::fixed}, {"ecmp", Routing::ecmp}}};
constexpr Words<bool, 2> kPlacements{{{"ordered", true}, {"random", false}}};

/// False, and nothing set, where `word` is none of the words.
template <class Value, std::size_t Size>
bool set_by_word(Value& value, const Words<Value, Size>& words, std::string_view word) {
  const auto* const found = std::ranges::find(words, word, &std::pair<std::string_view, Value>::first);
  if (found == words.end()) return false;
  value = found->second;
  return true;
}

/// Sets what the word says. What that is, as "leaf" or "kind": a fabric has one of each.
std::string_view set_word(Fabric& fabric, std::string_view word, const std::string& option) {
  const std::size_t sign = word.find('=');
  const std::string_view name = word.substr(0, sign);
  const std::string_view value = sign == std::string_view::npos ? "" : word.substr(sign + 1);
  if (word == "sharp") {
    fabric.sharp = true;
  } else if (name == "leaf") {
    fabric.leaf_nodes = whole_number_of(value, 1e6, option, word);
  } else if (name == "oversubscription") {
    fabric.oversubscription = number_of(value, 1, 1000, option, word);
  } else if (name == "flows") {
    fabric.flows = whole_number_of(value, 1e4, option, word);
  } else if (set_by_word(fabric.kind, kKinds, word)) {
    return "kind";
  } else if (!(name == "routing" && set_by_word(fabric.routing, kRoutings, value)) &&
             !(name == "placement" && set_by_word(fabric.ordered, kPlacements, value))) {
    throw fabric_error(option, word);
  }
  return name;
}

/// NICs of a node that end in the same leaf switch.
int nics_on_leaf(const Fabric& fabric, int nics) {
  return fabric.kind == FabricKind::fat_tree ? std::max(1, nics) : 1;
}

/// Of the peers of a node, those below other leaves.
double part_below_other_leaves(const Fabric& fabric, int nodes, int nics) {
  const int below = leaf_nodes(fabric, nics);
  return nodes > below ? static_cast<double>(nodes - below) / (nodes - 1) : 0;
}

/// What `flows` flows of one NIC's rate each get of the uplinks of one leaf.
double uplink_share(const Fabric& fabric, double flows, int nics, int parts) {
  const double links = leaf_nodes(fabric, nics) * nics_on_leaf(fabric, nics) / fabric.oversubscription;
  if (flows <= 0) return 1;
  const double evenly = std::min(1.0, links / flows);
  switch (fabric.routing) {
    case Routing::adaptive:
      return evenly;
    case Routing::fixed:
      return std::min(1.0, kFixedRouting * links / flows);
    case Routing::ecmp:
      return std::min(evenly, slowest_hashed_share(flows, links, parts));
  }
  return evenly;
}

}  // namespace

Fabric parse_fabric(std::string_view text, const std::string& option) {
  Fabric fabric;
  std::vector<std::string_view> stated;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    const std::string_view meaning = set_word(fabric, word, option);
    if (std::ranges::find(stated, meaning) != stated.end()) {
      throw usage_error(option, fmt::format("'{}' is the second {} of one fabric", word, meaning),
                        "give each of them once");
    }
    stated.push_back(meaning);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  const bool only_sharp = fabric == Fabric{.sharp = true};
  if (fabric.kind == FabricKind::unstated && !only_sharp) {
    throw usage_error(option, fmt::format("'{}' does not say which kind of fabric", text),
                      "begin with rail-optimized, fat-tree or rail-only");
  }
  if (fabric.flows > 1 && fabric.routing != Routing::ecmp) {
    throw usage_error(option, "flows are hashed by ECMP only", "add routing=ecmp, or leave flows out");
  }
  return fabric;
}

std::string words(const Fabric& fabric) {
  constexpr std::array<std::string_view, 4> kKindWords{"no leaf switches told", "rail-optimized", "fat tree",
                                                       "rails that no switch joins"};
  static_assert(kKindWords.size() == static_cast<std::size_t>(FabricKind::rail_only) + 1);
  std::string text(kKindWords.at(static_cast<std::size_t>(fabric.kind)));
  if (fabric.kind != FabricKind::unstated) {
    text += fabric.leaf_nodes > 0 ? fmt::format(", {} nodes a leaf switch", fabric.leaf_nodes)
                                  : ", leaf switches with 32 ports down (assumed)";
    text += fmt::format(", {:g}:1, {}, ", fabric.oversubscription,
                        fabric.ordered ? "ranks in the order of the leaves" : "ranks in any order");
    text += fabric.routing == Routing::adaptive ? "adaptive routing"
            : fabric.routing == Routing::fixed
                ? "static routes"
                : fmt::format("ECMP with {} flow{} a NIC", fabric.flows, fabric.flows == 1 ? "" : "s");
  }
  return fabric.sharp ? text + ", SHARP" : text;
}

double slowest_hashed_share(double flows, double links, int parts) {
  const double mean = flows * parts / links;
  constexpr double kManyParts = 300;  // exp(−mean) is still a number, and the bins are near to normal
  if (mean > kManyParts) {
    const double largest = mean + std::sqrt(2 * mean * std::log(std::max(links, 1.0)));
    return std::min(1.0, parts / largest);
  }
  // E[max] = Σ P(max > c); P(Poisson ≤ c) by the recurrence of its terms.
  double term = std::exp(-mean);
  double below = 0;
  double largest = 0;
  const double bound = std::max(flows * parts, 1.0);
  for (int count = 0; count < bound; ++count) {
    below += term;
    const double more = 1 - std::pow(std::min(below, 1.0), links);
    largest += more;
    term *= mean / (count + 1);
    if (count > mean && more < 1e-9) break;
  }
  return largest <= parts ? 1 : parts / largest;
}

int leaf_nodes(const Fabric& fabric, int nics) {
  constexpr int kPortsDown = 32;
  return fabric.leaf_nodes > 0 ? fabric.leaf_nodes : std::max(1, kPortsDown / nics_on_leaf(fabric, nics));
}

double neighbor_share(const Fabric& fabric, int nodes, int nics) {
  const double outside = part_below_other_leaves(fabric, nodes, nics);
  if (outside <= 0) return 1;
  return neighbor_share(fabric, {.ring = fabric.ordered ? 1 : leaf_nodes(fabric, nics) * outside}, nics);
}

double neighbor_share(const Fabric& fabric, const LeafLoad& load, int nics) {
  if (fabric.kind == FabricKind::unstated) return 1;
  return uplink_share(fabric, load.ring * nics_on_leaf(fabric, nics), nics, fabric.flows);
}

double exchange_share(const Fabric& fabric, const LeafLoad& load, int nics, double peers) {
  if (fabric.kind == FabricKind::unstated) return 1;
  // Every rank has a flow with each of them: many small parts.
  const int parts = static_cast<int>(std::min(1e5, fabric.flows * std::max(1.0, peers)));
  return uplink_share(fabric, load.exchange * nics_on_leaf(fabric, nics), nics, parts);
}

double exchange_share(const Fabric& fabric, int nodes, int nics, int ranks_per_node, bool pxn) {
  double outside = part_below_other_leaves(fabric, nodes, nics);
  const bool crosses_rails = !pxn && fabric.kind == FabricKind::rail_optimized && ranks_per_node > 1;
  if (crosses_rails) outside += (1 - outside) * (ranks_per_node - 1) / ranks_per_node;
  if (outside <= 0) return 1;
  const double below = std::min(leaf_nodes(fabric, nics), nodes);
  return exchange_share(fabric, {.exchange = below * outside}, nics, outside * nodes * ranks_per_node);
}

}  // namespace collbench::analysis
