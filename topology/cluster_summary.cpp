#include "topology/cluster_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "topology/detect.hpp"
#include "topology/summarize_host.hpp"
#include "topology/topology_diff.hpp"

namespace collbench {
namespace {

constexpr std::size_t kMostNames = 4;
constexpr std::size_t kMostDifferences = 3;  // from a reference machine
constexpr std::size_t kMostOddShapes = 3;

/// "n1, n2, n3, n4 and 12 more".
std::string some_of(const std::vector<std::string>& words, std::size_t most, std::string_view separator) {
  const std::vector<std::string> first(
      words.begin(), words.begin() + static_cast<std::ptrdiff_t>(std::min(most, words.size())));
  std::string text = fmt::format("{}", fmt::join(first, separator));
  if (words.size() > most) text += fmt::format(" and {} more", words.size() - most);
  return text;
}

/// The names of the nodes of each shape.
std::vector<std::vector<std::string>> nodes_by_shape(const ClusterTopology& cluster) {
  std::vector<std::vector<std::string>> nodes(cluster.shapes.size());
  for (const ClusterNode& node : cluster.nodes)
    nodes.at(static_cast<std::size_t>(node.shape)).push_back(node.host);
  return nodes;
}

std::string what_it_is(const Host& host) {
  const std::vector<ReferenceMatch> matches = nearest_references(host);
  if (matches.empty()) return "no GPU is seen, so no reference machine is named";
  const ReferenceMatch& match = matches.front();
  if (match.differences.empty()) return fmt::format("like the reference machine {}", match.machine->name);
  return fmt::format("nearest to the reference machine {}: {}", match.machine->name,
                     some_of(match.differences, kMostDifferences, "; "));
}

}  // namespace

std::vector<std::string> cluster_summary(const ClusterTopology& cluster) {
  if (cluster.nodes.empty()) return {};
  const std::vector<std::vector<std::string>> nodes = nodes_by_shape(cluster);
  const auto usual_at = static_cast<std::size_t>(
      std::max_element(nodes.begin(), nodes.end(),
                       [](const auto& a, const auto& b) { return a.size() < b.size(); }) -
      nodes.begin());
  const Host& usual = cluster.shapes[usual_at];
  const std::string summary = summarize_host(usual);
  const std::size_t all = cluster.nodes.size();
  if (all == 1) return {"1 node: " + summary, what_it_is(usual)};
  std::vector<std::string> odd;
  std::size_t alike = nodes[usual_at].size();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i == usual_at) continue;
    // Otherwise in nothing that matters: bus numbers, what one node was not asked.
    if (diff_hosts(pair_hosts(usual, cluster.shapes[i], false)).findings.empty()) {
      alike += nodes[i].size();
    } else {
      odd.push_back(some_of(nodes[i], kMostNames, ", "));
    }
  }
  if (odd.empty()) {
    return {fmt::format("{} nodes, each {}", all, summary), what_it_is(usual),
            "all nodes are built and connected alike"};
  }
  return {fmt::format("{} nodes of {} kinds, {} of them {}", all, odd.size() + 1, alike, summary),
          what_it_is(usual), "odd: " + some_of(odd, kMostOddShapes, " | ")};
}

}  // namespace collbench
