#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/report/diff_report.hpp"
#include "analysis/report/prediction.hpp"
#include "analysis/report/report.hpp"
#include "base/record/json_fields.hpp"
#include "topology/catalog/finding_kinds.hpp"

namespace collbench::analysis {
namespace {

Json nccl_table_json(const NcclTableChoice& choice) {
  return {{"algorithm", choice.algorithm},
          {"protocol", choice.protocol},
          {"channels", {choice.min_channels, choice.max_channels}},
          {"machine", choice.machine},
          {"nodes", choice.nodes},
          {"versions", nccl_versions(choice)}};
}

Json predicted_row_json(const PredictedRow& row, const GpuCluster& cluster) {
  const PredictedBusbw rates = predicted_busbw(row, cluster);
  return {{"operation", operation(row.operation).name},
          {"size_bytes", row.size_bytes},
          {"expected_seconds", or_null(row.expected.expected_seconds)},
          {"ring_bus_bandwidth_gb_per_s", or_null(rates.ring)},
          {"tree_bus_bandwidth_gb_per_s", or_null(rates.tree)},
          {"expected_bus_bandwidth_gb_per_s", or_null(rates.expected)},
          {"band_gb_per_s", {or_null(rates.band_low), or_null(rates.band_high)}},
          {"expected_by", row.expected.expected_by},
          {"limited_by", row.expected.limited_by},
          {"nccl_seconds", or_null(nccl_seconds(row))},
          {"nccl_choice", nccl_choice_name(row)},
          {"nccl_table", row.table ? nccl_table_json(*row.table) : Json(nullptr)}};
}

void add_rate(Json& json, const char* algorithm, std::optional<double> healthy,
              std::optional<double> faulty) {
  if (!healthy) return;
  json[algorithm] = {{"healthy_gb_per_s", *healthy}};
  if (!faulty) return;
  json[algorithm]["faulty_gb_per_s"] = *faulty;
  json[algorithm]["lost_gb_per_s"] = *healthy - *faulty;
  json[algorithm]["lost_percent"] = 100 * (*healthy - *faulty) / *healthy;
}

std::string_view cost_case_name(CostCase when) {
  constexpr std::array<std::string_view, 4> kNames{"any", "at_start", "at_start_on_all_nodes", "during_job"};
  return kNames.at(static_cast<std::size_t>(when));
}

Json cost_json(const FindingCost& cost) {
  Json json{{"operation", "all_reduce"}, {"nodes", cost.nodes}, {"case", cost_case_name(cost.when)}};
  add_rate(json, "ring", cost.healthy.ring, cost.faulty.ring);
  add_rate(json, "tree", cost.healthy.tree, cost.faulty.tree);
  add_rate(json, "nvls", cost.healthy.nvls, cost.faulty.nvls);
  add_rate(json, "best", cost.healthy.best, cost.faulty.best);
  json["best_by"] = {{"healthy", cost.healthy.best_by}, {"faulty", cost.faulty.best_by}};
  if (!cost.healthy.ring_plan.empty() && !cost.faulty.ring_plan.empty())
    json["nccl_ring"] = {{"healthy", cost.healthy.ring_plan}, {"faulty", cost.faulty.ring_plan}};
  return json;
}

Json finding_json(const PricedFinding& each) {
  const topology::FindingKind& kind = topology::finding_kind(each.finding.code);
  Json json{{"code", kind.code},
            {"severity", topology::severity_name(kind.severity)},
            {"host", each.host},
            {"device", each.finding.device},
            {"what", each.finding.what},
            {"reason", kind.reason},
            {"confirm", kind.confirm},
            {"price", price_kind_name(each.price.kind)},
            {"price_reason", each.price.reason},
            {"advice", each.price.advice},
            {"costs", Json::array()}};
  for (const FindingCost& cost : each.price.costs) json["costs"].push_back(cost_json(cost));
  return json;
}

}  // namespace

std::string report_json(const Prediction& prediction) {
  const GpuCluster& cluster = prediction.cluster;
  Json rows = Json::array();
  for (const PredictedRow& row : prediction.rows) rows.push_back(predicted_row_json(row, cluster));
  const Json whole = {{"record", "collbench prediction"},
                      {"topology", prediction.topology},
                      {"gpu", cluster.gpu},
                      {"nodes", cluster.nodes},
                      {"ranks", cluster.ranks()},
                      {"transport", traits(cluster.transport).name},
                      {"rows", std::move(rows)}};
  return json_document(whole);
}

std::string report_json(const DiffReport& diff) {
  Json json{{"collbench_topology_diff", 1},
            {"fault", diff.has_fault()},
            {"different_machine", diff.has_other_machine()},
            {"unreadable", Json::array()},
            {"hosts_without_file", diff.without_file},
            {"left_out", diff.left_out},
            {"pairs", Json::array()}};
  for (const topology::UnreadableFile& each : diff.files.unreadable)
    json["unreadable"].push_back({{"file", each.file}, {"where", each.where}, {"why", each.why}});
  if (diff.nodes > 0) json["machines"] = diff.nodes;
  for (const ComparedHosts& pair : diff.pairs) {
    Json findings = Json::array();
    for (const PricedFinding& each : pair.findings) findings.push_back(finding_json(each));
    json["pairs"].push_back({{"a", pair.a},
                             {"b", pair.b},
                             {"findings", findings},
                             {"versions", pair.versions},
                             {"not_compared", pair.not_compared}});
  }
  if (diff.nodes > 0) {
    json["odd_nodes"] = Json::array();
    for (const OddNode& node : odd_nodes(diff)) {
      json["odd_nodes"].push_back(
          {{"host", node.host}, {"fault", node.has_fault}, {"findings", node.findings}});
    }
    json["odd_nodes_slurm"] = slurm_node_list(faulty_nodes(diff));
  }
  return json_document(json);
}

}  // namespace collbench::analysis
