#include "src/run/gather_cluster.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "launch/agreement.hpp"
#include "topology/graph/host_signature.hpp"
#include "topology/graph/topology_json.hpp"

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

std::string message_of(const FoundHost& found, bool with_graph) {
  nlohmann::ordered_json message{{"identity", found.facts.identity}};
  if (with_graph) message["graph"] = topology::topology_to_json({{found.host}});
  // A host name may hold any bytes; dumping must not throw for them.
  return message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

topology::ClusterTopology assembled_cluster(launch::OnRoot /*root*/, const Identities& machines,
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

}  // namespace

topology::ClusterTopology gather_cluster(launch::Ranks& ranks, const Identities& machines,
                                         const std::function<topology::Host()>& look) {
  const Identity& mine = machines.at(static_cast<std::size_t>(ranks.rank()));
  FoundHost found;
  launch::agreed(ranks, mine.host, [&] {
    if (mine.local_rank != 0) return;
    found.host = look();
    found.facts = topology::host_facts(found.host);
    found.hash = topology::canonical_hash(found.facts.signature);
  });
  const std::vector<std::string> hashes = ranks.all_gather(found.hash);
  const bool speaks = !found.hash.empty();
  const std::vector<std::string> messages =
      ranks.gather(speaks ? message_of(found, is_first_of_its_shape(hashes, ranks.rank())) : "");
  const auto cluster = launch::agree_on_root(ranks, mine.host, [&](launch::OnRoot root) {
    return assembled_cluster(root, machines, hashes, messages);
  });
  return cluster.value_or(topology::ClusterTopology{});
}

}  // namespace collbench::program
