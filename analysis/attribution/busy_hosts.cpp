#include "analysis/attribution/busy_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "analysis/attribution/blame_words.hpp"
#include "base/statistics.hpp"

namespace collbench::analysis {
namespace {

constexpr double kMuch = 0.5;

/// The median share of a host's launches that its rank waited for a core, and with how many partners.
struct Waited {
  double share = std::numeric_limits<double>::quiet_NaN();
  std::set<int> partners{};
};

Waited waited_of(const PairTable& table, int node, bool only_alone) {
  Waited waited;
  std::vector<double> shares;
  for (const RailTime& time : table.times) {
    if (time.from != node || !time.waited || (only_alone && !time.alone)) continue;
    shares.push_back(*time.waited);
    waited.partners.insert(time.to);
  }
  if (!shares.empty()) waited.share = median(shares);
  return waited;
}

/// Of its links, or of a path that ends there.
bool is_of_links(const Blame& blame, int node) {
  switch (blame.kind) {
    case BlameKind::nic_transmit:
    case BlameKind::nic_receive:
    case BlameKind::nic:
    case BlameKind::host:
    case BlameKind::node:
    case BlameKind::path:
      return std::find(blame.nodes.begin(), blame.nodes.end(), node) != blame.nodes.end();
    case BlameKind::leaf:
    case BlameKind::rail:
    case BlameKind::trunk:
    case BlameKind::inside:
    case BlameKind::busy:
    case BlameKind::group:
      return false;
  }
  return false;
}

}  // namespace

void judge_busy_hosts(const PairTable& table, Attribution& found) {
  std::vector<Waited> hosts;
  std::vector<double> given;
  for (int node = 0; node < static_cast<int>(table.nodes.size()); ++node) {
    hosts.push_back(waited_of(table, node, false));
    if (!hosts.back().partners.empty()) given.push_back(1 - hosts.back().share);
  }
  if (given.size() <= slot_of(kMinPartners)) return;  // too few to say what is usual
  const double usual = median(given);
  for (int node = 0; node < static_cast<int>(table.nodes.size()); ++node) {
    const Waited& host = hosts[slot_of(node)];
    if (!(host.share > kMuch) || !(1 - host.share < kMuch * usual)) continue;
    const std::string& who = table.nodes[slot_of(node)];
    std::set<int> ends;  // of paths that are taken back
    std::erase_if(found.blames, [&](const Blame& blame) {
      if (!is_of_links(blame, node)) return false;
      ends.insert(blame.nodes.begin(), blame.nodes.end());
      return true;
    });
    const Waited alone = waited_of(table, node, true);
    found.blames.push_back(
        {.kind = BlameKind::busy,
         .nodes = {node},
         .measure = fmt::format("its ranks waited for a core {:.0f} % of the time in which they could run",
                                100 * host.share),
         .confirmed = alone.partners.size() > 1 && alone.share > kMuch,
         .evidence = fmt::format(
             "busy: other processes keep the cores of {}: its ranks had a core for {:.0f} % "
             "of the time in which they could run, those of the median host for {:.0f} %; what its "
             "links carry is not known until it is idle",
             who, 100 * (1 - host.share), 100 * usual),
         .next = technician_step(BlameKind::busy, who, std::nullopt)});
    if (found.nodes[slot_of(node)].bucket != Bucket::not_tested)
      found.nodes[slot_of(node)] = {node, Bucket::suspect, found.blames.back().evidence};
    for (const int end : ends) {
      const bool is_still = std::any_of(found.blames.begin(), found.blames.end(), [end](const Blame& blame) {
        return std::find(blame.nodes.begin(), blame.nodes.end(), end) != blame.nodes.end();
      });
      NodeVerdict& verdict = found.nodes[slot_of(end)];
      if (!is_still && verdict.bucket == Bucket::suspect) verdict = {end, Bucket::good, ""};
    }
  }
}

}  // namespace collbench::analysis
