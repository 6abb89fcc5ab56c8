#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/verdict/finding_cost.hpp"
#include "base/document/document.hpp"
#include "topology/cluster/cluster_topology.hpp"
#include "topology/diff/topology_diff.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::analysis {

struct PricedFinding {
  topology::Finding finding;
  std::string host;  ///< the one that is worse off
  FindingPrice price;
};

/// Two machines, or two kinds of them, compared.
struct ComparedHosts {
  std::vector<std::string> a;  ///< names: those that are usual, or the reference
  std::vector<std::string> b;
  std::vector<PricedFinding> findings;
  std::vector<std::string> versions;
  std::vector<std::string> hosts = {};  ///< of b: host names
  std::string reference_note = {};      ///< that no published file has confirmed the reference machine
  std::shared_ptr<const topology::Host> drawn = nullptr;  ///< the first of b, for a picture
  std::vector<std::string> not_compared = {};  ///< what not both state: "NIC rates"; topology::not_compared()
};

struct DiffReport {
  std::vector<ComparedHosts> pairs;            ///< of many machines: one for each odd kind
  std::size_t nodes = 0;                       ///< of many machines: how many; else 0
  bool by_majority = false;                    ///< compared with the most usual kind; else with a reference
  topology::FolderFiles files = {};            ///< of the folders of hosts
  std::vector<std::string> without_file = {};  ///< hosts of the fleet of which there is none
  std::vector<std::string> left_out = {};      ///< sentences: files beside those of one machine, and why
  /// Host names: of many without a reference those of the most usual kind, of two machines the first; empty
  /// where the pairs' `a` is what the others should be.
  std::vector<std::string> usual = {};

  /// A finding is degraded or broken.
  [[nodiscard]] bool has_fault() const;

  /// A machine is another one than it should be, so that not all of it was compared.
  [[nodiscard]] bool has_other_machine() const;

  /// Files of one machine disagree, so that what was compared may be of two.
  [[nodiscard]] bool has_disagreement() const;

  /// None of them, and every file of a folder of hosts was read, and every host has one: exit status 0.
  [[nodiscard]] bool passes() const {
    return !has_fault() && !has_other_machine() && !has_disagreement() && files.unreadable.empty() &&
           without_file.empty();
  }
};

/// `a` should be, `b` is. Only the groups' first hosts are compared.
[[nodiscard]] ComparedHosts compare_hosts(const topology::HostGroup& a, const topology::HostGroup& b,
                                          bool a_is_reference);

/// Two machines, neither of which is known to be as it should be.
[[nodiscard]] DiffReport compare_two(const topology::HostGroup& a, const topology::HostGroup& b);

/// Every group against what it should be. Unlike compare_groups() it keeps the pairs without a finding.
[[nodiscard]] DiffReport compare_with(const topology::HostGroup& expected,
                                      const std::vector<topology::HostGroup>& groups, bool is_reference);

/// Every group against the largest; groups without any finding against it count as identical.
[[nodiscard]] DiffReport compare_groups(const std::vector<topology::HostGroup>& groups);

/// cost_sentence(), with `all` all_costs(), or what stands in its place: "not modeled: firmware is in no
/// model". Never empty.
[[nodiscard]] std::string price_words(const FindingPrice& price, bool all = false);

/// As a line: "cost: not modeled: firmware is in no model".
[[nodiscard]] std::string format_price(const FindingPrice& price, bool all = false);

/// "1 broken and 2 degraded", "a different machine, 1 difference", or "no difference"; with what was not
/// compared, where not both machines state it: "no difference in what both state; not compared: NIC rates".
[[nodiscard]] std::string diff_summary(const ComparedHosts& pair);

/// "n3 against n0, n1 and 55 more": the odd ones are all named.
[[nodiscard]] std::string diff_title(const ComparedHosts& pair);

/// "60 machines: 57 identical, 3 different"; empty for two machines.
[[nodiscard]] std::string diff_headline(const DiffReport& report);

/// The hosts without a file, and the files that could not be read; those of them that there are.
[[nodiscard]] std::vector<std::string> not_looked_at(const DiffReport& report);

/// What stands above all else: not_looked_at(), and the headline where there is one.
[[nodiscard]] std::vector<std::string> diff_headlines(const DiffReport& report);

// Which nodes a diff is about, by host name: for its report, and as lists that scripts drain or leave out.

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

/// The machines of a run by kind, the usual one first, each under its own names.
[[nodiscard]] std::vector<topology::HostGroup> cluster_groups(const topology::ClusterTopology& cluster);

/// What differs between the nodes and, where it is given, from `expected`.
[[nodiscard]] DiffReport cluster_findings(const topology::ClusterTopology& cluster,
                                          const std::optional<topology::HostGroup>& expected,
                                          bool expected_is_reference);

/// Lines for the head of a report: which nodes, what is wrong with them, and what it costs on as many nodes
/// as the run has. The worst findings of each kind of node; the rest is counted.
[[nodiscard]] std::vector<std::string> cluster_finding_lines(const DiffReport& report, int nodes);

/// The findings that the operation of a slow run on `found` meets, as a sentence for its explanation: those
/// that cost something on `nodes` nodes, and what is broken. Empty without any.
[[nodiscard]] std::string findings_on_the_path(const std::vector<topology::HostGroup>& found, int nodes,
                                               const topology::HostGroup& expected,
                                               bool expected_is_reference);

/// What people read of it: a section for each pair first, its findings in the first block. `all_costs`: each
/// cost of a finding in every case.
[[nodiscard]] Document diff_document(const DiffReport& diff, bool all_costs = false);

}  // namespace collbench::analysis
