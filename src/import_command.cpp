#include "src/import_command.hpp"

#include <fmt/format.h>

#include "analysis/report.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/record/run_json.hpp"
#include "src/version.hpp"
#include "topology/read_any.hpp"
#include "topology/reference_machines.hpp"

namespace collbench {
namespace {

/// GPUs of one node of what --topology names: a reference machine, or else a file.
std::size_t gpus_per_node(const std::string& topology) {
  if (const ReferenceMachine* machine = find_reference_machine(topology)) {
    return reference_host(*machine).gpus.size();
  }
  const Topology read = read_any_topology(read_file(topology), topology);
  return read.hosts.empty() ? 0 : read.hosts.front().gpus.size();
}

void require_fitting_topology(const Run& run, const std::string& topology) {
  if (topology.empty()) return;
  const std::size_t gpus = gpus_per_node(topology);
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
  Run run = import_log(read_file(log), log, options);
  require_fitting_topology(run, options.topology);
  run.versions.collbench = versions().collbench;
  return run;
}

}  // namespace

void import_command(const ImportCommand& command) {
  if (command.record_path.empty()) {
    for (const std::string& log : command.logs) {
      fmt::print("{}", report(import_file(log, command.options), command.format));
    }
    return;
  }
  if (command.logs.size() > 1) {
    throw usage_error("-o", "one record holds one log, and several are given", "run import once for each");
  }
  require_writable(command.record_path, command.overwrite, "-o");
  write_file_by_rename(command.record_path, to_json_text(import_file(command.logs.front(), command.options)));
}

}  // namespace collbench
