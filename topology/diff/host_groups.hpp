#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// Machines that are built, cabled and up alike.
struct HostGroup {
  Host first;                      ///< the first that was added
  std::vector<std::string> names;  ///< of all, in the order in which they were added
};

/// Groups machines as they come, and keeps one of each group.
class HostGroups {
 public:
  /// `name` is what reports call it; `shape` is the canonical_json() of its file, where it has one of its
  /// own.
  void add(Host host, std::string name, const std::string& shape = {});

  /// Adds a machine to the group of an earlier one with that canonical_json(), unread; false where there is
  /// none.
  [[nodiscard]] bool add_twin(const std::string& shape, const std::string& name);

  /// The largest first: what is usual. Among equals the one that came first.
  [[nodiscard]] std::vector<HostGroup> take();

 private:
  std::vector<HostGroup> groups_;
  std::unordered_map<std::string, std::size_t> by_key_;
  std::unordered_map<std::string, std::size_t> by_shape_;
};

/// Equal on machines that are alike, whatever they and their devices are called; but where names of NICs are
/// permuted over the slots, it differs.
[[nodiscard]] std::string group_key(const Host& host);

}  // namespace collbench::topology
