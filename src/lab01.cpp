#include "src/lab01.hpp"

#include "analysis/lab01_ceilings.hpp"
#include "analysis/lab01_checks.hpp"
#include "analysis/report_lab01.hpp"
#include "src/named_host.hpp"
#include "topology/cluster.hpp"

namespace collbench {

std::string lab01(const Run& run, const Lab01Request& request) {
  std::string topology = request.topology;
  if (topology.empty() && run.log && run.log->topology) topology = run.log->topology->value;
  std::optional<Host> host;
  if (!topology.empty()) {
    host = named_host(topology);
  } else if (run.cluster) {
    host = read_cluster_record(*run.cluster, "the record").shapes.at(0);
    if (host->gpus.empty()) host.reset();  // host memory has no ceilings of this kind
  }
  return report_lab01(run, {lab01_checks(run, host), lab01_ceilings(run, host), request.price_per_gpu_hour});
}

}  // namespace collbench
