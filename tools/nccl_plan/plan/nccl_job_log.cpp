#include "tools/nccl_plan/plan/nccl_debug_log.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/text_input.hpp"

namespace collbench::analysis {
namespace {

using std::string_view;

/// "0-f000" behind its dash: what is NCCL's own number of a device in its node.
string_view local_id(string_view id) { return id.substr(id.find('-') + 1); }

constexpr std::uint64_t kMaxNics = 1024;

/// A NIC's number: hexadecimal since 2.21 ("%lx"); below ten of them it is the same before.
std::optional<int> nic_number(const std::string& id) {
  if (id.empty()) return std::nullopt;
  const auto number = parse_hex(local_id(id));
  if (!number || *number >= kMaxNics) return std::nullopt;
  return static_cast<int>(*number);
}

struct NodeRanks {
  std::size_t first;
  std::size_t count;
};

/// The ranks of the node that a device is of: by the number before the dash where NVLink joins nodes, which
/// NCCL counts in the order of their ranks; else `own`.
NodeRanks node_of(string_view id, NodeRanks own, std::size_t nodes_per_domain, std::size_t all) {
  if (nodes_per_domain == 1) return own;
  const auto system = parse_hex(id.substr(0, id.find('-')));
  if (!system || *system >= nodes_per_domain) return {0, 0};
  const std::size_t first =
      (own.first / own.count / nodes_per_domain * nodes_per_domain + *system) * own.count;
  return first < all ? NodeRanks{first, std::min(own.count, all - first)} : NodeRanks{0, 0};
}

/// The rank of a GPU by its address, or as it stands there.
std::optional<int> rank_of(const std::string& id, std::span<const NcclRankLog> node, int first_rank) {
  const string_view address = local_id(id);
  if (address.size() == id.size()) {
    const auto rank = parse_integer(id, 0, std::ssize(node) + first_rank - 1);
    return rank ? std::optional(static_cast<int>(*rank)) : std::nullopt;
  }
  const auto found = std::ranges::find(node, address, &NcclRankLog::pci_address);
  if (found == node.end()) return std::nullopt;
  return first_rank + static_cast<int>(found - node.begin());
}

std::vector<NcclSearchGraph> graphs_of(std::span<const NcclRankLog> logs, NodeRanks own,
                                       std::size_t nodes_per_domain) {
  const NcclRankLog& log = logs[own.first];
  std::vector<NcclSearchGraph> graphs = log.graphs;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    for (const NcclGraphDevices& devices : log.graph_devices[i]) {
      NcclGraphChannel channel{nic_number(devices.nic_in), nic_number(devices.nic_out), {}};
      for (const std::string& gpu : devices.gpus) {
        const NodeRanks of = node_of(gpu, own, nodes_per_domain, logs.size());
        const auto rank = rank_of(gpu, logs.subspan(of.first, of.count), static_cast<int>(of.first));
        if (rank) channel.ranks.push_back(*rank);
      }
      graphs[i].channel.push_back(std::move(channel));
    }
  }
  return graphs;
}

/// The ring of a channel from rank 0 on; empty where a rank's successor is not known or it is no ring.
std::vector<int> ring_of(std::span<const NcclRankLog> logs, int channel) {
  std::vector<int> ring;
  int rank = 0;
  do {
    ring.push_back(rank);
    const auto& next = logs[static_cast<std::size_t>(rank)].ring_next;
    const auto found = next.find(channel);
    if (found == next.end() || std::cmp_greater_equal(found->second, logs.size())) return {};
    rank = found->second;
  } while (rank != 0 && ring.size() < logs.size());
  return rank == 0 && ring.size() == logs.size() ? ring : std::vector<int>{};
}

std::vector<int> parents_of(std::span<const NcclRankLog> logs, int channel) {
  std::vector<int> parents;
  for (const NcclRankLog& log : logs) {
    const auto found = log.tree_parent.find(channel);
    if (found == log.tree_parent.end()) return {};
    parents.push_back(found->second);
  }
  return parents;
}

/// What the senders say of their connections, and the receivers of theirs, as one list.
std::vector<NcclConnection> connections_of(std::span<const NcclRankLog> logs) {
  std::vector<NcclConnection> all;
  std::map<std::array<int, 3>, std::size_t> at;
  const auto add = [&](const NcclConnection& each) {
    const auto [found, is_new] = at.try_emplace({each.channel, each.from, each.to}, all.size());
    if (is_new) {
      all.push_back(each);
      return;
    }
    NcclConnection& known = all[found->second];
    // Rings are connected before what else runs between the same ranks: the first line stands.
    if (!known.send_nic && each.send_nic) known.proxy_rank = each.proxy_rank;
    if (!known.send_nic) known.send_nic = each.send_nic;
    if (!known.receive_nic) known.receive_nic = each.receive_nic;
    known.gpu_direct = known.gpu_direct && each.gpu_direct;
  };
  for (const NcclRankLog& log : logs) std::ranges::for_each(log.sends, add);
  for (const NcclRankLog& log : logs) std::ranges::for_each(log.receives, add);
  std::ranges::sort(all, [](const NcclConnection& a, const NcclConnection& b) {
    return std::array{a.channel, a.from, a.to} < std::array{b.channel, b.from, b.to};
  });
  return all;
}

}  // namespace

NcclPlan nccl_plan_of(std::span<const NcclRankLog> logs, int ranks_per_node) {
  if (logs.empty() || logs.front().ranks == 0) {
    throw Error(ExitStatus::not_here, "NCCL's log", "it says nothing of a communicator",
                "see what NCCL says with NCCL_DEBUG=INFO");
  }
  const auto per_node = static_cast<std::size_t>(ranks_per_node);
  NcclPlan plan;
  plan.version = logs.front().version;
  plan.network = logs.front().network;
  plan.nics = logs.front().nics;
  plan.ranks = static_cast<int>(logs.size());
  plan.nodes = static_cast<int>((logs.size() + per_node - 1) / per_node);
  plan.nodes_per_domain = std::max(1, logs.front().clique_ranks / ranks_per_node);
  for (std::size_t first = 0; first < logs.size(); first += per_node) {
    const NodeRanks own{first, std::min(per_node, logs.size() - first)};
    plan.graphs.push_back(graphs_of(logs, own, static_cast<std::size_t>(plan.nodes_per_domain)));
  }
  plan.collective_channels = logs.front().collective_channels;
  plan.nvls_channels = logs.front().nvls_channels;
  plan.p2p_channels = logs.front().p2p_channels;
  plan.p2p_channels_per_peer = logs.front().p2p_channels_per_peer;
  for (int channel = 0; channel < plan.collective_channels; ++channel) {
    plan.rings.push_back(ring_of(logs, channel));
    plan.tree_parents.push_back(parents_of(logs, channel));
  }
  for (const auto& [head, ranks] : logs.front().nvls_heads) plan.nvls_heads.push_back(ranks);
  plan.connections = connections_of(logs);
  plan.tuning = logs.front().tuning;
  for (const NcclRankLog& log : logs) {
    for (const std::string& warning : log.warnings) {
      if (std::ranges::find(plan.warnings, warning) == plan.warnings.end()) {
        plan.warnings.push_back(warning);
      }
    }
  }
  return plan;
}

}  // namespace collbench::analysis
