#include "tools/nccl_plan/command/nccl_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/error.hpp"
#include "base/suggest_names.hpp"
#include "src/cli/standard_streams.hpp"
#include "tools/nccl_plan/simulated_run/ib_hca.hpp"

namespace collbench::program {
namespace {

constexpr std::string_view kPrefix = "NCCL_";

bool is_name_letter(char letter) {
  return (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') || letter == '_';
}

/// Adds the names in `text`, each with the NUL behind it; what may go on behind the end of `text` is
/// returned.
std::string take_names(std::string_view text, std::set<std::string>& names) {
  constexpr std::size_t kMaxName = 128;
  for (std::size_t at = text.find(kPrefix); at != std::string_view::npos; at = text.find(kPrefix, at + 1)) {
    std::size_t end = at;
    while (end < text.size() && is_name_letter(text[end])) ++end;
    if (end == text.size()) return std::string(end - at > kMaxName ? "" : text.substr(at));
    if (text[end] == '\0' && end - at > kPrefix.size()) names.emplace(text.substr(at, end - at));
  }
  return std::string(text.substr(text.size() - std::min(text.size(), kPrefix.size() - 1)));
}

bool goes_through_plugin(analysis::Transport transport) {
  using analysis::Transport;
  switch (transport) {
    case Transport::efa_rdma:
    case Transport::efa_send_recv:
    case Transport::tcpx:
    case Transport::tcpxo:
    case Transport::plugin:
      return true;
    case Transport::unknown:
    case Transport::infiniband:
    case Transport::roce:
    case Transport::staged:
    case Transport::sockets:
      return false;
  }
  return false;
}

/// None where the machine has no model: what it lacks is NCCL's to say.
std::optional<analysis::GpuCluster> cluster_of(const topology::ResolvedMachine& machine, int nodes,
                                               int ranks_per_node) {
  try {
    return analysis::gpu_cluster(machine, nodes, ranks_per_node);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<std::string> setting_names(const std::string& library) {
  std::set<std::string> names;
  const auto next_part = input_parts(library);
  std::string open;  // the end of the last part, which may be the beginning of a name
  for (std::string_view part = next_part(); !part.empty(); part = next_part()) {
    open = take_names(open.append(part), names);
  }
  return {names.begin(), names.end()};
}

void require_known_setting(const std::string& library, const std::string& name) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(library, ignored)) return;
  const std::vector<std::string> known = setting_names(library);
  if (known.empty() || std::ranges::find(known, name) != known.end()) return;
  const std::vector<std::string> near = suggest_names(name, known);
  throw usage_error("--versus", fmt::format("{} does not contain the setting {}", library, name),
                    near.empty() ? "give a setting that this NCCL reads, such as NCCL_ALGO=Ring"
                                 : fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

int nodes_joined_by_nvlink(const topology::ResolvedMachine& machine, int nodes, int ranks_per_node,
                           const NcclSettings& settings) {
  const auto cluster = cluster_of(machine, nodes, ranks_per_node);
  const bool off =
      std::ranges::find(settings, NcclSettings::value_type{"NCCL_MNNVL_ENABLE", "0"}) != settings.end();
  return !cluster || nodes < 2 || off ? 1 : cluster->nodes_per_domain;
}

std::vector<std::string> simulation_notes(const topology::ResolvedMachine& machine, const NcclPlan& plan,
                                          int ranks_per_node) {
  std::vector<std::string> notes;
  const auto cluster = cluster_of(machine, plan.nodes, ranks_per_node);
  if (!cluster || plan.nodes < 2) return notes;
  if (plan.nodes_per_domain > 1) {
    notes.emplace_back(
        "NVLink joins the nodes here (MNNVL), and NCCL counts those that it joins as one; "
        "NCCL_MNNVL_ENABLE=0 keeps to the NICs between nodes");
  } else if (nodes_joined_by_nvlink(machine, plan.nodes, ranks_per_node, plan.settings) > 1) {
    notes.emplace_back(
        "nodes are treated as separate NVLink domains, and what crosses nodes goes over the NICs here: "
        "NVLink between nodes is simulated for NCCL 2.27 and newer; collbench predict models it");
  }
  if (cluster->domains() > 1 && goes_through_plugin(cluster->transport)) {
    notes.push_back(
        fmt::format("the plugin of {} is not simulated: its NICs stand here as plain NICs like InfiniBand's, "
                    "and what the plugin itself would set or choose is not in this",
                    analysis::traits(cluster->transport).name));
  }
  return notes;
}

std::string unmatched_hcas(const std::vector<std::string>& node_xml, std::string_view list) {
  const std::string_view named = list.starts_with('^') ? list.substr(1) : list;
  std::set<std::string> names;
  for (const std::string& xml : node_xml) {
    for (const collectives::HcaPort& port : collectives::hca_ports(xml)) {
      if (collectives::ib_hca_allows(named, port.name, port.port)) return {};
      names.insert(port.name);
    }
  }
  if (names.empty()) return {};
  return fmt::format("NCCL_IB_HCA={} names none of the NICs: {}", list, fmt::join(names, ", "));
}

}  // namespace collbench::program
