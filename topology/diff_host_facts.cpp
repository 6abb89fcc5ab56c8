// diff_host_facts() of diff_parts.hpp: the machine itself.
#include <algorithm>

#include "topology/diff_parts.hpp"

namespace collbench {
namespace {

void add_different(FindingList& findings, std::string_view code, std::string_view device,
                   const Fact<std::string>& a, const Fact<std::string>& b) {
  if (!lesser(a, b)) return;
  findings.add_named(code, Side::b, std::string(device), {}, instead(Side::b, a, b, ""));
}

void diff_fabric_manager(const HostPair& pair, FindingList& findings) {
  const Fact<std::string>& a = pair.a.fabric_manager;
  const Fact<std::string>& b = pair.b.fabric_manager;
  if (!lesser(a, b)) return;
  const Side side = *a.value == "active" ? Side::b : Side::a;
  findings.add_named("fabric-manager", side, "fabric manager", {}, instead(side, a, b, ""));
}

/// A module under another name serves as well.
bool has_peer_memory(const Fact<std::string>& module) { return *module.value != "none"; }

/// One cause, read in three places: the module, and what NCCL found of GPUs and NICs.
void diff_gpudirect(const HostPair& pair, FindingList& findings) {
  for (const Side side : {Side::a, Side::b}) {
    std::vector<Twins> without;
    const auto look = [&](const Twins& twins, const auto& in_a, const auto& in_b) {
      const Fact<bool>& mine = side == Side::a ? in_a.gpudirect : in_b.gpudirect;
      const Fact<bool>& theirs = side == Side::a ? in_b.gpudirect : in_a.gpudirect;
      if (mine.known() && theirs.known() && !*mine.value && *theirs.value) without.push_back(twins);
    };
    each_pair(pair, pair.match.gpus, &Host::gpus, look);
    each_pair(pair, pair.match.nics, &Host::nics, look);
    const Fact<std::string>& module = pair.of(side).peer_memory;
    const Fact<std::string>& there = pair.of(other(side)).peer_memory;
    if (module.known() && there.known() && !has_peer_memory(module) && has_peer_memory(there)) {
      findings.add_named("gpudirect-missing", side, "GPUDirect RDMA", without,
                         "no kernel module for it, " + *there.value + " on the other");
    } else if (!without.empty()) {
      findings.add("gpudirect-missing", side, without, "without GPUDirect RDMA");
    }
  }
}

}  // namespace

void diff_host_facts(const HostPair& pair, FindingList& findings) {
  diff_fabric_manager(pair, findings);
  diff_gpudirect(pair, findings);
  add_different(findings, "driver-version", "NVIDIA driver", pair.a.driver_version, pair.b.driver_version);
  // The CUDA version is that of the driver: by itself only where the driver's is not known.
  if (!lesser(pair.a.driver_version, pair.b.driver_version)) {
    add_different(findings, "driver-version", "CUDA of the driver", pair.a.cuda_version, pair.b.cuda_version);
  }
  if (!pair.a_is_reference) add_different(findings, "product", "product", pair.a.product, pair.b.product);
}

}  // namespace collbench
