#include "src/run/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analysis/report/diff_report.hpp"
#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"
#include "base/units.hpp"
#include "topology/cluster/placement.hpp"
#include "topology/graph/cpu_list.hpp"
#include "topology/graph/host_signature.hpp"
#include "topology/graph/topology_json.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {
namespace {

/// What the first rank of a node found; the other ranks have no hash.
struct FoundHost {
  topology::Host host;
  topology::HostFacts facts;
  std::string hash;
};

/// Whether no lower rank has a machine of that shape.
bool is_first_of_its_shape(const std::vector<std::string>& hashes, int rank) {
  const auto mine = hashes.begin() + rank;
  return std::find(hashes.begin(), mine, *mine) == mine;
}

std::string host_message(const FoundHost& found, bool with_graph) {
  Json message{{"identity", found.facts.identity}};
  if (with_graph) message["graph"] = topology::topology_to_json({{found.host}});
  return json_line(message);
}

topology::ClusterTopology assemble_cluster(launch::OnRoot /*root*/, const Identities& machines,
                                           const std::vector<std::string>& hashes,
                                           const std::vector<std::string>& messages) {
  topology::ClusterTopology cluster;
  std::map<std::string, int> shape_of;
  for (std::size_t rank = 0; rank < hashes.size(); ++rank) {
    if (hashes[rank].empty()) continue;
    const std::string& host = machines[rank].host;
    const nlohmann::json message = parse_json(messages[rank], host);
    const auto [known, is_new] = shape_of.try_emplace(hashes[rank], static_cast<int>(shape_of.size()));
    if (is_new) {
      cluster.distinct_hosts.push_back(
          topology::topology_from_json(JsonReader(message, host).at("graph")).hosts.at(0));
    }
    cluster.nodes.push_back({host, known->second, message.at("identity").get<FactsByDevice>()});
  }
  return cluster;
}

// A variable that is set to nothing hides all GPUs; one that is not set hides none.
std::string variable_message(const char* variable) {
  return variable == nullptr ? std::string() : std::string("=") + variable;
}

const char* variable_of(const std::string& message) {
  return message.empty() ? nullptr : message.c_str() + 1;
}

bool shows_a_gpu(const topology::ClusterTopology& cluster) {
  return std::ranges::any_of(cluster.distinct_hosts,
                             [](const topology::Host& shape) { return !shape.gpus.empty(); });
}

}  // namespace

topology::ClusterTopology gather_cluster(launch::Ranks& ranks, const Identities& machines,
                                         const std::function<topology::Host()>& gather_host) {
  const Identity& mine = machines.at(static_cast<std::size_t>(ranks.rank()));
  FoundHost found;
  launch::agreed(ranks, mine.host, [&] {
    if (mine.local_rank != 0) return;
    found.host = gather_host();
    found.facts = topology::host_facts(found.host);
    found.hash = topology::canonical_hash(found.facts.signature);
  });
  const std::vector<std::string> hashes = ranks.all_gather(found.hash);
  const bool is_first_on_node = !found.hash.empty();
  const std::vector<std::string> messages =
      ranks.gather(is_first_on_node ? host_message(found, is_first_of_its_shape(hashes, ranks.rank())) : "");
  const auto cluster = launch::agree_on_root(ranks, mine.host, [&](launch::OnRoot root) {
    return assemble_cluster(root, machines, hashes, messages);
  });
  return cluster.value_or(topology::ClusterTopology{});
}

std::vector<PlacedRank> gather_placement(launch::Ranks& ranks, const Identities& machines,
                                         const topology::ClusterTopology& cluster,
                                         const char* cuda_visible_devices) {
  if (!launch::broadcast_value(ranks, shows_a_gpu(cluster))) return {};
  const std::vector<std::string> messages = ranks.gather(variable_message(cuda_visible_devices));
  if (!ranks.is_root()) return {};
  std::vector<topology::Host> hosts;
  for (int node = 0; node < static_cast<int>(cluster.nodes.size()); ++node)
    hosts.push_back(topology::node_host(cluster, node));
  std::vector<topology::RankHostView> views;
  for (std::size_t rank = 0; rank < messages.size(); ++rank)
    views.push_back({machines.at(rank), topology::visible_gpus(variable_of(messages[rank]))});
  std::vector<PlacedRank> records;
  for (const topology::RankPlacement& placed : topology::placement(hosts, views)) {
    const int node = machines.at(static_cast<std::size_t>(placed.rank)).node;
    records.push_back(topology::placement_record(placed, hosts.at(static_cast<std::size_t>(node))));
  }
  return records;
}

std::vector<PlacedRank> placement_by_cuda(const std::vector<collectives::VisibleGpu>& gpus) {
  std::vector<PlacedRank> placement;
  for (const collectives::VisibleGpu& gpu : gpus) {
    PlacedRank& placed = placement.emplace_back();
    placed.rank = static_cast<int>(placement.size()) - 1;
    placed.gpu = placed.gpu_address = gpu.address;
  }
  return placement;
}

std::string far_ranks_note(const topology::ClusterTopology& cluster, const Identities& machines,
                           const std::vector<PlacedRank>& placement,
                           const std::vector<std::vector<int>>& cores) {
  std::vector<int> far;
  std::string first;
  for (const PlacedRank& placed : placement) {
    const auto rank = static_cast<std::size_t>(placed.rank);
    const auto& node = cluster.nodes.at(static_cast<std::size_t>(machines.at(rank).node));
    const topology::Host& host = cluster.distinct_hosts.at(static_cast<std::size_t>(node.shape));
    const auto gpu = std::ranges::find_if(host.gpus, [&](const topology::Gpu& each) {
      return each.pci_address.known() && *each.pci_address.value == placed.gpu_address;
    });
    if (gpu == host.gpus.end() || cores.at(rank).empty()) continue;
    const std::vector<int> near = topology::local_cpus(
        host, {topology::DeviceKind::gpu, static_cast<int>(std::distance(host.gpus.begin(), gpu))});
    const bool is_near = std::ranges::any_of(
        cores[rank], [&near](int core) { return std::ranges::find(near, core) != near.end(); });
    if (near.empty() || is_near) continue;
    if (far.empty())
      first =
          fmt::format("rank {} on {} may run on CPUs {}, and {} is at {}", placed.rank, node.host,
                      topology::format_cpu_list(cores[rank]), placed.gpu, topology::format_cpu_list(near));
    far.push_back(placed.rank);
  }
  if (far.empty()) return {};
  const bool is_one = far.size() == 1;
  return fmt::format(
      "rank{} {} {} bound far from {}: {}; latency and copies between host and GPU suffer; bind to the CPUs "
      "that nvidia-smi topo -m lists for the GPU (srun --cpu-bind, mpirun --map-by numa)",
      is_one ? "" : "s", number_ranges(far), is_one ? "is" : "are", is_one ? "its GPU" : "their GPUs", first);
}

std::string own_device(launch::Ranks& ranks, const std::vector<PlacedRank>& placement) {
  std::vector<std::string> names(placement.empty() ? 0 : static_cast<std::size_t>(ranks.size()));
  for (const PlacedRank& placed : placement) {
    std::string& name = names.at(static_cast<std::size_t>(placed.rank));
    name = placed.gpu;
    if (!placed.nic.empty()) name += (name.empty() ? "" : ", ") + placed.nic;
  }
  names = launch::unpacked(launch::broadcast_text(ranks, launch::packed(names)));
  return names.empty() ? "" : names.at(static_cast<std::size_t>(ranks.rank()));
}

ClusterCheck check_cluster(launch::OnRoot /*root*/, const topology::ClusterTopology& cluster,
                           const std::string& expect) {
  const int nodes = static_cast<int>(cluster.nodes.size());
  ClusterCheck check;
  check.lines =
      analysis::cluster_finding_lines(analysis::cluster_findings(cluster, std::nullopt, false), nodes);
  if (expect.empty()) return check;
  const topology::ResolvedMachine machine = topology::resolve_machine(expect);
  const topology::HostGroup expected{machine.only_host(), {expect}};
  const analysis::DiffReport against =
      analysis::cluster_findings(cluster, expected, machine.reference != nullptr);
  const auto lines = analysis::cluster_finding_lines(against, nodes);
  check.lines.insert(check.lines.end(), lines.begin(), lines.end());
  if (against.pairs.empty()) check.lines.push_back("every node matches " + expect);
  check.has_fault = !against.passes();
  return check;
}

}  // namespace collbench::program
