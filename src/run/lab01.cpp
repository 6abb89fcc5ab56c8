#include "src/run/lab01.hpp"

#include <algorithm>

#include "analysis/report/lab01/lab01.hpp"
#include "base/error.hpp"
#include "topology/cluster/cluster_topology.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench::program {
namespace {

bool is_all_reduce(const Row& row) { return row.measurement.key.operation == OperationId::all_reduce; }

}  // namespace

std::string lab01(const Run& run, const Lab01Request& request) {
  if (std::none_of(run.rows.begin(), run.rows.end(), is_all_reduce)) {
    throw usage_error("--preset lab01", "it reports AllReduce, and the run has no AllReduce row",
                      "leave --preset out, or use a run of AllReduce");
  }
  std::string topology = request.topology;
  if (topology.empty() && run.log && run.log->topology) topology = run.log->topology->value;
  std::optional<topology::Host> host;
  if (!topology.empty()) {
    host = topology::resolve_machine(topology).first_host();
  } else if (run.cluster) {
    host = topology::read_cluster_record(*run.cluster, "the record").distinct_hosts.at(0);
    if (host->gpus.empty()) host.reset();  // host memory has no ceilings of this kind
  }
  return analysis::report_lab01(run, {analysis::lab01_checks(run, host), analysis::lab01_ceilings(run, host),
                                      request.price_per_gpu_hour});
}

}  // namespace collbench::program
