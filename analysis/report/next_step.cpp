// next_step_by_verdict() of sections.hpp: what to do with a word.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "analysis/report/sections.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {
namespace {

/// Operations that each NIC of a node carries its share of: an AllReduce hides half of them behind NVLS tree.
constexpr std::array kTestNics{OperationId::all_gather, OperationId::send_recv};

constexpr int kMinNodesOfBurnin = 4;  // it cannot tell fewer apart

bool is_measured(const Run& run, OperationId id) {
  return std::ranges::any_of(run.rows, [id](const Row& row) { return row.measurement.key.operation == id; });
}

/// Of what a sound machine gives: less is typical of TCP in place of RDMA, on all nodes alike.
constexpr double kMaxOfSockets = 0.1;

std::string after_a_loss(const Run& run, const Row* worst) {
  if (run.yardstick && run.yardstick->kind == YardstickKind::slowest)
    return fmt::format("give the machine (--topology {}, or another one of collbench topo list)",
                       run.yardstick->machine);
  const bool may_choose = worst == nullptr || has_algorithms(*worst);
  if (const std::vector<std::string> settings = costly_settings(run, may_choose); !settings.empty())
    return fmt::format("measure again without {}", settings.front());
  const bool any_is_quicker = std::ranges::any_of(run.rows, [&run](const Row& row) {
    return row.measurement.key.size_bytes >= kLargeSize &&
           rates(row, static_cast<int>(run.ranks.size())).measured_over_expected.value_or(0) >
               2 * kMaxOfSockets;
  });
  if (run.log && !run.log->network && node_count(run.ranks) > 1 && worst != nullptr &&
      worst->verdict.ratio.value_or(1) < kMaxOfSockets && !any_is_quicker)
    return "run again with NCCL_DEBUG=INFO, and see whether it is \"Using network Socket\"";
  const auto slow = std::ranges::find_if(run.node_groups, [](const NodeGroup& group) {
    return group.hosts.size() == 1 && is_bad(group.row.verdict.word);
  });
  const bool is_enough_for_burnin = node_count(run.ranks) >= kMinNodesOfBurnin;
  const PairsSeen pairs = pairs_seen(run);
  const std::string host = slow != run.node_groups.end() ? slow->hosts.front()
                           : pairs.slow_hosts.empty()    ? ""
                                                         : pairs.slow_hosts.front();
  if (!host.empty())
    return fmt::format("collbench doctor on {}; its report and this one are what the provider needs", host);
  if (all_nodes_are_sound_alone(run))
    return is_enough_for_burnin ? "collbench burnin: which pair of nodes, rail or switch it is"
                                : "look at the NICs, their settings and the network between the nodes";
  if (node_count(run.ranks) > 1)
    return is_enough_for_burnin ? "collbench doctor on each node (what is costing bandwidth there); "
                                  "collbench burnin identifies the node"
                                : "collbench doctor on each node (what is costing bandwidth there); "
                                  "collbench -g N on each alone identifies the node";
  return "collbench doctor on this machine (what is costing bandwidth there)";
}

std::string to_clear_it(const Run& run, const Row* worst) {
  if (worst == nullptr) return {};
  if (!run.complete)
    return run.log ? "run it to its end, or give the whole log"
                   : "run it to its end (--resume goes on where a record stops)";
  const Verdict& verdict = worst->verdict;
  if (worst->measurement.key.size_bytes < kLargeSize) return "measure 1 GiB and more";
  if (!verdict.ratio || !verdict.range) return {};
  if (*verdict.ratio > verdict.range->high) return "check which machine and how many nodes were given";
  if (*verdict.ratio >= verdict.range->sound)
    return "measure again: a transient disappears, a fault persists";
  if (*verdict.ratio < verdict.range->below)
    return "run again with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,TUNING to see which algorithm ran";
  if (run.yardstick && run.yardstick->kind == YardstickKind::own)
    return "say which machine it is (--expect; of a file, --topology)";
  return node_count(run.ranks) >= kMinNodesOfBurnin ? "compare the nodes with each other (collbench burnin), "
                                                      "or judge by your provider's limit (--min-busbw)"
                                                    : "compare with a known good node (collbench compare), "
                                                      "or judge by your provider's limit (--min-busbw)";
}

}  // namespace

std::string next_step_by_verdict(const Run& run, const Row* worst) {
  switch (machine_word(run)) {
    case VerdictWord::below:
    case VerdictWord::fault:
      return after_a_loss(run, worst);
    case VerdictWord::unclear:
      return to_clear_it(run, worst);
    case VerdictWord::sound: {
      const std::vector<ResourceTest> tests = resource_tests(run);
      const bool nics_are_open = std::ranges::any_of(tests, [](const ResourceTest& test) {
        return test.hidden.resource == kNic && test.hidden.share * test.hidden.count >= 1;
      });
      std::vector<std::string_view> missing;
      for (const OperationId id : kTestNics)
        if (!is_measured(run, id)) missing.push_back(operation(id).name);
      if (!nics_are_open || missing.empty() || node_count(run.ranks) == 1) return {};
      return fmt::format("measure {} too: it tests each NIC", fmt::join(missing, " or "));
    }
    case VerdictWord::none:
      break;
  }
  return {};
}

}  // namespace collbench::analysis
