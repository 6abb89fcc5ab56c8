#include "src/judge_command.hpp"

#include "analysis/cluster_findings.hpp"
#include "analysis/gpu/run_facts.hpp"
#include "analysis/judge.hpp"
#include "analysis/report.hpp"
#include "base/error.hpp"
#include "base/record/run_stream.hpp"
#include "src/input_text.hpp"
#include "src/named_host.hpp"
#include "src/text_options.hpp"
#include "topology/reference_machines.hpp"

namespace collbench {

Answer judge_command(const JudgeOptions& options) {
  const Run run = run_from_text(input_text(options.record), input_name(options.record));
  const bool told = options.topology.empty() && run.log && run.log->topology;
  const std::string topology = told ? run.log->topology->value : options.topology;
  if (topology.empty()) {
    throw usage_error("--topology", "nothing says what the run should be judged by",
                      "give a reference machine's name or a file that describes a node");
  }
  GpuCluster cluster = cluster_of_run(run, topology, options.record, options.own_floor);
  if (!options.transport.empty()) cluster.transport = transport_option(options.transport, cluster.sm);
  Run judged = judged_on_gpus(run, cluster);
  const bool reference = find_reference_machine(topology) != nullptr;
  if (is_low(judged)) {
    explain_low(judged, findings_on_the_path(run, {named_host(topology), {topology}}, reference));
  }
  return {report(judged, options.format, text_options(options.colour, false)),
          is_low(judged) ? ExitStatus::low : ExitStatus::ok};
}

}  // namespace collbench
