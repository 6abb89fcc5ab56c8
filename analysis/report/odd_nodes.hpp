#pragma once
#include <string>
#include <vector>

#include "analysis/report/diff_report.hpp"

// Which nodes a diff is about, by host name: for its report, and as lists that scripts drain or leave out.

namespace collbench::analysis {

/// A machine of many that is not like the others, or has a fault, and what is the matter with it.
struct OddNode {
  std::string host;
  std::vector<std::string> findings;  ///< "broken gpu-missing GPU3 (0000:9b:00.0)"
  bool has_fault = false;             ///< a finding of this node itself is degraded or broken
};

/// Of many machines by name: against a reference those with a fault or of another kind; without one those of
/// another kind than the majority, and, where no kind is the majority, those of every kind that has a fault.
[[nodiscard]] std::vector<OddNode> odd_nodes(const DiffReport& report);

/// Without a reference: whether more than half of the machines are alike.
[[nodiscard]] bool has_majority(const DiffReport& report);

/// The nodes that have a degraded or broken finding themselves, by name; of two machines, too. Never the
/// machine that the others are compared with: a reference, or what the majority is like.
[[nodiscard]] std::vector<std::string> faulty_nodes(const DiffReport& report);

/// What faulty_nodes() leaves out and why, a line each: a fault that the majority has and an odd node has
/// not, nodes that only differ, and different machines.
[[nodiscard]] std::vector<std::string> unlisted_nodes(const DiffReport& report);

/// Names as Slurm takes them: "n[03,17-19],login"; numbers of one width are put together. What is not the
/// name of a host is left out, here and in a hostfile; unlisted_nodes says so.
[[nodiscard]] std::string slurm_node_list(std::vector<std::string> hosts);

/// Why slurm_node_list(faulty_nodes(report)) is empty.
[[nodiscard]] std::string no_slurm_list(const DiffReport& report);

/// faulty_nodes(), one a line: for pdsh -w ^FILE, or to leave out of a hostfile.
[[nodiscard]] std::string report_hostfile(const DiffReport& report);
/// faulty_nodes() as a Slurm node list, for srun -x or scontrol.
[[nodiscard]] std::string report_slurm(const DiffReport& report);

}  // namespace collbench::analysis
