#pragma once
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/nccl_plan/plan/nccl_plan.hpp"

namespace collbench::analysis {

/// GB/s of a channel, as NCCL has it: whole numbers, or a few decimals.
[[nodiscard]] std::string channel_rate(double bytes_per_second);

/// "8 × 48/48 GB/s NVL/PIX", with the pattern of a tree; "none".
[[nodiscard]] std::string graph_words(const std::optional<NcclSearchGraph>& graph);

/// The plan in one line: "NCCL 2.28.9+cuda13.0 on hgx-h100: 2 nodes × 8 GPUs (16 ranks), NCCL_PROTO=LL".
[[nodiscard]] std::string nccl_plan_title(const NcclPlan& plan);

/// "nvls_tree/simple × 16"; "not known".
[[nodiscard]] std::string choice_words(const NcclSelection& choice);

/// What a report of a plan is, and is not.
inline constexpr const char* kNcclPlanOrigin =
    "What NCCL's own host code decides, over a simulated CUDA: no GPU, nothing measured.";

/// "channels that run: 16 of rings and trees, 16 NVLS, 16 p2p (2 per peer)".
[[nodiscard]] std::string channels_that_run(const NcclPlan& plan);

/// "NVLS heads, a rank of each node: 0 8 | 1 9".
[[nodiscard]] std::string nvls_head_words(const NcclPlan& plan);

/// "NICs: 0 mlx5_0, 1 mlx5_3".
[[nodiscard]] std::string nic_words(const NcclPlan& plan);

/// In place of a ring or tree that is none.
inline constexpr const char* kWayNotKnown = "not known";

/// The channels whose ring, or tree, takes the same ways over the same NICs.
struct NcclWay {
  std::string words;          ///< "0 1 =1:0=> 3 2 =0:0=> 0"; or kWayNotKnown
  std::vector<int> channels;  ///< ascending
};

[[nodiscard]] std::vector<NcclWay> ring_ways(const NcclPlan& plan);

/// From the root down, branches in parentheses.
[[nodiscard]] std::vector<NcclWay> tree_ways(const NcclPlan& plan);

/// A way from rank to rank.
struct NcclHop {
  int from;
  int to;
};

/// What a ring or tree does, channels of one way together.
struct NcclLane {
  std::string label;  ///< "ring 0, 8"
  std::string words;  ///< as the text report has it
  int channel = 0;    ///< the first
  std::optional<int> root;
  std::vector<std::vector<int>> visits;  ///< by node: its ranks in the order in which data come by
  std::vector<NcclHop> hops;
};

/// Rings begin where they enter the node of rank 0. What is no ring over all ranks is left out.
[[nodiscard]] std::vector<NcclLane> ring_lanes(const NcclPlan& plan);

/// From the root down, the first branch first. What is no tree over all ranks is left out.
[[nodiscard]] std::vector<NcclLane> tree_lanes(const NcclPlan& plan);

/// NICs that connections join: in most clusters the NICs of one number.
struct NcclRail {
  std::set<std::pair<int, int>> ends;  ///< node and NIC
  std::set<int> channels;
};

/// In the order of their NICs.
[[nodiscard]] std::vector<NcclRail> rails_of(const NcclPlan& plan);

}  // namespace collbench::analysis
