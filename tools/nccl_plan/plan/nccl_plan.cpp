#include "tools/nccl_plan/plan/nccl_plan.hpp"

#include <string_view>

namespace collbench {
namespace {

/// NCCL's names of paths, the shortest first (topoPathTypeStr of src/graph/topo.cc, 2.30.7; earlier versions
/// lack some).
constexpr std::array<std::string_view, 12> kPathTypes{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                                      "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};

const std::string& longer_path(const std::string& a, const std::string& b) {
  const auto* const first = std::ranges::find(kPathTypes, a);
  const auto* const second = std::ranges::find(kPathTypes, b);
  return second > first ? b : a;
}

/// The smallest of the nodes; none where one lacks it.
std::optional<NcclSearchGraph> smallest_graph(const NcclPlan& plan, NcclAlgorithm algorithm) {
  std::optional<NcclSearchGraph> agreed;
  for (const auto& node : plan.graphs) {
    const auto graph = std::ranges::find(node, algorithm, &NcclSearchGraph::algorithm);
    if (graph == node.end()) return std::nullopt;
    if (!agreed) agreed = *graph;
    agreed->channels = std::min(agreed->channels, graph->channels);
    agreed->intra_bytes_per_second = std::min(agreed->intra_bytes_per_second, graph->intra_bytes_per_second);
    agreed->inter_bytes_per_second = std::min(agreed->inter_bytes_per_second, graph->inter_bytes_per_second);
    agreed->intra_type = longer_path(agreed->intra_type, graph->intra_type);
    agreed->inter_type = longer_path(agreed->inter_type, graph->inter_type);
    agreed->cross_nic = std::max(agreed->cross_nic, graph->cross_nic);
    agreed->pattern = std::max(agreed->pattern, graph->pattern);
  }
  return agreed;
}

Json channel_json(const NcclGraphChannel& channel) {
  return {
      {"nic_in", or_null(channel.nic_in)}, {"nic_out", or_null(channel.nic_out)}, {"ranks", channel.ranks}};
}

Json graph_json(const NcclSearchGraph& graph) {
  return {{"algorithm", name(graph.algorithm)},
          {"pattern", graph.pattern},
          {"cross_nic", graph.cross_nic},
          {"channels", graph.channels},
          {"intra_bytes_per_second", graph.intra_bytes_per_second},
          {"inter_bytes_per_second", graph.inter_bytes_per_second},
          {"intra_type", graph.intra_type},
          {"inter_type", graph.inter_type},
          {"channel", array_of(graph.channel, channel_json)}};
}

Json connection_json(const NcclConnection& connection) {
  return {{"channel", connection.channel},
          {"from", connection.from},
          {"to", connection.to},
          {"send_nic", or_null(connection.send_nic)},
          {"receive_nic", or_null(connection.receive_nic)},
          {"gpu_direct", connection.gpu_direct},
          {"proxy_rank", or_null(connection.proxy_rank)}};
}

Json tuning_json(const NcclTuning& tuning) {
  return {{"function", tuning.function},
          {"algorithm", tuning.algorithm},
          {"protocol", tuning.protocol},
          {"latency_seconds", tuning.latency_seconds},
          {"bytes_per_second", tuning.bytes_per_second}};
}

Json row_json(const NcclPlannedRow& row) {
  return {{"operation", operation(row.operation).name},
          {"size_bytes", row.size_bytes},
          {"expected_seconds", or_null(row.expected_seconds)},
          {"nccl", field_to_json(row.selection)}};
}

}  // namespace

std::optional<NcclSearchGraph> agreed_graph(const NcclPlan& plan, NcclAlgorithm algorithm) {
  std::optional<NcclSearchGraph> agreed = smallest_graph(plan, algorithm);
  const bool is_ring = algorithm == NcclAlgorithm::ring;
  if (!agreed || (!is_ring && algorithm != NcclAlgorithm::tree)) return agreed;
  if (const auto other = smallest_graph(plan, is_ring ? NcclAlgorithm::tree : NcclAlgorithm::ring)) {
    agreed->channels = std::min(agreed->channels, other->channels);
  }
  return agreed;
}

Json nccl_plan_to_json(const NcclPlan& plan) {
  Json settings = Json::object();
  for (const auto& [name, value] : plan.settings) settings[name] = value;
  Json agreed = Json::array();
  for (const NcclAlgorithm algorithm : kSearchedAlgorithms) {
    if (auto graph = agreed_graph(plan, algorithm)) {
      graph->channel.clear();
      agreed.push_back(graph_json(*graph));
      agreed.back().erase("channel");
    }
  }
  return {
      {"machine", plan.machine},
      {"nodes", plan.nodes},
      {"nodes_per_nvlink_domain", plan.nodes_per_domain},
      {"ranks", plan.ranks},
      {"library", plan.library},
      {"nccl_version", plan.version},
      {"settings", settings},
      {"network", plan.network},
      {"nics", plan.nics},
      {"graphs_by_node", array_of(plan.graphs, [](const auto& node) { return array_of(node, graph_json); })},
      {"graphs_agreed", agreed},
      {"collective_channels", plan.collective_channels},
      {"nvls_channels", plan.nvls_channels},
      {"p2p_channels", plan.p2p_channels},
      {"p2p_channels_per_peer", plan.p2p_channels_per_peer},
      {"rings", plan.rings},
      {"tree_parents", plan.tree_parents},
      {"nvls_heads", plan.nvls_heads},
      {"connections", array_of(plan.connections, connection_json)},
      {"tuning", array_of(plan.tuning, tuning_json)},
      {"rows", array_of(plan.rows, row_json)},
      {"warnings", plan.warnings}};
}

}  // namespace collbench
