#pragma once
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/record/identities.hpp"
#include "launch/ranks.hpp"
#include "topology/cluster/cluster_topology.hpp"
#include "topology/doctor/checks.hpp"

// What the doctor finds on the hosts of a run before anything is measured.

namespace collbench::program {

/// One finding, and the hosts that have it with what was seen on the first of them.
struct HostFinding {
  std::string code;
  topology::DoctorSeverity severity = topology::DoctorSeverity::slow;
  std::string seen;
  std::vector<std::string> hosts;

  bool operator==(const HostFinding&) const = default;
};

/// What breaks or slows jobs on a host, as far as files of the kernel, the environment and `host` tell; no
/// risks. Of what concerns GPUs and NCCL only where `on_gpus`.
[[nodiscard]] std::vector<HostFinding> findings_here(const topology::Host& host, const std::string& name,
                                                     bool on_gpus);

/// The machines of a run (gather_cluster() of cluster.hpp), and of all hosts what the doctor finds, the worst
/// first; both empty but on rank 0. Collective.
struct ExaminedCluster {
  topology::ClusterTopology cluster;
  std::vector<HostFinding> findings;
};
[[nodiscard]] ExaminedCluster examine_cluster(launch::Ranks& ranks, const Identities& machines, bool on_gpus);

/// Two lines for the head of a report, the worst first, and how many more there are.
[[nodiscard]] std::vector<std::string> finding_notes(const std::vector<HostFinding>& findings);

/// "Also seen: memlock-limit on n1 and pcie-narrow on 2 hosts, which may have a part in it." Empty for none.
[[nodiscard]] std::string finding_candidates(const std::vector<HostFinding>& findings);

/// Adds finding_notes() to `notes`; finding_candidates().
[[nodiscard]] std::string note_findings(const std::vector<HostFinding>& findings,
                                        std::vector<std::string>& notes);

/// `error` with what the doctor says to do about the lines that NCCL warned of ("NCCL WARN …" in an error of
/// NCCL's, or the words of its last error), before the next step that it has. As it is where the doctor knows
/// none of them.
[[nodiscard]] Error with_doctors_advice(const Error& error);

}  // namespace collbench::program
