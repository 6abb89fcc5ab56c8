#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/probe/probe_json.hpp"
#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"
#include "tools/burnin/attribution/burnin_record.hpp"
#include "tools/burnin/attribution/gpu_phase.hpp"

// The record of a burn-in as JSON, and back.

namespace collbench::analysis {
namespace {

using BurninJson = nlohmann::json;

BurninJson names_of(const std::vector<int>& nodes, const BurninRecord& record) {
  return array_of(nodes, [&record](int node) { return record.table.nodes[slot_of(node)]; });
}

/// The cell of a time, which an older record has not.
std::optional<double> share_from_json(const std::vector<JsonReader>& cells, std::size_t cell) {
  return cell < cells.size() ? cells[cell].optional_number(kShare) : std::nullopt;
}

BurninJson blame_json(const BurninRecord& record, const Blame& blame) {
  return {{"kind", name(blame.kind)},
          {"nodes", names_of(blame.nodes, record)},
          {"rail", or_null(blame.rail)},
          {"times_slower", blame.times_slower},
          {"line", blame.line},
          {"measure", blame.measure},
          {"confirmed", blame.confirmed},
          {"evidence", blame.evidence},
          {"next", blame.next}};
}

BurninJson launch_json(const BurninRecord& record, const GroupLaunch& launch) {
  return {{"phase", name(launch.phase)},
          {"nodes", names_of(launch.nodes, record)},
          {"rail", or_null(launch.rail)},
          {"alone", launch.alone}};
}

BurninJson failure_json(const PairFailure& failure) {
  return {{"a", failure.a},
          {"b", failure.b},
          {"rail", failure.rail},
          {"why", failure.why},
          {"alone", failure.alone}};
}

BurninJson rise_json(const CounterRise& rise) {
  return {
      {"phase", rise.phase}, {"host", rise.host},       {"counter", rise.counter},      {"from", rise.from},
      {"to", rise.to},       {"seconds", rise.seconds}, {"grade", name(grade_of(rise))}};
}

CounterRise rise_from_json(const JsonReader& json) {
  return {json.at("phase").text(),
          host_name_from_json(json.at("host")),
          json.at("counter").text(),
          json.at("from").integer<std::uint64_t>(),
          json.at("to").integer<std::uint64_t>(),
          json.at("seconds").number(kQuantity)};
}

GroupLaunch launch_from_json(const JsonReader& json, const BurninRecord& record) {
  GroupLaunch launch;
  const std::string phase = json.at("phase").text();
  const std::vector<BurninPhase> phases = burnin_phases();
  const auto found =
      std::find_if(phases.begin(), phases.end(), [&phase](BurninPhase one) { return name(one) == phase; });
  if (found == phases.end()) throw json.at("phase").expected("the name of a phase");
  launch.phase = *found;
  for (const JsonReader& node : json.at("nodes").items()) {
    const auto& nodes = record.table.nodes;
    const auto at = std::find(nodes.begin(), nodes.end(), node.text());
    if (at == nodes.end()) throw node.expected("one of the record's nodes");
    launch.nodes.push_back(static_cast<int>(at - nodes.begin()));
  }
  if (launch.nodes.empty()) throw json.at("nodes").expected("a node at least");
  if (const JsonReader rail = json.at("rail"); !rail.is_null()) {
    launch.rail = rail.integer<int>();
    if (*launch.rail >= record.table.rails) throw rail.expected("one of the record's rails");
  }
  launch.alone = json.at("alone").boolean();
  return launch;
}

void read_groups(const JsonReader& root, BurninRecord& record) {
  if (const auto groups = root.find("groups")) {
    for (const JsonReader& group : groups->items()) {
      record.groups.push_back({launch_from_json(group, record), group.at("operation").text(),
                               group.at("bus_bytes_per_second").number(kRate),
                               group.at("slowest_bus_bytes_per_second").number(kRate)});
      // Without the word for it the bound is that of host memory, the wider one.
      const auto memory = group.find("memory");
      record.groups.back().host_memory = !memory || memory->text() != "GPU";
    }
  }
  if (const auto failures = root.find("group_failures")) {
    for (const JsonReader& failure : failures->items())
      record.group_failures.push_back({launch_from_json(failure, record), failure.at("why").text()});
  }
  if (const auto rises = root.find("counter_rises")) record.rises = list_from_json(*rises, rise_from_json);
  if (const auto notes = root.find("counter_notes")) record.counter_notes = texts_from_json(*notes);
}

}  // namespace

std::string burnin_json(const BurninRecord& record) {
  const Attribution found = attribute(record);
  BurninJson times = BurninJson::array();
  for (const RailTime& time : record.table.times)
    times.push_back({time.from, time.to, time.rail, time.seconds, time.alone, or_null(time.resent),
                     or_null(time.waited), time.repeat});
  const auto finding = [&record](const Blame& blame) { return blame_json(record, blame); };
  BurninJson buckets = BurninJson::array();
  for (const NodeVerdict& node : found.nodes) {
    buckets.push_back(
        {{"node", record.table.nodes[slot_of(node.node)]}, {"bucket", name(node.bucket)}, {"why", node.why}});
  }
  BurninJson groups = BurninJson::array();
  for (const GroupRate& rate : record.groups) {
    groups.push_back(launch_json(record, rate.launch));
    groups.back().update({{"operation", rate.operation},
                          {"bus_bytes_per_second", rate.bus_bandwidth},
                          {"slowest_bus_bytes_per_second", rate.slowest},
                          {"memory", rate.host_memory ? "host" : "GPU"}});
  }
  BurninJson group_failures = BurninJson::array();
  for (const GroupFailure& failure : record.group_failures) {
    group_failures.push_back(launch_json(record, failure.launch));
    group_failures.back()["why"] = failure.why;
  }
  const auto probe = [](const ProbeRecord& each) { return BurninJson::parse(probe_json(each)); };
  const BurninJson document{{"record", "collbench burn-in"},
                            {"nodes", record.table.nodes},
                            {"rails", record.table.rails},
                            {"leaf_of_node", record.table.leaf_of_node},
                            {"adaptive_routing", record.table.adaptive_routing},
                            {"settings", record.settings},
                            {"source", record.source},
                            {"bytes", record.bytes},
                            {"expected_bytes_per_second", record.expected},
                            {"doubt", found.doubt},
                            {"unseen_below_times", std::exp(found.blind_below)},
                            {"planned", record.planned},
                            {"left_out", record.left_out},
                            {"retests_left_out", record.retests_left_out},
                            {"times", times},
                            {"failures", array_of(record.failures, failure_json)},
                            {"groups", groups},
                            {"probes", array_of(record.probes, probe)},
                            {"gpu_models", record.gpu_models},
                            {"group_failures", group_failures},
                            {"counter_rises", array_of(record.rises, rise_json)},
                            {"counter_notes", record.counter_notes},
                            {"phases_left_out", record.phases_left_out},
                            {"findings", array_of(found.blames, finding)},
                            {"buckets", buckets}};
  // What a launch said need not be UTF-8.
  return document.dump(2, ' ', false, BurninJson::error_handler_t::replace) + "\n";
}

BurninRecord burnin_from_json(std::string_view text, const std::string& file) {
  const BurninJson document = parse_json(text, file);
  const JsonReader root(document, file);
  if (root.at("record").text() != "collbench burn-in")
    throw root.at("record").expected("\"collbench burn-in\"");
  BurninRecord record;
  record.table.nodes = list_from_json(root.at("nodes"), host_name_from_json);
  record.table.rails = root.at("rails").integer<int>(1);
  record.table.leaf_of_node =
      list_from_json(root.at("leaf_of_node"), [](const JsonReader& leaf) { return leaf.integer<int>(); });
  record.table.adaptive_routing = root.at("adaptive_routing").boolean();
  if (const auto settings = root.find("settings")) {
    for (const auto& [name, value] : settings->members()) record.settings[name] = value.text();
  }
  if (const auto source = root.find("source")) record.source = source->text();
  record.bytes = root.at("bytes").number(kQuantity);
  if (const auto expected = root.find("expected_bytes_per_second")) record.expected = expected->number(kRate);
  record.planned = root.at("planned").integer<int>();
  record.left_out = root.at("left_out").integer<int>();
  if (const auto left_out = root.find("retests_left_out")) record.retests_left_out = left_out->integer<int>();
  if (const auto phases = root.find("phases_left_out")) record.phases_left_out = texts_from_json(*phases);
  const int nodes = static_cast<int>(record.table.nodes.size());
  const auto below = [](const JsonReader& value, int bound) {
    const int found = value.integer<int>();
    if (found >= bound) throw value.expected(fmt::format("a number below {}", bound));
    return found;
  };
  if (!record.table.leaf_of_node.empty() && std::cmp_not_equal(record.table.leaf_of_node.size(), nodes))
    throw root.at("leaf_of_node").expected("a leaf for each node");
  for (const JsonReader& time : root.at("times").items()) {
    const std::vector<JsonReader> cells = time.items();
    if (cells.size() < 5 || cells.size() > 8)
      throw time.expected(
          "from, to, rail, seconds, alone, share sent again, share waited for a core, batch of repeats");
    if (cells[3].number(kSeconds) == 0) throw cells[3].expected("a time above 0");
    record.table.times.push_back({below(cells[0], nodes), below(cells[1], nodes),
                                  below(cells[2], record.table.rails), cells[3].number(kSeconds),
                                  cells[4].boolean(), share_from_json(cells, 5), share_from_json(cells, 6),
                                  cells.size() > 7 ? cells[7].integer<int>() : 0});
  }
  for (const JsonReader& failure : root.at("failures").items()) {
    record.failures.push_back({below(failure.at("a"), nodes), below(failure.at("b"), nodes),
                               below(failure.at("rail"), record.table.rails), failure.at("why").text()});
    if (const auto alone = failure.find("alone")) record.failures.back().alone = alone->boolean();
  }
  read_groups(root, record);
  if (const auto probes = root.find("probes")) {
    for (const JsonReader& probe : probes->items()) {
      ProbeRecord found = probe_from_json(probe);
      const auto& known = record.table.nodes;
      if (std::find(known.begin(), known.end(), found.host) == known.end())
        throw probe.at("host").expected("one of the record's nodes");
      add_probe(record, std::move(found));
    }
  }
  if (const auto listed = root.find("gpu_models")) {
    for (const auto& [host, models] : listed->members()) {
      const auto& known = record.table.nodes;
      if (std::find(known.begin(), known.end(), host) == known.end())
        throw models.expected("the models of one of the record's nodes");
      for (const JsonReader& model : models.items()) record.gpu_models[host].push_back(model.text());
    }
  }
  return record;
}

}  // namespace collbench::analysis
