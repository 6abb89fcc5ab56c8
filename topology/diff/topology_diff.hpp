#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "topology/diff/finding.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// What two hosts have otherwise. It keeps the match: what a finding costs depends on it.
struct TopologyDiff {
  std::vector<Finding> findings;      ///< the worst first
  std::vector<std::string> versions;  ///< of the tools that answered, where they differ: no finding
};

/// Compares two hosts slot by slot. What only one of them knows is not compared: a source that was not asked
/// is no difference.
[[nodiscard]] HostPair pair_hosts(const Host& a, const Host& b, bool a_is_reference);
[[nodiscard]] TopologyDiff diff_hosts(const HostPair& pair);

/// What was not compared because not both hosts state it of any device: "NIC rates", "PCIe links". What a
/// finding needs to be seen at all; names and versions are not listed.
[[nodiscard]] std::vector<std::string> not_compared(const HostPair& pair);

/// The better host of the pair with this one finding of the worse one: the same machine, but for one fault.
/// Only the attributes that the finding is read from change, and only those of its devices; devices whose
/// slot is empty there are taken away with their links.
[[nodiscard]] Host inject_fault(const HostPair& pair, const Finding& finding);

/// `host` without some of its devices, their PCI functions and what led to them.
[[nodiscard]] Host without_devices(const Host& host, const std::vector<Device>& devices);

/// Machines that are built, cabled and up alike.
struct HostGroup {
  Host first;                           ///< the first that was added
  std::vector<std::string> names;       ///< of all, in the order in which they were added
  std::vector<std::string> hosts = {};  ///< their host names, where they are known, else what stands for them
};

/// Groups machines as they come, and keeps one of each group.
class HostGroups {
 public:
  /// `name` is what reports call it, `unnamed` what stands for its host name where no source names it (empty:
  /// `name`); `canonical` is the canonical_json() of its file, where it has one of its own.
  void add(Host host, std::string name, const std::string& canonical = {}, const std::string& unnamed = {});

  /// Adds a machine to the group of an earlier one with that canonical_json(), unread; false where there is
  /// none. `host_name`: of the host, or what stands for it; empty: `name`.
  [[nodiscard]] bool add_equal(const std::string& canonical, const std::string& name,
                               const std::string& host_name = {});

  /// The largest first: what is usual. Among equals the one that came first.
  [[nodiscard]] std::vector<HostGroup> take();

 private:
  std::vector<HostGroup> groups_;
  std::unordered_map<std::string, std::size_t> by_key_;
  std::unordered_map<std::string, std::size_t> by_canonical_json_;
};

/// Equal on machines that are alike, whatever they and their devices are called; but where names of NICs are
/// permuted over the slots, it differs.
[[nodiscard]] std::string group_key(const Host& host);

}  // namespace collbench::topology
