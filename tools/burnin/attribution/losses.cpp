#include "tools/burnin/attribution/blame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "tools/burnin/attribution/blame_words.hpp"

namespace collbench::analysis {
namespace {

/// What the directions of a node lose on one rail, one way.
struct Loss {
  double share = std::numeric_limits<double>::quiet_NaN();  ///< median over partners, of each the median
  int partners = 0;
};

/// By node. `sends`: by what it sends, else by what is sent to it.
std::vector<Loss> losses_by_node(const PairTable& table, int rail, bool sends, bool only_alone) {
  std::vector<std::map<int, std::vector<double>>> of_partner(table.nodes.size());
  for (const RailTime& time : table.times) {
    if (time.rail != rail || !time.resent || (only_alone && !time.alone)) continue;
    of_partner[slot_of(sends ? time.from : time.to)][sends ? time.to : time.from].push_back(*time.resent);
  }
  std::vector<Loss> losses;
  for (const auto& partners : of_partner) {
    std::vector<double> medians;
    for (const auto& [partner, shares] : partners) medians.push_back(median(shares));
    losses.push_back({.partners = static_cast<int>(medians.size())});
    if (!medians.empty()) losses.back().share = median(medians);
  }
  return losses;
}

/// The losses of all nodes on one rail, one way, and the line.
struct RailLosses {
  std::vector<Loss> nodes;
  std::vector<Loss> alone;  ///< of what was measured while nothing else ran
  double line = kLossLine;

  [[nodiscard]] bool loses(int node) const {
    const Loss& loss = nodes[slot_of(node)];
    return loss.partners >= kMinPartners && loss.share > line;
  }
};

RailLosses losses_of(const PairTable& table, int rail, bool sends) {
  RailLosses losses{losses_by_node(table, rail, sends, false), losses_by_node(table, rail, sends, true)};
  std::vector<double> known;
  for (const Loss& loss : losses.nodes) {
    if (loss.partners >= kMinPartners) known.push_back(loss.share);
  }
  if (known.empty()) return losses;
  const double middle = median(known);
  for (double& share : known) share = std::fabs(share - middle);
  constexpr double kSigmas = 6;
  losses.line = std::max(kLossLine, middle + kSigmas * kToSigma * median(known));
  return losses;
}

bool is_named(const Attribution& found, int node, int rail) {
  return std::ranges::any_of(found.blames, [&](const Blame& blame) {
    return blame.nodes == std::vector<int>{node} && blame.rail.value_or(rail) == rail &&
           blame.kind != BlameKind::inside;
  });
}

std::string percent(double share) { return fmt::format("{:.2g} %", 100 * share); }

}  // namespace

void judge_losses(const PairTable& table, Attribution& found) {
  const bool is_measured =
      std::ranges::any_of(table.times, [](const RailTime& time) { return time.resent.has_value(); });
  if (!is_measured) return;
  for (int rail = 0; rail < table.rails; ++rail) {
    const RailLosses out = losses_of(table, rail, true);
    const RailLosses in = losses_of(table, rail, false);
    for (int node = 0; node < static_cast<int>(table.nodes.size()); ++node) {
      const bool sends = out.loses(node);
      const bool receives = in.loses(node);
      if ((!sends && !receives) || is_named(found, node, rail)) continue;
      const std::string& who = table.nodes[slot_of(node)];
      const double line = sends ? out.line : in.line;
      const double share = sends ? out.nodes[slot_of(node)].share : in.nodes[slot_of(node)].share;
      const Loss& alone = (sends ? out : in).alone[slot_of(node)];
      const BlameKind kind = nic_kind(table.rails, sends, receives);
      const std::string measure = fmt::format("{} of what {} is sent again (line {})", percent(share),
                                              sends ? "it sends" : "is sent to it", percent(line));
      found.blames.push_back(
          {.kind = kind,
           .nodes = {node},
           .rail = rail,
           .measure = measure,
           .confirmed = alone.partners >= 2 && alone.share > line,
           .evidence =
               fmt::format("{}{}: TCP sends again {} of its bytes to others and {} of theirs to it, in the "
                           "median of {} partners: a link that loses, which the times need not show",
                           who, table.of_rail(rail), percent(out.nodes[slot_of(node)].share),
                           percent(in.nodes[slot_of(node)].share),
                           std::max(out.nodes[slot_of(node)].partners, in.nodes[slot_of(node)].partners)),
           .next = technician_step(kind, who, rail)});
      NodeVerdict& verdict = found.nodes[slot_of(node)];
      if (verdict.bucket == Bucket::good) verdict = {node, Bucket::suspect, found.blames.back().evidence};
    }
  }
}

}  // namespace collbench::analysis
