#include "topology/cluster/cluster_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "base/word_list.hpp"
#include "topology/diff/topology_diff.hpp"
#include "topology/graph/facts.hpp"
#include "topology/graph/host_signature.hpp"
#include "topology/graph/topology_json.hpp"
#include "topology/machines/reference_machines.hpp"
#include "topology/render/render.hpp"

namespace collbench::topology {
namespace {

/// Replaces the identities of the first node of a kind by those of another; one that is not known of the
/// other is dropped.
template <class Item>
void take_identity(Item& item, const std::string& label, const FactsByDevice& identity) {
  const auto mine = identity.find(label);
  each_fact(
      [&]<class T>(const char* name, Fact<T>& fact) {
        if (!is_identity(name)) return;
        fact.value.reset();
        if constexpr (std::same_as<T, std::string>) {
          if (mine == identity.end()) return;
          if (const auto known = mine->second.find(name); known != mine->second.end())
            fact.value = known->second;
        }
      },
      item);
}

template <class Item>
void take_identities(const Host& first, DeviceKind kind, std::vector<Item>& items,
                     const FactsByDevice& identity) {
  for (int i = 0; i < static_cast<int>(items.size()); ++i)
    take_identity(items[static_cast<std::size_t>(i)], canonical_label(first, {kind, i}), identity);
}

constexpr std::size_t kMaxNames = 4;
constexpr std::size_t kMaxDifferences = 3;  // from a reference machine
constexpr std::size_t kMaxOddGroups = 3;

std::vector<std::vector<std::string>> names_by_distinct_host(const ClusterTopology& cluster) {
  std::vector<std::vector<std::string>> nodes(cluster.distinct_hosts.size());
  for (const ClusterNode& node : cluster.nodes)
    nodes.at(static_cast<std::size_t>(node.shape)).push_back(node.host);
  return nodes;
}

std::string nearest_reference_text(const Host& host) {
  const std::vector<ReferenceMatch> matches = nearest_references(host);
  if (matches.empty()) return "no GPU found, so no reference machine matches";
  const ReferenceMatch& match = matches.front();
  if (!match.says_something()) return "only the number of GPUs is known, so no reference machine matches";
  if (match.differences.empty()) return fmt::format("matches the reference machine {}", match.machine->name);
  return fmt::format("nearest to the reference machine {}: {}", match.machine->name,
                     join_first(match.differences, kMaxDifferences, "; "));
}

}  // namespace

Host node_host(const ClusterTopology& cluster, int node) {
  const ClusterNode& mine = cluster.nodes.at(static_cast<std::size_t>(node));
  const Host& first = cluster.distinct_hosts.at(static_cast<std::size_t>(mine.shape));
  Host host = first;
  take_identity(host, "host", mine.identity);
  take_identities(first, DeviceKind::gpu, host.gpus, mine.identity);
  take_identities(first, DeviceKind::nic, host.nics, mine.identity);
  for (int i = 0; i < static_cast<int>(host.nics.size()); ++i) {
    for (NicPort& port : host.nics[static_cast<std::size_t>(i)].ports)
      take_identity(port, canonical_label(first, i, port), mine.identity);
  }
  return host;
}

Cluster cluster_record(const ClusterTopology& cluster) {
  // Keys in alphabetical order, as they come back from a record that was read. A host's name may hold any
  // bytes.
  return {.shapes = nlohmann::json(topology_to_json({cluster.distinct_hosts}))
                        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
          .nodes = cluster.nodes,
          .summary = cluster_summary(cluster)};
}

ClusterTopology read_cluster_record(const Cluster& record, std::string_view file) {
  ClusterTopology cluster{load_topology(record.shapes, file).hosts, record.nodes};
  for (const ClusterNode& node : cluster.nodes) {
    if (std::cmp_less(node.shape, cluster.distinct_hosts.size()) && node.shape >= 0) continue;
    throw usage_error(
        std::string(file),
        fmt::format("node {} refers to distinct host {}, but the record has only {} (numbered from 0)",
                    node.host, node.shape, cluster.distinct_hosts.size()),
        "the record is damaged: measure again");
  }
  return cluster;
}

std::vector<std::string> cluster_summary(const ClusterTopology& cluster) {
  if (cluster.nodes.empty()) return {};
  const std::vector<std::vector<std::string>> nodes = names_by_distinct_host(cluster);
  const auto usual_at = static_cast<std::size_t>(
      std::ranges::max_element(nodes, [](const auto& a, const auto& b) { return a.size() < b.size(); }) -
      nodes.begin());
  const Host& usual = cluster.distinct_hosts[usual_at];
  const std::string summary = summarize_host(usual);
  const std::size_t all = cluster.nodes.size();
  if (all == 1) return {"1 node: " + summary, nearest_reference_text(usual)};
  std::vector<std::string> odd;
  std::size_t alike = nodes[usual_at].size();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i == usual_at) continue;
    // Otherwise in nothing that matters: bus numbers, what one node was not asked.
    if (diff_hosts(pair_hosts(usual, cluster.distinct_hosts[i], false)).findings.empty()) {
      alike += nodes[i].size();
    } else {
      odd.push_back(join_first(nodes[i], kMaxNames));
    }
  }
  if (odd.empty()) {
    return {fmt::format("{} nodes, each {}", all, summary), nearest_reference_text(usual),
            "all nodes are identical"};
  }
  return {fmt::format("{} nodes in {} configurations, {} of them {}", all, odd.size() + 1, alike, summary),
          nearest_reference_text(usual), "outliers: " + join_first(odd, kMaxOddGroups, " | ")};
}

}  // namespace collbench::topology
