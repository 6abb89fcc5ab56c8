#include "src/run/expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/models/host/host_expectation.hpp"
#include "analysis/models/nccl/cluster_of_run.hpp"
#include "analysis/stragglers/step_verdict.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"

namespace collbench::program {
namespace {

/// As `judge` does: NCCL's version, its settings and what was turned off decide what it is expected to run.
Run judged_by_links(Run run, const analysis::GpuCluster& cluster) {
  const analysis::GpuCluster ran = analysis::with_run_facts(cluster, run, false);
  return analysis::judged_on_gpus(std::move(run), ran);
}

}  // namespace

std::optional<JudgedBy> judged_by(const topology::ClusterTopology& machines, const Identities& identities,
                                  const std::string& expect, std::vector<std::string>& notes) {
  const std::vector<int> ranks = ranks_per_node(identities);
  const auto nothing = [&](const std::string& reason) {
    notes.push_back(fmt::format("{}{}", kNothingExpected, reason));
    return std::nullopt;
  };
  if (machines.distinct_hosts.empty()) return nothing("no topology was gathered");
  if (std::ranges::any_of(ranks, [&](int each) { return each != ranks.front(); })) {
    return nothing("the nodes have different numbers of ranks");
  }
  try {
    const int nodes = static_cast<int>(ranks.size());
    analysis::SoundMachine sound = analysis::sound_machine(
        expect.empty() ? topology::ResolvedMachine{"this machine", {machines.distinct_hosts}}
                       : topology::resolve_machine(expect),
        nodes);
    analysis::GpuCluster cluster = analysis::gpu_cluster(sound.machine, nodes, ranks.front());
    return JudgedBy{std::move(sound), std::move(cluster)};
  } catch (const Error& error) {
    return nothing(error.what());
  }
}

std::string named_machine(const Run& run) {
  return run.yardstick && run.yardstick->kind == YardstickKind::named ? run.yardstick->machine : "";
}

Run judged_by_own_machine(Run run) {
  if (!run.cluster || !analysis::is_judged(run)) return run;
  std::vector<std::string> known = run.environment_notes;
  const auto by =
      judged_by(topology::read_cluster_record(*run.cluster, "launch"), run.ranks, named_machine(run), known);
  if (!by) return run;
  run = judged_by_links(std::move(run), by->cluster);
  run.yardstick = by->sound.yardstick;
  return run;
}

RowExpectations RowExpectations::from_calibration(const Run& run, const std::vector<RowKey>& rows,
                                                  const collectives::Backend& backend,
                                                  const TrafficMatrix& traffic) {
  RowExpectations expectations;
  for (const RowKey& row : rows) {
    const bool known = run.calibration.has_value() && !backend.unsupported_reason(row);
    expectations.by_row_.push_back(known
                                       ? analysis::expect_on_host_memory(row, backend.algorithm_ran(row),
                                                                         *run.calibration, run.ranks, traffic)
                                       : Expectation{});
  }
  return expectations;
}

RowExpectations RowExpectations::from_links(analysis::GpuCluster cluster) {
  RowExpectations expectations;
  expectations.cluster_ = std::move(cluster);
  return expectations;
}

void RowExpectations::apply(Run& run) const {
  if (cluster_) run = judged_by_links(std::move(run), *cluster_);
  for (std::size_t i = 0; i < by_row_.size(); ++i) run.rows[i].expectation = by_row_[i];
  analysis::tell_steps(run);
}

}  // namespace collbench::program
