#include "topology/diff/topology_diff.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "topology/graph/host_signature.hpp"
#include "topology/graph/nics.hpp"

namespace collbench::topology {

std::string group_key(const Host& host) {
  std::vector<std::string> names;
  for (const int nic : nic_order(host))
    names.push_back(host.nics[static_cast<std::size_t>(nic)].name.value_or(""));
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  std::vector<std::ptrdiff_t> ranks;
  ranks.reserve(names.size());
  for (const std::string& name : names)
    ranks.push_back(std::ranges::lower_bound(sorted, name) - sorted.begin());
  // Files that disagree may hide a fault: such a machine is like no other.
  std::string disagreements;
  for (const Disagreement& each : host.disagreements)
    disagreements += fmt::format(" {} {} {} {}", each.device, each.attribute, each.kept, each.other);
  return fmt::format("{} {}{}", canonical_hash(host_facts(host).signature), fmt::join(ranks, " "),
                     disagreements);
}

void HostGroups::add(Host host, std::string name, const std::string& canonical, const std::string& unnamed) {
  const auto [at, is_new] = by_key_.try_emplace(group_key(host), groups_.size());
  const std::string host_name = host.name.value_or(unnamed.empty() ? name : unnamed);
  if (is_new) groups_.push_back({std::move(host), {}});
  groups_[at->second].names.push_back(std::move(name));
  groups_[at->second].hosts.push_back(host_name);
  if (!canonical.empty()) by_canonical_json_.emplace(canonical, at->second);
}

bool HostGroups::add_equal(const std::string& canonical, const std::string& name,
                           const std::string& host_name) {
  const auto found = by_canonical_json_.find(canonical);
  if (found == by_canonical_json_.end()) return false;
  groups_[found->second].names.push_back(name);
  groups_[found->second].hosts.push_back(host_name.empty() ? name : host_name);
  return true;
}

std::vector<HostGroup> HostGroups::take() {
  std::vector<std::size_t> order(groups_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [this](std::size_t x, std::size_t y) {
    return std::pair(groups_[y].names.size(), x) < std::pair(groups_[x].names.size(), y);
  });
  std::vector<HostGroup> sorted;
  for (const std::size_t at : order) sorted.push_back(std::move(groups_[at]));
  groups_.clear();
  by_key_.clear();
  by_canonical_json_.clear();
  return sorted;
}

}  // namespace collbench::topology
