#include "topology/cluster_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "topology/detect.hpp"
#include "topology/shape_hash.hpp"
#include "topology/summarize_host.hpp"

namespace collbench {
namespace {

constexpr std::size_t kMostNames = 4;
constexpr std::size_t kMostDifferences = 3;
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

/// A device that is missing takes its links and its PCI function along: those follow last, if at all.
int weight(const std::string& device) {
  constexpr std::array<std::string_view, 7> kOrder{"GPU", "NIC", "NVSwitch", "NVLink", "NUMA", "host", "PCI"};
  const std::string_view kind = std::string_view(device).substr(0, device.find(' '));
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), kind) - kOrder.begin());
}

std::string what_it_is(const Host& host) {
  const std::vector<ReferenceMatch> matches = nearest_references(host);
  if (matches.empty()) return "no GPU is seen: host memory is measured";
  const ReferenceMatch& match = matches.front();
  if (match.differences.empty()) return fmt::format("like the reference machine {}", match.machine->name);
  return fmt::format("nearest to the reference machine {}: {}", match.machine->name,
                     some_of(match.differences, kMostDifferences, "; "));
}

std::string odd_shape(const std::vector<std::string>& nodes, const Host& odd, const FactsByDevice& usual) {
  return fmt::format("{}: {}", some_of(nodes, kMostNames, ", "),
                     some_of(shape_differences(host_facts(odd).shape, usual), kMostDifferences, "; "));
}

}  // namespace

std::vector<std::string> shape_differences(const FactsByDevice& odd, const FactsByDevice& usual) {
  std::vector<std::pair<int, std::string>> found;
  for (const auto& [device, attributes] : usual) {
    const auto there = odd.find(device);
    if (there == odd.end()) {
      found.emplace_back(weight(device), "no " + device);
      continue;
    }
    for (const auto& [name, value] : attributes) {
      const auto other = there->second.find(name);
      if (other == there->second.end()) {
        found.emplace_back(weight(device),
                           fmt::format("{} has no known {}, usually {}", device, name, value));
      } else if (other->second != value) {
        found.emplace_back(weight(device),
                           fmt::format("{} has {} {} instead of {}", device, name, other->second, value));
      }
    }
  }
  for (const auto& [device, attributes] : odd) {
    const auto there = usual.find(device);
    if (there == usual.end()) {
      found.emplace_back(weight(device), "also " + device);
      continue;
    }
    for (const auto& [name, value] : attributes) {
      if (!there->second.contains(name)) {
        found.emplace_back(weight(device),
                           fmt::format("{} has {} {}, usually not known", device, name, value));
      }
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> words;
  for (auto& [order, text] : found) words.push_back(std::move(text));
  return words;
}

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
  if (cluster.shapes.size() == 1) {
    return {fmt::format("{} nodes, each {}", all, summary), what_it_is(usual),
            "all nodes are built and connected alike"};
  }
  const FactsByDevice usual_shape = host_facts(usual).shape;
  std::vector<std::string> odd;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i != usual_at) odd.push_back(odd_shape(nodes[i], cluster.shapes[i], usual_shape));
  }
  return {fmt::format("{} nodes of {} kinds, {} of them {}", all, cluster.shapes.size(),
                      nodes[usual_at].size(), summary),
          what_it_is(usual), "odd: " + some_of(odd, kMostOddShapes, " | ")};
}

}  // namespace collbench
