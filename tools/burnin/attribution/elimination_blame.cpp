#include "tools/burnin/attribution/blame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/burnin/attribution/blame_words.hpp"
#include "tools/burnin/attribution/pairs/pair_elimination.hpp"

namespace collbench::analysis {

Attribution attribute_by_elimination(const PairTable& table, const PairDesign& design,
                                     double expected_seconds) {
  Attribution found;
  found.effects = pair_effects(table);
  for (int node = 0; std::cmp_less(node, table.nodes.size()); ++node)
    found.nodes.push_back({node, Bucket::good, ""});
  for (int rail = 0; rail < table.rails; ++rail) {
    const PairElimination rail_found = pair_elimination(table, rail);
    found.blind_below = std::max(found.blind_below, rail_found.line);
    const auto add = [&](Blame blame, double more, const std::string& who) {
      blame.rail = rail;
      add_finding(found.blames, std::move(blame), more, rail_found.line, who);
    };
    for (int node = 0; std::cmp_less(node, table.nodes.size()); ++node) {
      const NodeStanding& of = rail_found.nodes[slot_of(node)];
      NodeVerdict& verdict = found.nodes[slot_of(node)];
      const std::string& name = table.nodes[slot_of(node)];
      if (of.standing == Standing::slow) {
        const std::string evidence = fmt::format(
            "{}{}: {}: {} (line {}); the node or its path", name, table.of_rail(rail),
            of.pairs == 1
                ? "its only pair is slow, but the node at its other end is not"
                : fmt::format("all of its {} pairs are slow, but the nodes at their other ends are not",
                              of.pairs),
            percent_slower(of.more), percent_slower(rail_found.line));
        add({.kind = BlameKind::node, .nodes = {node}, .evidence = evidence}, of.more, name);
        verdict = {node, Bucket::suspect, evidence};
      } else if (verdict.bucket == Bucket::good && of.pairs == 0) {
        verdict = {node, Bucket::not_tested, "not measured" + table.of_rail(rail, " on")};
      } else if (verdict.bucket == Bucket::good && of.standing == Standing::unclear) {
        verdict = {node, Bucket::not_tested, "this design cannot tell: " + of.why};
      }
    }
    for (const PairTime& path : rail_found.paths) {
      const std::string who =
          fmt::format("{} and {}", table.nodes[slot_of(path.a)], table.nodes[slot_of(path.b)]);
      add({.kind = BlameKind::path,
           .nodes = {path.a, path.b},
           .evidence = fmt::format("{}{}: {} (line {}) while both are like the others in another pair", who,
                                   table.of_rail(rail), percent_slower(path.log_time),
                                   percent_slower(rail_found.line))},
          path.log_time, who);
    }
  }
  if (design.reference >= 0 && expected_seconds <= 0) {
    found.nodes[slot_of(design.reference)] = {
        design.reference, Bucket::not_tested,
        "this design cannot tell: it is in all pairs, so if it were slow, all of them would be; give "
        "--expected, or measure two others with each other"};
  }
  return found;
}

}  // namespace collbench::analysis
