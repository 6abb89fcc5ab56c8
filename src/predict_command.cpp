#include "src/predict_command.hpp"

#include "analysis/gpu/named_cluster.hpp"
#include "analysis/prediction.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

namespace collbench {
namespace {

std::vector<std::uint64_t> usual_sizes() {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 8; size < 8 * kGiB; size *= 4) sizes.push_back(size);
  sizes.push_back(8 * kGiB);
  return sizes;
}

}  // namespace

std::string predict_command(const PredictOptions& options) {
  GpuCluster cluster = named_gpu_cluster(options.topology, options.nodes, options.ranks_per_node);
  if (cluster.ranks() < 2) {
    throw usage_error("--ranks-per-node", "one rank has nobody to talk to", "give two ranks or more");
  }
  if (!options.transport.empty()) cluster.transport = transport_option(options.transport, cluster.sm);
  const auto sizes = options.sizes.empty() ? usual_sizes() : options.sizes;
  return render_prediction(predict(options.topology, cluster, options.operations, sizes), options.format);
}

}  // namespace collbench
