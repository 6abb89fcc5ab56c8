#include "tools/lab01/command/lab01_pages.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/models/nccl/cluster_of_run.hpp"
#include "analysis/report/prediction.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "src/run/expectation.hpp"
#include "tools/lab01/report/lab01.hpp"
#include "topology/cluster/cluster_topology.hpp"

namespace collbench::program {
namespace {

bool is_all_reduce(const Row& row) { return row.measurement.key.operation == OperationId::all_reduce; }

analysis::Lab01Price price_of(const Lab01Request& request) {
  return {request.price.per_gpu_hour, request.price.hours, request.price.currency};
}

/// The machine that a run on GPUs recorded; none where it has no GPU, or cannot be modeled.
std::optional<analysis::Lab01Machine> recorded_machine(const Run& run) {
  if (!run.cluster || !measures_gpus(run.backend) || run.ranks.empty()) return std::nullopt;
  const topology::ClusterTopology machines = topology::read_cluster_record(*run.cluster, "the record");
  std::vector<std::string> known;  // the run's own notes say why it has no expectation
  const auto by = judged_by(machines, run.ranks, named_machine(run), known);
  if (!by) return std::nullopt;
  return analysis::Lab01Machine{machines.distinct_hosts.front(),
                                analysis::with_run_facts(by->cluster, run, false)};
}

/// A run as the lab's page is about it, and what the page says beside it.
struct JudgedLab {
  Run run;
  analysis::Lab01Options options;
};

JudgedLab judged_lab(const Run& run, const Lab01Request& request) {
  if (std::ranges::none_of(run.rows, is_all_reduce)) {
    throw usage_error("lab01", "its page is of AllReduce, and the run has no AllReduce row",
                      "give a run of AllReduce");
  }
  analysis::require_times_of_gpus(run, "lab01");
  std::string topology = request.topology;
  if (topology.empty() && run.log && run.log->topology) topology = run.log->topology->value;
  Run judged = run;
  analysis::Lab01Options options;
  options.price = price_of(request);
  if (measures_gpus(run.backend)) {
    if (!topology.empty()) {
      const topology::ResolvedMachine found =
          analysis::with_gpus_of_log(topology::resolve_machine(topology), run);
      const analysis::SoundMachine sound = analysis::sound_machine(found, node_count(run.ranks));
      options.machine = {found.first_host(), analysis::cluster_of_run(run, sound.machine, topology, false)};
      // The page names the machine that it is about, also where the record was made with another.
      if (run.log && !request.topology.empty()) judged.log->topology = LogFact<std::string>{topology, 0};
      judged = analysis::judged_on_gpus(std::move(judged), options.machine->cluster);
      judged.yardstick = sound.yardstick;
    } else {
      options.machine = recorded_machine(run);
    }
    if (!options.machine) options.without_machine = analysis::lab01_suggestion(run);
  }
  std::optional<topology::Host> host;
  if (options.machine) host = options.machine->host;
  options.checks = analysis::lab01_checks(judged, host);
  options.ceilings = analysis::lab01_ceilings(judged, options.machine);
  return {std::move(judged), std::move(options)};
}

}  // namespace

std::string lab01(const Run& run, const Lab01Request& request) {
  const JudgedLab lab = judged_lab(run, request);
  return analysis::report_lab01(lab.run, lab.options);
}

std::string lab01_html(const Run& run, const Lab01Request& request) {
  const JudgedLab lab = judged_lab(run, request);
  return analysis::lab01_page(analysis::lab01_document(lab.run, lab.options), lab.run);
}

std::string lab01_expected(const topology::ResolvedMachine& machine, const analysis::GpuCluster& cluster,
                           const Lab01Request& request) {
  analysis::Lab01Options options;
  options.price = price_of(request);
  options.machine = {machine.first_host(), cluster};
  options.prediction = analysis::prediction_title({machine.argument, cluster, {}});
  const Run run = analysis::lab01_prediction(cluster);
  options.ceilings = analysis::lab01_ceilings(run, options.machine);
  return analysis::report_lab01(run, options);
}

}  // namespace collbench::program
