#include "tools/nccl_plan/report/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text_sinks.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

/// The NICs of the connection from one rank to another: "=3:3=>", "->" where it crosses no NIC that is known.
class NicArrows {
 public:
  explicit NicArrows(const NcclPlan& plan) : plan_(plan) {
    for (const NcclConnection& each : plan.connections) {
      at_[{each.channel, each.from, each.to}] = &each;
    }
  }

  /// Between two ranks of a ring.
  [[nodiscard]] std::string arrow(int channel, int from, int to) const {
    if (plan_.in_one_domain(from, to)) return " ";
    const auto found = at_.find({channel, from, to});
    if (found == at_.end()) return " => ";
    const NcclConnection& each = *found->second;
    return fmt::format(" ={}:{}=> ", number(each.send_nic), number(each.receive_nic));
  }

 private:
  static std::string number(const std::optional<int>& nic) { return nic ? fmt::format("{}", *nic) : "?"; }

  const NcclPlan& plan_;
  std::map<std::tuple<int, int, int>, const NcclConnection*> at_;
};

std::string ring_words(const std::vector<int>& ring, int channel, const NicArrows& nics) {
  if (ring.empty()) return kWayNotKnown;
  std::string text = fmt::format("{}", ring.front());
  for (std::size_t i = 1; i < ring.size(); ++i) {
    text += nics.arrow(channel, ring[i - 1], ring[i]) + fmt::format("{}", ring[i]);
  }
  const std::string back = nics.arrow(channel, ring.back(), ring.front());
  return back == " " ? text : text + back + fmt::format("{}", ring.front());
}

/// A tree from its root down: a rank's children behind it, all but the last in parentheses.
std::string tree_words(const std::vector<int>& parents, int channel, const NicArrows& nics) {
  struct Step {
    int rank;     ///< −1: the end of a branch
    bool branch;  ///< of a rank with other children behind it
  };
  std::vector<std::vector<int>> children(parents.size());
  std::vector<Step> steps;  // still to be written, the next one last
  for (std::size_t rank = 0; rank < parents.size(); ++rank) {
    const int parent = parents[rank];
    if (parent < 0) {
      steps.push_back({static_cast<int>(rank), false});
    } else if (std::cmp_less(parent, parents.size())) {
      children[static_cast<std::size_t>(parent)].push_back(static_cast<int>(rank));
    }
  }
  if (steps.size() != 1) return kWayNotKnown;
  std::string text;
  std::size_t written = 0;
  while (!steps.empty()) {
    const Step step = steps.back();
    steps.pop_back();
    if (step.rank < 0) {
      text += ")";
      continue;
    }
    ++written;
    const int parent = parents[static_cast<std::size_t>(step.rank)];
    const std::string arrow = parent < 0 ? "" : nics.arrow(channel, parent, step.rank);
    text += step.branch ? " (" + arrow.substr(1) : arrow;
    text += fmt::format("{}", step.rank);
    const auto& own = children[static_cast<std::size_t>(step.rank)];
    for (std::size_t i = own.size(); i-- > 0;) {
      const bool branch = i + 1 < own.size();
      if (branch) steps.push_back({-1, false});
      steps.push_back({own[i], branch});
    }
  }
  return written == parents.size() ? text : kWayNotKnown;
}

/// Channels of one way together, in the order of the first of each.
template <class Words>
std::vector<NcclWay> ways_of(std::size_t channels, Words words) {
  std::vector<NcclWay> ways;
  for (std::size_t i = 0; i < channels; ++i) {
    std::string way = words(i);
    auto known = std::ranges::find(ways, way, &NcclWay::words);
    if (known == ways.end()) known = ways.insert(ways.end(), {std::move(way), {}});
    known->channels.push_back(static_cast<int>(i));
  }
  return ways;
}

}  // namespace

std::string channel_rate(double bytes_per_second) {
  return fmt::format("{:.4g}", bytes_per_second / kGigabyte);
}

std::string graph_words(const std::optional<NcclSearchGraph>& graph) {
  if (!graph) return "none";
  return fmt::format(
      "{} × {}/{} GB/s {}/{}{}{}", graph->channels, channel_rate(graph->intra_bytes_per_second),
      channel_rate(graph->inter_bytes_per_second), graph->intra_type, graph->inter_type,
      graph->algorithm == NcclAlgorithm::tree ? fmt::format(" pattern {}", graph->pattern) : "",
      graph->cross_nic > 0 ? fmt::format(" crossNic {}", graph->cross_nic) : "");
}

std::string choice_words(const NcclSelection& choice) {
  if (choice.algorithm.empty()) return "not known";
  return choice.algorithm + (choice.protocol.empty() ? "" : "/" + choice.protocol) +
         (choice.channels > 0 ? fmt::format(" × {}", choice.channels) : "");
}

std::string nccl_plan_title(const NcclPlan& plan) {
  std::string text =
      fmt::format("NCCL {} on {}: {} node{} × {} ({} ranks)", plan.version, plan.machine, plan.nodes,
                  plan.nodes == 1 ? "" : "s", counted(plan.ranks / plan.nodes, "GPU"), plan.ranks);
  for (const auto& [name, value] : plan.settings) text += fmt::format(", {}={}", name, value);
  return one_line(text);
}

std::string channels_that_run(const NcclPlan& plan) {
  return fmt::format("channels that run: {} of rings and trees, {} NVLS, {} p2p ({} per peer)",
                     plan.collective_channels, plan.nvls_channels, plan.p2p_channels,
                     plan.p2p_channels_per_peer);
}

std::string nvls_head_words(const NcclPlan& plan) {
  std::vector<std::string> heads;
  for (const auto& ranks : plan.nvls_heads) heads.push_back(fmt::format("{}", fmt::join(ranks, " ")));
  return fmt::format("NVLS heads, a rank of each node: {}", fmt::join(heads, " | "));
}

std::string nic_words(const NcclPlan& plan) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < plan.nics.size(); ++i) names.push_back(fmt::format("{} {}", i, plan.nics[i]));
  return fmt::format("NICs: {}", fmt::join(names, ", "));
}

std::vector<NcclWay> ring_ways(const NcclPlan& plan) {
  const NicArrows nics(plan);
  return ways_of(plan.rings.size(),
                 [&](std::size_t i) { return ring_words(plan.rings[i], static_cast<int>(i), nics); });
}

std::vector<NcclWay> tree_ways(const NcclPlan& plan) {
  const NicArrows nics(plan);
  return ways_of(plan.tree_parents.size(),
                 [&](std::size_t i) { return tree_words(plan.tree_parents[i], static_cast<int>(i), nics); });
}

}  // namespace collbench::analysis
