// losses_stated() of verdict.hpp: what the run's own log names as a reason to be slow.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/verdict/verdict.hpp"
#include "base/text_input.hpp"

namespace collbench::analysis {
namespace {

/// What a setting can take away.
enum class Costs { between_local_gpus, verbs_between_nodes, channels, algorithm };

/// A variable that takes a path, links or channels away (NCCL's user guide, environment variables); an empty
/// value: whatever it is set to.
struct CostlySetting {
  std::string_view name;
  std::string_view value;
  Costs costs;
};
constexpr std::array<CostlySetting, 13> kCostlySettings{
    {{"NCCL_P2P_DISABLE", "1", Costs::between_local_gpus},
     {"NCCL_P2P_LEVEL", "0", Costs::between_local_gpus},
     {"NCCL_P2P_LEVEL", "LOC", Costs::between_local_gpus},
     {"NCCL_SHM_DISABLE", "1", Costs::between_local_gpus},
     {"NCCL_IB_DISABLE", "1", Costs::verbs_between_nodes},
     {"NCCL_NET", "Socket", Costs::verbs_between_nodes},
     {"NCCL_NET_GDR_LEVEL", "0", Costs::verbs_between_nodes},
     {"NCCL_NET_GDR_LEVEL", "LOC", Costs::verbs_between_nodes},
     {"NCCL_MAX_NCHANNELS", "", Costs::channels},
     {"NCCL_MAX_NRINGS", "", Costs::channels},
     {"NCCL_MAX_CTAS", "", Costs::channels},
     {"NCCL_ALGO", "", Costs::algorithm},
     {"NCCL_PROTO", "", Costs::algorithm}}};

/// How many NICs NCCL_IB_HCA names, where it is a list of devices: "^mlx5_0" leaves out, "mlx5" is all that
/// begin so.
std::optional<std::size_t> nics_named(std::string_view value) {
  if (value.starts_with('=')) value.remove_prefix(1);
  const std::vector<std::string> names = split_cells(value, ',');
  const bool is_list = std::ranges::all_of(names, [](std::string_view name) {
    name = name.substr(0, name.find(':'));
    return !name.starts_with('^') && name.find('_') != std::string_view::npos &&
           std::isdigit(static_cast<unsigned char>(name.back()));
  });
  return is_list ? std::optional(names.size()) : std::nullopt;
}

/// A plugin may show several NICs as one, and sockets list interfaces.
void add_missing_nics(const Run& run, const GpuCluster& cluster, std::vector<std::string>& losses) {
  const auto& nics = run.log->nics;
  const bool sees_them = cluster.run.logged != Transport::sockets && traits(cluster.transport).nccl_sees_nics;
  if (cluster.domains() == 1 || !sees_them) return;
  const auto set = run.environment.find("NCCL_IB_HCA");
  if (!nics) {
    const auto named = set == run.environment.end() ? std::nullopt : nics_named(set->second);
    if (named && std::cmp_less(*named, cluster.nics))
      losses.push_back(
          fmt::format("NCCL_IB_HCA={}, {} of the {} NICs of a node", set->second, *named, cluster.nics));
    return;
  }
  if (!std::cmp_less(nics->value.size(), cluster.nics)) return;
  losses.push_back(fmt::format("{} of the {} NICs of a node (line {}{})", nics->value.size(), cluster.nics,
                               nics->line,
                               set == run.environment.end() ? "" : ", NCCL_IB_HCA=" + set->second));
}

/// Where NVLink joins the GPUs, none of their bytes has to pass through host memory.
void add_host_memory(const Run& run, const GpuCluster& cluster, std::vector<std::string>& losses) {
  if (cluster.nvlinks == 0) return;
  for (const LogConnections& each : run.log->connections) {
    if (!each.via.starts_with("SHM")) continue;
    losses.push_back(fmt::format("{} within a node through host memory in place of NVLink (via {}, line {})",
                                 counted(each.count, "connection"), each.via, each.line));
  }
}

}  // namespace

bool has_algorithms(const Row& row) {
  return row.expectation.tree_seconds.has_value() || row.expectation.nvls_seconds.has_value();
}

std::vector<std::string> costly_settings(const Run& run, bool may_choose) {
  std::vector<std::string> settings;
  const bool by_plugin = run.log && run.log->network &&
                         run.log->network->value.find("IB") == std::string::npos && !uses_sockets(*run.log);
  const int nodes = node_count(run.ranks);
  const auto matters = [&](Costs costs) {
    switch (costs) {
      case Costs::between_local_gpus:
        return std::cmp_less(nodes, run.ranks.size());
      case Costs::verbs_between_nodes:
        return nodes > 1 && !by_plugin;
      case Costs::algorithm:
        return may_choose;
      case Costs::channels:
        return true;
    }
    return true;
  };
  for (const CostlySetting& each : kCostlySettings) {
    const auto set = run.environment.find(std::string(each.name));
    if (set == run.environment.end() || !matters(each.costs)) continue;
    if (!each.value.empty() && lower(set->second) != lower(each.value)) continue;
    settings.push_back(fmt::format("{}={}", each.name, set->second));
  }
  return settings;
}

std::vector<std::string> losses_stated(const Run& run, const GpuCluster& cluster, bool may_choose) {
  std::vector<std::string> losses = costly_settings(run, may_choose);
  if (!run.log) return losses;
  losses.insert(losses.end(), run.log->losses.begin(), run.log->losses.end());
  add_missing_nics(run, cluster, losses);
  add_host_memory(run, cluster, losses);
  return losses;
}

}  // namespace collbench::analysis
