#include "tools/burnin/attribution/pairs/pair_design.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace collbench::analysis {
namespace {

using Partners = std::vector<std::set<int>>;

/// By node 0 or 1, so that no two partners have the same; empty where two do not suffice.
std::vector<int> two_sides(const Partners& partners) {
  std::vector<int> side(partners.size(), -1);
  for (std::size_t start = 0; start < partners.size(); ++start) {
    if (side[start] >= 0) continue;
    side[start] = 0;
    std::vector<int> open{static_cast<int>(start)};
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      for (const int partner : partners[slot_of(node)]) {
        int& of = side[slot_of(partner)];
        if (of == side[slot_of(node)]) return {};
        if (of < 0) {
          of = 1 - side[slot_of(node)];
          open.push_back(partner);
        }
      }
    }
  }
  return side;
}

DesignKind kind_of(const Partners& partners, std::size_t measured, std::size_t pairs, int most) {
  if (10 * pairs >= 9 * (measured * (measured - 1) / 2)) return DesignKind::all_pairs;
  if (pairs + 1 == measured && std::cmp_equal(most, pairs)) return DesignKind::star;
  if (most <= 2 && pairs + 1 == measured) return DesignKind::chain;
  if (most <= 2 && pairs == measured) return DesignKind::ring;
  return two_sides(partners).empty() ? DesignKind::some_pairs : DesignKind::bipartite;
}

}  // namespace

std::vector<std::set<int>> partners_of(const PairTable& table) {
  Partners partners(table.nodes.size());
  for (const RailTime& time : table.times) {
    if (!(time.seconds > 0)) continue;
    partners[slot_of(time.from)].insert(time.to);
    partners[slot_of(time.to)].insert(time.from);
  }
  return partners;
}

std::vector<int> sides_of(const PairTable& table) { return two_sides(partners_of(table)); }

PairDesign pair_design(const PairTable& table) {
  const Partners partners = partners_of(table);
  std::vector<int> degrees;
  for (const std::set<int>& of : partners)
    if (!of.empty()) degrees.push_back(static_cast<int>(of.size()));
  PairDesign design;
  if (degrees.empty()) return design;
  std::ranges::sort(degrees);
  design.fewest = degrees.front();
  design.most = degrees.back();
  design.usual = degrees[degrees.size() / 2];
  const auto pairs = static_cast<std::size_t>(std::accumulate(degrees.begin(), degrees.end(), 0) / 2);
  design.kind = kind_of(partners, degrees.size(), pairs, design.most);
  if (design.kind == DesignKind::star) {
    const auto hub =
        std::ranges::find_if(partners, [pairs](const std::set<int>& of) { return of.size() == pairs; });
    design.reference = static_cast<int>(hub - partners.begin());
  }
  return design;
}

std::string design_words(const PairTable& table, bool has_expected) {
  const auto only_with_expected = [has_expected](const std::string& what) {
    return has_expected ? "" : fmt::format("; that {} slow shows only with --expected", what);
  };
  const PairDesign design = pair_design(table);
  const std::string met = design.fewest == design.most
                              ? fmt::format("{} partners each", design.most)
                              : fmt::format("{} to {} partners each", design.fewest, design.most);
  const std::string elimination =
      "a pair like the others clears both of its nodes, and a slow pair names a node only if the other one "
      "is cleared; two slow neighbors, or a slow path, may not be told apart";
  switch (design.kind) {
    case DesignKind::all_pairs:
      return "all pairs: a slow node can be told from a slow path" + only_with_expected("all are");
    case DesignKind::some_pairs:
      return fmt::format("some pairs, {}: {}", met,
                         design.is_sparse()
                             ? elimination
                             : "a node with three partners or more can be told from a slow path");
    case DesignKind::bipartite:
      return fmt::format(
          "two sides, {}: {}{}", met,
          design.is_sparse() ? elimination : "a slow node can be told from the others of its side",
          only_with_expected("one side as a whole is"));
    case DesignKind::star: {
      const std::string& reference = table.nodes[slot_of(design.reference)];
      return fmt::format(
          "one reference: {} pairs with {}. Which nodes are slower than the others with it can be told, and "
          "not whether by themselves or by their paths{}",
          design.most, reference, only_with_expected(reference + " itself is"));
    }
    case DesignKind::chain:
    case DesignKind::ring:
      return fmt::format("a {}: {}", design.kind == DesignKind::chain ? "chain" : "ring", elimination);
  }
  return {};
}

}  // namespace collbench::analysis
