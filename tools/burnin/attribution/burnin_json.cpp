#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/probe/siblings.hpp"
#include "base/json_reader.hpp"
#include "base/record/fields.hpp"
#include "tools/burnin/attribution/burnin_record.hpp"
#include "tools/burnin/attribution/gpu_phase.hpp"
#include "tools/burnin/attribution/pairs/pair_design.hpp"

// The record of a burn-in as JSON, and back.

namespace collbench::analysis {

static void each_field(auto& visit, Either<CounterRise> auto& rise) {
  visit("phase", rise.phase);
  visit("host", rise.host, ReadBy{host_name_from_json});
  visit("counter", rise.counter);
  visit("from", rise.from);
  visit("to", rise.to);
  visit("seconds", rise.seconds);
}

static void each_field(auto& visit, Either<PairFailure> auto& failure) {
  visit("a", failure.a);
  visit("b", failure.b);
  visit("rail", failure.rail);
  visit("why", failure.why);
  visit.older("alone", failure.alone);
}

/// But the nodes, which are written by their names.
static void each_field(auto& visit, Either<GroupLaunch> auto& launch) {
  visit("phase", launch.phase, WordOf{phase_names(), "the name of a phase"});
  visit("rail", launch.rail);
  visit("alone", launch.alone);
  visit.where_given("without_nvlink", launch.without_nvlink);
}

static Json memory_to_json(bool host_memory) { return host_memory ? "host" : "GPU"; }
static bool memory_from_json(const JsonReader& json) { return json.text() != "GPU"; }

static void each_field(auto& visit, Either<GroupRate> auto& rate) {
  visit("operation", rate.operation);
  visit("bus_bytes_per_second", rate.bus_bandwidth, kRate);
  visit("slowest_bus_bytes_per_second", rate.slowest, kRate);
  visit.older("memory", rate.host_memory, By{memory_to_json, memory_from_json});
  visit.where_given("floor_bus_bytes_per_second", rate.floor);
  visit.where_given("floor_of", rate.machine);
}

static void each_field(auto& visit, Either<GroupFailure> auto& failure) { visit("why", failure.why); }

static void each_field(auto& visit, Either<HalvingCost> auto& cost) {
  visit("rounds", cost.rounds);
  visit("launches", cost.launches);
  visit("seconds", cost.seconds);
}

namespace {

int rails_from_json(const JsonReader& json) { return json.integer<int>(1); }

Json rise_to_json(const CounterRise& rise) {
  Json json = record_to_json(rise);
  json["grade"] = name(grade_of(rise));
  return json;
}

CounterRise rise_from_json(const JsonReader& json) { return record_from_json<CounterRise>(json); }

Json left_out_to_json(const LeftOutPhase& phase) { return phase.words; }
LeftOutPhase left_out_from_json(const JsonReader& json) {
  LeftOutPhase read{json.text(), std::nullopt, json.text().ends_with(kCutByTime)};
  for (const BurninPhase phase : burnin_phases())
    if (read.words.starts_with(name(phase) + " (")) read.phase = phase;
  return read;
}

}  // namespace

/// What is read as it was written; what names nodes or is judged stands beside it.
static void each_field(auto& visit, Either<BurninRecord> auto& record) {
  visit("nodes", record.table.nodes, ReadBy{host_name_from_json});
  visit("rails", record.table.rails, ReadBy{rails_from_json});
  visit("leaf_of_node", record.table.leaf_of_node);
  visit("adaptive_routing", record.table.adaptive_routing);
  visit.older("settings", record.settings);
  visit.older("source", record.source);
  visit("bytes", record.bytes);
  visit.older("expected_bytes_per_second", record.expected, kRate);
  visit.where_given("nvlink_nodes", record.nvlink_nodes);
  visit.where_given("halving_start_seconds", record.start_seconds);
  visit.where_given("halving", record.halving);
  visit.where_given("halving_predicted", record.halving_predicted);
  visit.where_given("halving_least", record.halving_least);
  visit("planned", record.planned);
  visit("left_out", record.left_out);
  visit.older("retests_left_out", record.retests_left_out);
  visit("failures", record.failures);
  visit.older("gpu_models", record.gpu_models);
  visit.older("counter_rises", record.rises, By{rise_to_json, rise_from_json});
  visit.older("counter_notes", record.counter_notes);
  visit.older("without_counters", record.without_counters);
  visit.older("launcher_errors", record.launcher_errors);
  visit.older("phases_left_out", record.phases_left_out, By{left_out_to_json, left_out_from_json});
}

namespace {

using BurninJson = nlohmann::json;

BurninJson blame_json(const BurninRecord& record, const Blame& blame) {
  return {{"kind", name(blame.kind)},
          {"nodes", names_of(record, blame.nodes)},
          {"rail", or_null(blame.rail)},
          {"times_slower", blame.times_slower},
          {"line", blame.line},
          {"measure", blame.measure},
          {"confirmed", blame.confirmed},
          {"evidence", blame.evidence},
          {"next", blame.next}};
}

BurninJson launch_json(const BurninRecord& record, const auto& measured) {
  BurninJson json = record_to_json(measured.launch);
  json.update(record_to_json(measured));
  json["nodes"] = names_of(record, measured.launch.nodes);
  return json;
}

template <class Measured>
Measured launch_from_json(const JsonReader& json, const BurninRecord& record) {
  auto measured = record_from_json<Measured>(json);
  measured.launch = record_from_json<GroupLaunch>(json);
  for (const JsonReader& node : json.at("nodes").items()) {
    const std::optional<int> named = node_named(record, node.text());
    if (!named) throw node.expected("one of the record's nodes");
    measured.launch.nodes.push_back(*named);
  }
  if (measured.launch.nodes.empty()) throw json.at("nodes").expected("a node at least");
  if (measured.launch.rail.value_or(0) >= record.table.rails)
    throw json.at("rail").expected("one of the record's rails");
  return measured;
}

void read_groups(const JsonReader& root, BurninRecord& record) {
  if (const auto groups = root.find("groups")) {
    for (const JsonReader& group : groups->items()) {
      record.groups.push_back(launch_from_json<GroupRate>(group, record));
      // Without the word for it the bound is that of host memory, the wider one.
      record.groups.back().host_memory = record.groups.back().host_memory || !group.find("memory");
    }
  }
  if (const auto failures = root.find("group_failures")) {
    for (const JsonReader& failure : failures->items())
      record.group_failures.push_back(launch_from_json<GroupFailure>(failure, record));
  }
}

/// Probes, and that the hosts of other members are those of the record.
void read_of_hosts(const JsonReader& root, BurninRecord& record) {
  if (const auto probes = root.find("probes")) {
    for (const JsonReader& probe : probes->items()) {
      ProbeRecord found = probe_from_json(probe);
      if (!node_named(record, found.host)) throw probe.at("host").expected("one of the record's nodes");
      add_probe(record, std::move(found));
    }
  }
  for (const char* const by_node : {"gpu_models", "without_counters"})
    if (const auto listed = root.find(by_node))
      for (const auto& [host, of] : listed->members())
        if (!node_named(record, host)) throw of.expected("a key that is one of the record's nodes");
}

int below(const JsonReader& value, std::size_t bound) {
  const int found = value.integer<int>();
  if (std::cmp_greater_equal(found, bound)) throw value.expected(fmt::format("a number below {}", bound));
  return found;
}

/// Of our own; those of another column, and of an older record, end sooner.
std::vector<RailTime> times_from_json(const JsonReader& json, const BurninRecord& record) {
  const auto share = [](const std::vector<JsonReader>& cells, std::size_t cell) {
    return cell < cells.size() ? cells[cell].optional_number(kShare) : std::nullopt;
  };
  const std::size_t nodes = record.table.nodes.size();
  std::vector<RailTime> times;
  for (const JsonReader& time : json.items()) {
    const std::vector<JsonReader> cells = time.items();
    if (cells.size() < 4 || cells.size() > 8)
      throw time.expected(
          "from, to, rail, seconds, alone, share sent again, share waited for a core, batch of repeats");
    if (cells[3].number(kSeconds) == 0) throw cells[3].expected("a time above 0");
    times.push_back({below(cells[0], nodes), below(cells[1], nodes),
                     below(cells[2], slot_of(record.table.rails)), cells[3].number(kSeconds),
                     cells.size() > 4 && cells[4].boolean(), share(cells, 5), share(cells, 6),
                     cells.size() > 7 ? cells[7].integer<int>() : 0});
  }
  return times;
}

}  // namespace

std::string burnin_json(const BurninRecord& record) {
  const Attribution found = attribute(record);
  BurninJson times = BurninJson::array();
  for (const RailTime& time : record.table.times)
    times.push_back({time.from, time.to, time.rail, time.seconds, time.alone, or_null(time.resent),
                     or_null(time.waited), time.repeat});
  BurninJson columns = BurninJson::object();
  for (const OtherColumn& column : record.other_columns) {
    columns[column.name] = array_of(column.times, [](const RailTime& time) {
      return BurninJson{time.from, time.to, time.rail, time.seconds};
    });
  }
  const auto finding = [&record](const Blame& blame) { return blame_json(record, blame); };
  BurninJson buckets = BurninJson::array();
  for (const NodeVerdict& node : found.nodes) {
    buckets.push_back({{"node", record.table.nodes[slot_of(node.node)]},
                       {"bucket", name(node.bucket)},
                       {"result", result_of(node.bucket)},
                       {"why", node.why}});
  }
  const auto launched = [&record](const auto& measured) { return launch_json(record, measured); };
  BurninJson document = record_to_json(record);
  document.update(
      {{"record", "collbench burn-in"},
       {"summary", summary(record, found)},
       {"not_reached", names_of(record, nodes_not_reached(record))},
       {"doubt", found.doubt},
       {"design", record.table.times.empty() ? "" : design_words(record.table, record.expected > 0)},
       {"node_groups",
        array_of(found.groups,
                 [&record](const std::vector<int>& group) { return BurninJson(names_of(record, group)); })},
       {"unseen_below_times", std::exp(found.blind_below)},
       {"times", times},
       {"other_columns", columns},
       {"groups", array_of(record.groups, launched)},
       {"probes",
        array_of(record.probes, [](const ProbeRecord& each) { return BurninJson::parse(probe_json(each)); })},
       {"group_failures", array_of(record.group_failures, launched)},
       {"findings", array_of(found.blames, finding)},
       {"buckets", buckets}});
  // What a launch said need not be UTF-8.
  return document.dump(2, ' ', false, BurninJson::error_handler_t::replace) + "\n";
}

BurninRecord burnin_from_json(std::string_view text, const std::string& file) {
  const BurninJson document = parse_json(text, file);
  const JsonReader root(document, file);
  if (root.at("record").text() != "collbench burn-in")
    throw root.at("record").expected("\"collbench burn-in\"");
  auto record = record_from_json<BurninRecord>(root);
  const PairTable& table = record.table;
  if (!table.leaf_of_node.empty() && table.leaf_of_node.size() != table.nodes.size())
    throw root.at("leaf_of_node").expected("a leaf for each node");
  record.table.times = times_from_json(root.at("times"), record);
  if (const auto columns = root.find("other_columns")) {
    for (const auto& [name, times] : columns->members())
      record.other_columns.push_back({name, times_from_json(times, record)});
  }
  for (const JsonReader& failure : root.at("failures").items()) {
    (void)below(failure.at("a"), table.nodes.size());
    (void)below(failure.at("b"), table.nodes.size());
    (void)below(failure.at("rail"), slot_of(table.rails));
  }
  read_groups(root, record);
  read_of_hosts(root, record);
  return record;
}

}  // namespace collbench::analysis
