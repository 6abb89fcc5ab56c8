#include "src/import_command.hpp"

#include <fmt/format.h>

#include "analysis/gpu/run_facts.hpp"
#include "analysis/judge.hpp"
#include "analysis/report.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/record/run_json.hpp"
#include "src/input_text.hpp"
#include "src/named_host.hpp"
#include "src/text_options.hpp"
#include "src/version.hpp"

namespace collbench {
namespace {

void require_fitting_topology(const Run& run, const std::string& topology) {
  if (topology.empty()) return;
  const std::size_t gpus = named_host(topology).gpus.size();
  if (gpus == 0) {
    throw usage_error("--topology", fmt::format("{} has no GPUs", topology), "name the machine of the log");
  }
  const auto& ranks = run.log->ranks_per_node;
  if (ranks && std::cmp_greater(ranks->value, gpus)) {
    throw usage_error("--topology",
                      fmt::format("{} has {} GPUs per node, and the log has {} ranks per node", topology,
                                  gpus, ranks->value),
                      "name the machine of the log");
  }
}

Run import_file(const std::string& log, const ImportOptions& options) {
  Run run = import_log(input_text(log), input_name(log), options);
  require_fitting_topology(run, options.topology);
  run.versions.collbench = versions().collbench;
  if (!options.topology.empty()) {
    run = judged_on_gpus(run, cluster_of_run(run, options.topology, log, false));
  }
  return run;
}

}  // namespace

Answer import_command(const ImportCommand& command) {
  if (command.record_path.empty()) {
    Answer tables;
    for (const std::string& log : command.logs) {
      const Run run = import_file(log, command.options);
      if (is_low(run)) tables.status = ExitStatus::low;
      tables.text += command.lab01.asked ? lab01(run, command.lab01)
                                         : report(run, command.format, text_options(command.colour, false));
    }
    return tables;
  }
  if (command.logs.size() > 1) {
    throw usage_error("-o", "one record holds one log, and several are given", "run import once for each");
  }
  require_writable(command.record_path, command.overwrite, "-o");
  const Run run = import_file(command.logs.front(), command.options);
  write_file_by_rename(command.record_path, to_json_text(run));
  return {"", is_low(run) ? ExitStatus::low : ExitStatus::ok};
}

}  // namespace collbench
