#include "tools/burnin/command/gpu_phase.hpp"

#include <algorithm>
#include <utility>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "launch/interruption.hpp"
#include "src/run/gpus_alone.hpp"

namespace collbench::program {
namespace {

using analysis::BurninPhase;
using analysis::GpuOutcome;

GpuOutcome launch_probe(const BurninOptions& options, int node) {
  const std::string& host = options.hosts[static_cast<std::size_t>(node)];
  // Filling memory is not in the time that is planned, and a slow GPU fills it slowly.
  const ChildLimits limits{.seconds = 120 + 2 * gpu_phase_seconds(options),
                           .interrupted = launch::interrupted};
  const ChildResult result = run_child(gpu_command(options, node), limits);
  GpuOutcome outcome;
  const bool ended = result.end == ChildEnd::exited;
  // A probe that found a slow GPU ends with 1.
  if (ended && (result.code == 0 || result.code == static_cast<int>(ExitStatus::low)))
    outcome = analysis::gpu_outcome(result.out, host);
  if (!outcome.misplaced.empty())
    throw MisplacedRanks("--group-launcher", kSrunGroups, {host}, outcome.misplaced);
  if (!outcome.probe && (outcome.why.empty() || result.code != 0)) outcome.why = why_failed(result, limits);
  outcome.no_gpu = ended && result.code == static_cast<int>(ExitStatus::not_here);
  return outcome;
}

}  // namespace

std::vector<std::string> gpu_command(const BurninOptions& options, int node) {
  std::vector<std::string> words = group_words(options, {node}, 1);
  // Open MPI binds a single rank to a core (mpirun(1), "--bind-to"), and the probe's threads with it.
  const auto has = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
  const auto launcher = open_mpi_launcher(words);
  if (launcher != words.end() && !has("--bind-to")) words.insert(launcher + 1, {"--bind-to", "none"});
  const std::vector<std::string> probe = gpu_probe_command(options.gpu_seconds, options.soak_seconds);
  words.insert(words.end(), probe.begin(), probe.end());
  return words;
}

double gpu_phase_seconds(const BurninOptions& options) {
  return gpu_probe_command_seconds(options.gpu_seconds, options.soak_seconds);
}

void measure_gpus(const BurninOptions& options, const std::vector<int>& nodes, analysis::BurninRecord& record,
                  const std::function<bool()>& before_each) {
  std::vector<int> open;
  for (const int node : nodes) {
    if (std::ranges::none_of(record.probes, [&](const ProbeRecord& probe) {
          return probe.host == options.hosts[analysis::slot_of(node)];
        }))
      open.push_back(node);
  }
  std::vector<analysis::GroupFailure> without;
  for (const std::vector<int>& batch : analysis::in_batches(open, options.parallel)) {
    if (!before_each()) {
      record.phases_left_out.push_back(analysis::cut_by_time(BurninPhase::gpus));
      break;
    }
    auto outcomes = launch_all(batch, [&options](int node) { return launch_probe(options, node); });
    for (std::size_t i = 0; i < batch.size(); ++i) {
      GpuOutcome outcome = outcomes[i].get();
      if (outcome.probe) {
        analysis::add_probe(record, *std::move(outcome.probe));
      } else if (!launch::interrupted()) {
        (outcome.no_gpu ? without : record.group_failures)
            .push_back({{BurninPhase::gpus, {batch[i]}, std::nullopt, true}, outcome.why});
      }
    }
  }
  if (without.empty()) return;
  if (record.probes.empty()) {
    record.phases_left_out.push_back(analysis::left_out(
        BurninPhase::gpus, without.size() == nodes.size()
                               ? "no host has GPUs that can be probed: " + without.front().why
                               : without.front().why));
    return;
  }
  record.group_failures.insert(record.group_failures.end(), without.begin(), without.end());
}

}  // namespace collbench::program
