#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/graph/topology.hpp"

namespace collbench::topology {

/// What hangs below one PCIe switch.
struct ReferenceSwitch {
  int gpus;
  int nics;
  int numa_node;
};

/// NVLinks of one pair of GPUs that are wired to each other.
struct ReferencePair {
  int a;
  int b;
  int links;
};

/// How the GPUs of a machine reach each other over NVLink.
enum class NvLinkWiring { none, switches, pairs };

/// One node of a machine type, as its maker describes it.
struct ReferenceMachine {
  std::string_view name;       ///< "hgx-h100"
  std::string_view title;      ///< "8 × H100 SXM, 8 × 400 Gb/s InfiniBand"
  std::string_view gpu_model;  ///< as nvidia-smi prints it
  double gpu_gigatransfers;    ///< PCIe of the GPUs, x16 throughout
  NvLinkWiring wiring;
  int nvlinks_per_gpu;
  int nvswitches;                        ///< chips in the node; of an NVLink rack, those that a node sees
  std::span<const ReferencePair> pairs;  ///< where `wiring` is pairs
  std::span<const ReferenceSwitch> switches;
  double nic_gigabits;
  double nic_gigatransfers;
  std::string_view nic_link_layer;  ///< "InfiniBand" or "Ethernet"
  std::string_view nic_transport;   ///< "IB", "RoCE", "EFA", "TCPXO"; empty without NICs
  std::string_view cpu_vendor;      ///< as CPUID says, or "ARM"; empty where no source says
  int cpu_family;                   ///< by CPUID; 0: none
  int cpu_model;
  double c2c_gigabytes_per_second;  ///< GPU to its CPU, one direction; 0: none
  int nvlink_domain_gpus;           ///< GPUs that NVLink connects, also across nodes; 0: those of the node
  std::string_view source;
};

/// The published files of such machines that give no false finding against it, by who published them; empty:
/// none is at hand. tests/topology/diff reads them (corpus_test.cpp) or has what they say
/// (paths_test.cpp).
[[nodiscard]] std::string_view checked_against(const ReferenceMachine& machine);

/// "checked against …", or "not checked against a published file of such a machine".
[[nodiscard]] std::string how_checked(const ReferenceMachine& machine);

/// All of them, in the order of `topo list`.
[[nodiscard]] std::span<const ReferenceMachine> reference_machines();

[[nodiscard]] const ReferenceMachine* find_reference_machine(std::string_view name);

/// One node of it as a graph. Addresses are made up; every fact has the source "reference machine".
[[nodiscard]] Host reference_host(const ReferenceMachine& machine);

/// A reference machine and how the host differs from it, in words; none: alike in all that was compared.
struct ReferenceMatch {
  const ReferenceMachine* machine = nullptr;
  int distance = 0;
  std::vector<std::string> differences;
  std::vector<std::string> compared;      ///< "number of GPUs", "NVLinks"; the number always is
  std::vector<std::string> not_compared;  ///< what the host's sources, or the machine's, do not say
  bool same_gpus = false;                 ///< their model and number, and no more NVLinks; links may be down
  bool same_link_layer = false;           ///< or the host does not say
  bool same_nics = false;  ///< those of the fabric: their number and rate; ports may be down or slow, or
                           ///< second ones not cabled

  /// More than the number of GPUs was compared: that alone makes no machine.
  [[nodiscard]] bool says_something() const { return compared.size() > 1; }
};

/// From this distance on the two have little in common: another architecture, or NVLink on one only.
inline constexpr int kOfAnotherKind = 20;

/// The reference machines by nearness to the host, nearest first: by GPU model, number of GPUs, NVLinks, NICs
/// and their rate. Empty for a host without GPUs.
[[nodiscard]] std::vector<ReferenceMatch> nearest_references(const Host& host);

}  // namespace collbench::topology
