#include "analysis/verdict/finding_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/models/nccl/algorithms.hpp"
#include "analysis/models/nccl/gpu_cluster.hpp"
#include "analysis/models/nccl/gpu_expectation.hpp"
#include "analysis/models/nccl/node_nics.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "topology/diff/topology_diff.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis {
namespace {

constexpr std::uint64_t kSize = 8 * kGiB;  // where latency no longer counts
constexpr double kGainWorthAdvice = 1.01;  // of what the NIC gives where it stays in use

const topology::ReferenceMachine* reference_of(const topology::Host& host) {
  if (host.sources.empty() || host.sources.front().reader != topology::kReferenceMachine) return nullptr;
  return topology::find_reference_machine(host.sources.front().location);
}

GpuCluster cluster_of(const topology::Host& host, int nodes, const NcclSettings& settings) {
  const topology::ReferenceMachine* machine = reference_of(host);
  if (machine == nullptr) return gpu_cluster(host, nodes, 0, "", settings);
  // Its transport and its NVLink domain are in no graph.
  const GpuCluster whole = gpu_cluster(*machine, nodes, 0);
  GpuCluster cluster = gpu_cluster(host, whole.domains() == 1 ? 1 : nodes, 0, "", settings);
  cluster.nodes = nodes;
  cluster.nodes_per_domain = whole.nodes_per_domain;
  cluster.transport = whole.transport;
  return cluster;
}

std::optional<GpuCluster> modeled_cluster(const topology::Host& host, int nodes,
                                          const NcclSettings& settings = {}) {
  try {
    return cluster_of(host, nodes, settings);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<double> bus_rate(const GpuCluster& cluster, std::optional<double> seconds) {
  if (!seconds) return std::nullopt;
  return bus_bandwidth(operation(OperationId::all_reduce), kSize, cluster.ranks(), *seconds) / kGigabyte;
}

std::string ring_plan(const GpuCluster& cluster) {
  const PlannedNode* planned = plan_of(cluster);
  if (planned == nullptr) return {};
  return fmt::format("{} × {:g}", planned->plan.ring.channels, planned->plan.ring.within_node);
}

std::optional<double> nvls_seconds(const GpuCluster& cluster) {
  const auto nvls = gpu_nvls(cluster);
  if (!nvls) return std::nullopt;
  return 1e-6 *
         gpu_microseconds(operation(OperationId::all_reduce), cluster, static_cast<double>(kSize), *nvls);
}

/// A rank on each GPU; all none where the machine cannot be modeled: no GPU, an unknown model, no NIC
/// between nodes.
PredictedRates rates_of(const std::optional<GpuCluster>& cluster) {
  if (!cluster) return {};
  const Expectation expected = expect_on_gpus(OperationId::all_reduce, kSize, *cluster);
  return {bus_rate(*cluster, expected.ring_seconds),
          bus_rate(*cluster, expected.tree_seconds),
          bus_rate(*cluster, expected.expected_seconds),
          bus_rate(*cluster, nvls_seconds(*cluster)),
          std::string(expected.expected_by),
          ring_plan(*cluster)};
}

/// Nodes of the smallest job that leaves an NVLink domain: 2, or those of two racks.
int nodes_of_two_domains(const topology::Host& host) {
  const auto cluster = modeled_cluster(host, 1);
  return cluster ? 2 * cluster->nodes_per_domain : 2;
}

/// One node of the job is `faulty`, the others are `healthy`; a rack of such nodes is not modeled.
std::optional<GpuCluster> among_healthy(const std::optional<GpuCluster>& faulty, const GpuCluster& healthy) {
  if (!faulty || healthy.domains() < 2 || healthy.nodes_per_domain > 1) return std::nullopt;
  GpuCluster mixed = *faulty;
  mixed.max_channels = nic_channels(healthy).channels;
  if (mixed.planned && healthy.planned) {
    mixed.planned->plan = agreed(mixed.planned->plan, healthy.planned->plan);
  }
  return mixed;
}

/// NCCL has planned for the healthy machine, and every channel waits for the slow NIC.
std::optional<GpuCluster> slowed_during_job(const topology::Host& healthy_host,
                                            const topology::Host& faulty_host, GpuCluster healthy) {
  if (healthy.domains() < 2) return std::nullopt;
  const auto before = slowest_nic(healthy_host, healthy_host);
  const auto slow = slowest_nic(healthy_host, faulty_host);
  if (!before || !slow || slow->nccl_rate() >= before->nccl_rate()) return std::nullopt;
  if (healthy.planned) healthy.planned->waits_for = slow;
  healthy.nic_line_rate = slow->line_rate;
  healthy.nic_path = slow->path;
  healthy.slower_nics.clear();
  return healthy;
}

void add_costs(const topology::Host& healthy_host, const topology::Host& faulty_host, int nodes,
               bool can_come_during_a_job, const NcclSettings& settings, std::vector<FindingCost>& costs) {
  const auto healthy = modeled_cluster(healthy_host, nodes, settings);
  const PredictedRates before = rates_of(healthy);
  if (!healthy || !before.best) return;
  const auto faulty = modeled_cluster(faulty_host, nodes, settings);
  const PredictedRates everywhere = rates_of(faulty);
  const auto mixed = among_healthy(faulty, *healthy);
  const PredictedRates on_one_node = mixed ? rates_of(mixed) : everywhere;
  const auto slowed = can_come_during_a_job ? slowed_during_job(healthy_host, faulty_host, *healthy)
                                            : std::optional<GpuCluster>{};
  if (on_one_node == everywhere && (!slowed || rates_of(slowed) == everywhere)) {
    costs.push_back({nodes, before, everywhere, CostCase::any});
    return;
  }
  if (mixed) costs.push_back({nodes, before, on_one_node, CostCase::at_start});
  if (!mixed || !(on_one_node == everywhere))
    costs.push_back({nodes, before, everywhere, CostCase::all_nodes});
  if (slowed) costs.push_back({nodes, before, rates_of(slowed), CostCase::during_job});
}

constexpr std::string_view kNcclsFigures = "they are NCCL's own figures, shown as they are";
constexpr std::string_view kAtStartOnly = "not modeled if it happens during a job";
constexpr std::string_view kFails = "whether a job runs at all is the driver's decision";

bool is_about_nics(const topology::Finding& finding, topology::Side side) {
  return !finding.devices.empty() &&
         std::ranges::all_of(finding.devices, [side](const topology::DevicePair& each) {
           return each.of(side) && each.of(side)->kind == topology::DeviceKind::nic;
         });
}

/// "NCCL_IB_HCA=^=mlx5_2 on this node" (^=: all but exactly these; NVIDIA's page of NCCL's environment
/// variables).
std::string way_to_leave_out(const topology::Host& host, const topology::Finding& finding,
                             Transport transport) {
  if (transport != Transport::infiniband && transport != Transport::roce) {
    return "by the setting of the network plugin";
  }
  std::string names;
  for (const topology::DevicePair& each : finding.devices) {
    const auto& name = host.nics.at(static_cast<std::size_t>(each.of(finding.side)->index)).name;
    if (!names.empty()) names += ",";
    names += name.value_or("NAME");
  }
  return fmt::format("NCCL_IB_HCA=^={} on this node{}", names,
                     names.find("NAME") == std::string::npos ? "" : ", NAME as ibstat lists it");
}

const FindingCost* cost_when(const std::vector<FindingCost>& costs, CostCase when, int least_nodes = 1) {
  const auto found = std::ranges::find_if(
      costs, [&](const FindingCost& cost) { return cost.when == when && cost.nodes >= least_nodes; });
  return found == costs.end() ? nullptr : &*found;
}

/// Without the NIC NCCL has a channel less; with it, all may wait.
std::string advice_for(const topology::HostPair& pair, const topology::Finding& finding,
                       const std::vector<FindingCost>& costs) {
  const FindingCost* at_start = cost_when(costs, CostCase::at_start);
  if (at_start == nullptr) at_start = cost_when(costs, CostCase::any, 2);  // NCCL does not read it
  if (at_start == nullptr || !at_start->faulty.ring) return {};
  const topology::Host& healthy = pair.of(topology::other(finding.side));
  if (is_about_nics(finding, topology::other(finding.side)) && is_about_nics(finding, finding.side)) {
    std::vector<topology::Device> gone;
    for (const auto& each : finding.devices) gone.push_back(*each.of(topology::other(finding.side)));
    const auto whole = modeled_cluster(healthy, at_start->nodes);
    const auto without = modeled_cluster(topology::without_devices(healthy, gone), at_start->nodes);
    const auto mixed = whole ? among_healthy(without, *whole) : std::nullopt;
    const PredictedRates rates = rates_of(mixed);
    if (rates.ring && *rates.ring > kGainWorthAdvice * *at_start->faulty.ring) {
      return fmt::format(
          "until it is repaired leave it out ({}): ring {:.1f} GB/s instead of {:.1f}; a running job has to "
          "be restarted for that",
          way_to_leave_out(pair.of(finding.side), finding, mixed->transport), *rates.ring,
          *at_start->faulty.ring);
    }
  }
  const FindingCost* during = cost_when(costs, CostCase::during_job);
  if (during != nullptr && during->faulty.ring &&
      *at_start->faulty.ring > kGainWorthAdvice * *during->faulty.ring) {
    return fmt::format(
        "restart a job that was running when it happened: when it starts, NCCL plans around it (ring {:.1f} "
        "GB/s instead of {:.1f})",
        *at_start->faulty.ring, *during->faulty.ring);
  }
  return {};
}

/// Where the search depends on more than the model knows, the loss may be larger.
bool is_a_bound(const topology::Host& healthy, const topology::Finding& finding) {
  const auto cluster = modeled_cluster(healthy, 1);
  if (!cluster) return false;
  if (finding.code == "gpu-missing") return false;
  if (finding.code == "nvlink-fewer") return cluster->nvlinks > 0 && !cluster->nvswitch;
  return cluster->nvlinks == 0 || cluster->nodes_per_domain > 1 || !traits(cluster->transport).nccl_sees_nics;
}

std::string reason_of_bound(const topology::Finding& finding, const GpuCluster& cluster) {
  if (finding.code == "nvlink-fewer") {
    return "a ring needs a closed way over the links that are left, which may not use all of them";
  }
  if (cluster.nodes_per_domain > 1)
    return "what NCCL's search does in a rack with unequal nodes is not known";
  if (cluster.nvlinks == 0) return "how many channels NCCL opens through the host is not known";
  return "which NICs the network plugin shows to NCCL is not known";
}

/// Whether it is about a NIC of which no model knows what NCCL makes of it.
bool is_about_a_full_link(const topology::HostPair& pair, const topology::Finding& finding) {
  return std::ranges::any_of(finding.devices, [&](const topology::DevicePair& each) {
    const auto is_one = [](const topology::Host& host, const std::optional<topology::Device>& device) {
      return device && device->kind == topology::DeviceKind::nic && shares_a_full_link(host, device->index);
    };
    return is_one(pair.a, each.a) || is_one(pair.b, each.b);
  });
}

}  // namespace

std::string_view cost_case_text(CostCase when) {
  constexpr std::array<std::string_view, 4> kTexts{"", "if present when NCCL starts",
                                                   "if present when NCCL starts on all nodes",
                                                   "if it happens during a job"};
  return kTexts.at(static_cast<std::size_t>(when));
}

std::string_view price_kind_name(PriceKind kind) {
  constexpr std::array<std::string_view, 4> kNames{"priced", "at_least", "none", "not_modeled"};
  return kNames.at(static_cast<std::size_t>(kind));
}

const std::vector<PriceRule>& price_rules() {
  constexpr PriceKind kPriced = PriceKind::priced;
  constexpr PriceKind kOpen = PriceKind::not_modeled;
  static const std::vector<PriceRule> rules{
      {"gpu-missing", kPriced, "the job has a rank fewer for each"},
      {"nic-missing", kPriced, kAtStartOnly},
      {"nic-port-down", kPriced, kAtStartOnly},
      {"nic-port-slower", kPriced, "", true},
      {"pcie-narrow", kPriced, "", true},
      {"pcie-slow", kPriced, "", true},
      {"nvlink-fewer", kPriced, kAtStartOnly},
      {"devices-apart", kPriced, "which channels use a NIC is priced, the slower path itself is not"},
      {"switch-missing", kOpen, "what hangs below it is priced separately"},
      {"nvswitch-missing", kOpen, kFails},
      {"fabric-manager", kOpen, kFails},
      {"fabric-state", kOpen, kFails},
      {"nvlink-off", kOpen, "NCCL's way around such a GPU is not known"},
      {"nvlink-slower", kOpen, "NCCL counts links and does not read their rate"},
      {"c2c-slower", kOpen, "no model has C2C links"},
      {"peer-access", kOpen, "NCCL's way around it is not known"},
      {"mig-on", kOpen, "NCCL does not run over NVLink between MIG devices"},
      {"partitions", kOpen, "ranks see another machine"},
      {"gpu-model", kOpen, "which of the two is right is not known"},
      {"virtualization", kOpen, "no source says what it costs"},
      {"virtual-bridge", kOpen, "NCCL plans by a link that is not real"},
      {"switches-hidden", kOpen, "which GPU and NIC share a switch is not known"},
      {"acs-on", kOpen, "no source says what the way through the host costs"},
      {"numa-moved", kOpen, "NUMA placement is in no model"},
      {"numa-nodes", kOpen, "NUMA placement is in no model"},
      {"affinity-cut", kOpen, "CPU affinity is in no model"},
      {"affinity-differs", kOpen, "CPU affinity is in no model"},
      {"numa-memory", kOpen, "the size of memory is in no model"},
      {"cpu-model", kOpen, "which of the two is right is not known"},
      {"gpudirect-missing", kOpen, "no source says how slow the way through host memory is"},
      {"nic-mtu", kOpen, "the MTU is in no model"},
      {"nic-link-layer", kOpen, "which of the two is right is not known"},
      {"nics-unlisted", kOpen, "whether the NICs are there is not known"},
      {"nic-model", kOpen, "which of the two is right is not known"},
      {"nic-firmware", kOpen, "firmware is in no model"},
      {"nic-renumbered", kOpen, "it depends on what the job selects by name"},
      {"graph-slower", kOpen, kNcclsFigures},
      {"graph-path", kOpen, kNcclsFigures},
      {"graph-nic-unused", kOpen, kNcclsFigures},
      {"graph-cross-nic", kOpen, kNcclsFigures},
      {"graph-order", kOpen, kNcclsFigures},
      {"driver-version", kOpen, "driver versions are in no model"},
      {"extra-device", kOpen, "the reference says nothing of it"},
      {"pci-model", kOpen, "which of the two is right is not known"},
      {"different-machine", kOpen, "the models compare machines of one kind"},
      {"sources-disagree", kOpen, "which of the files is right is not known"},
      {"exceeds-reference", kOpen, "what is more than the reference has is no loss"},
      {"pci-subsystem", PriceKind::none, "it changes no measurement"},
      {"product", PriceKind::none, "it changes no measurement"},
  };
  return rules;
}

const PriceRule& price_rule(std::string_view code) {
  static const PriceRule unknown{"", PriceKind::not_modeled, "no model knows this kind of finding"};
  const auto& rules = price_rules();
  const auto found = std::ranges::find(rules, code, &PriceRule::code);
  return found == rules.end() ? unknown : *found;
}

double FindingCost::lost() const { return healthy.best.value_or(0) - faulty.best.value_or(0); }

std::vector<FindingCost> machine_costs(const topology::Host& healthy, const topology::Host& faulty,
                                       bool can_come_during_a_job, const NcclSettings& settings) {
  std::vector<FindingCost> costs;
  for (const int nodes : {1, nodes_of_two_domains(healthy)}) {
    add_costs(healthy, faulty, nodes, can_come_during_a_job, settings, costs);
  }
  return costs;
}

std::vector<FindingCost> finding_costs(const topology::HostPair& pair, const topology::Finding& finding,
                                       const NcclSettings& settings) {
  return machine_costs(pair.of(topology::other(finding.side)), topology::inject_fault(pair, finding),
                       price_rule(finding.code).can_come_during_a_job, settings);
}

FindingPrice finding_price(const topology::HostPair& pair, const topology::Finding& finding) {
  const PriceRule& rule = price_rule(finding.code);
  if (rule.kind == PriceKind::priced && is_about_a_full_link(pair, finding))
    return {PriceKind::not_modeled, {}, std::string(kFullLink), {}};
  FindingPrice price{rule.kind, finding_costs(pair, finding), std::string(rule.reason), {}};
  const bool changes = std::ranges::any_of(price.costs, &FindingCost::changes);
  const topology::Host& healthy = pair.of(topology::other(finding.side));
  if (price.kind == PriceKind::not_modeled && changes) price.kind = PriceKind::priced;
  if (price.kind == PriceKind::priced && price.costs.empty()) {
    price.kind = PriceKind::not_modeled;
    price.reason = "nothing can be predicted of this machine";
  }
  if (price.kind == PriceKind::priced && is_a_bound(healthy, finding)) {
    price.kind = PriceKind::at_least;
    price.reason = reason_of_bound(finding, *modeled_cluster(healthy, 1));
  }
  if (changes) price.advice = advice_for(pair, finding, price.costs);
  return price;
}

}  // namespace collbench::analysis
