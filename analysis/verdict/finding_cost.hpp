#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/models/nccl/machine_graph.hpp"
#include "topology/diff/finding.hpp"

namespace collbench::analysis {

/// AllReduce of 8 GiB as `predict` shows it: bus bandwidth in GB/s (1e9 bytes). None where there is no such
/// algorithm, or nothing to predict from.
struct PredictedRates {
  std::optional<double> ring;
  std::optional<double> tree;
  std::optional<double> best;
  std::optional<double> nvls{};  ///< between nodes NVLS-tree
  std::string best_by{};         ///< "ring", "tree", "nvls", "nvls_tree"
  std::string ring_plan{};       ///< "8 × 48": channels × GB/s by NCCL's search; empty where it is not known

  bool operator==(const PredictedRates&) const = default;
};

/// When the fault came, and which nodes have it. NCCL measures no rate and revises nothing after its start.
enum class CostCase {
  any,         ///< the same in each of the others, or the only one
  at_start,    ///< present when NCCL starts, on one node among healthy ones; on all, where all_nodes is not
               ///< given
  all_nodes,   ///< present when NCCL starts, on every node: what `predict` says of the machine
  during_job,  ///< after NCCL has started
};

/// "if present when NCCL starts", …; empty for any.
[[nodiscard]] std::string_view cost_case_text(CostCase when);

/// What one finding takes from a job on machines that have it all.
struct FindingCost {
  int nodes = 1;
  PredictedRates healthy;
  PredictedRates faulty;
  CostCase when = CostCase::any;

  /// GB/s that the best algorithm loses; negative where it gains. 0 where nothing can be predicted.
  [[nodiscard]] double lost() const;
  [[nodiscard]] bool changes() const { return !(healthy == faulty); }
};

/// For one node and, where NICs are known, for two: of each the cases that differ, at_start first.
[[nodiscard]] std::vector<FindingCost> finding_costs(const topology::HostPair& pair,
                                                     const topology::Finding& finding,
                                                     const NcclSettings& settings = {});

/// The same of all that two machines differ in.
[[nodiscard]] std::vector<FindingCost> machine_costs(const topology::Host& healthy,
                                                     const topology::Host& faulty, bool can_come_during_a_job,
                                                     const NcclSettings& settings = {});

/// What stands in the place of the price.
enum class PriceKind {
  priced,       ///< the models know what the finding is read from
  at_least,     ///< they know a part of it, and the loss is no smaller
  none,         ///< it changes no measurement
  not_modeled,  ///< no model knows it
};

/// "priced", "at_least", "none", "not_modeled".
[[nodiscard]] std::string_view price_kind_name(PriceKind kind);

/// How findings of one code are priced.
struct PriceRule {
  std::string_view code;
  PriceKind kind;
  std::string_view reason;             ///< why there is no price, or what it leaves out
  bool can_come_during_a_job = false;  ///< and the job goes on
};

/// One for each kind of finding of the catalog, in no order.
[[nodiscard]] const PriceRule& price_rule(std::string_view code);
[[nodiscard]] const std::vector<PriceRule>& price_rules();

/// Why there is no price of a NIC that shares_a_full_link().
inline constexpr std::string_view kFullLink =
    "several NICs share a PCIe link that carries less than all their ports together, and no model covers "
    "what NCCL does in that case";

/// The price of one finding: never silent.
struct FindingPrice {
  PriceKind kind = PriceKind::not_modeled;
  std::vector<FindingCost> costs;
  std::string reason;  ///< as PriceRule's
  std::string advice;  ///< what to do until it is repaired, where that is better than to leave it; else empty
};

[[nodiscard]] FindingPrice finding_price(const topology::HostPair& pair, const topology::Finding& finding);

// What a fault takes from AllReduce, in words: topo diff, the doctor and pages say it alike.

/// What NCCL would run, where that loses most, and what it would be if the fault came during a job:
/// "AllReduce on 2 nodes: nvls_tree 474.0 → 404.9 GB/s (−15 %) if present when NCCL starts, 237.0 GB/s (−50
/// %) if it happens during a job"; what a ring loses where that is much more, or alone. Empty where nothing
/// changes by what is shown.
[[nodiscard]] std::string cost_sentence(const std::vector<FindingCost>& costs);

/// Ring, tree and best in every case: "AllReduce on 1 node: ring 363.0 → 20.0 GB/s (−94 %) and best …; on 2
/// nodes: …". Empty where no model shows a loss.
[[nodiscard]] std::string all_costs(const std::vector<FindingCost>& costs);

/// What a finding of the doctor costs AllReduce of 8 GiB: the machine as it is against the same machine with
/// its siblings' rate, ports and links, by the models that `topo diff` prices findings with. Empty where they
/// know nothing of it: another code, no GPU that is modeled, or nothing to compare with.
[[nodiscard]] std::string doctor_price(const topology::Host& host, std::string_view code);

}  // namespace collbench::analysis
