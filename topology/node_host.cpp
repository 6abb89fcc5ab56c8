#include "topology/node_host.hpp"

#include <concepts>
#include <string>

#include "topology/facts.hpp"
#include "topology/shape_hash.hpp"

namespace collbench {
namespace {

/// Replaces the identities of the shape's first node by those of another; one that is not known of the other
/// is dropped.
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
void take_identities(const Host& shape, DeviceKind kind, std::vector<Item>& items,
                     const FactsByDevice& identity) {
  for (int i = 0; i < static_cast<int>(items.size()); ++i)
    take_identity(items[static_cast<std::size_t>(i)], shape_label(shape, {kind, i}), identity);
}

}  // namespace

Host node_host(const ClusterTopology& cluster, int node) {
  const ClusterNode& mine = cluster.nodes.at(static_cast<std::size_t>(node));
  const Host& shape = cluster.shapes.at(static_cast<std::size_t>(mine.shape));
  Host host = shape;
  take_identity(host, "host", mine.identity);
  take_identities(shape, DeviceKind::gpu, host.gpus, mine.identity);
  take_identities(shape, DeviceKind::nic, host.nics, mine.identity);
  for (int i = 0; i < static_cast<int>(host.nics.size()); ++i) {
    for (NicPort& port : host.nics[static_cast<std::size_t>(i)].ports)
      take_identity(port, shape_label(shape, i, port), mine.identity);
  }
  return host;
}

}  // namespace collbench
