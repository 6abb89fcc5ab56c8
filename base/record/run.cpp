#include "base/record/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/record/fields.hpp"
#include "base/units.hpp"

namespace collbench {
namespace {

constexpr std::string_view kRecordName = "collbench run";

/// One member per line, and one element per line of an array of objects: it can be read, grepped and
/// compared line by line without the fourfold size of full indentation.
std::string lines(const Json& document) {
  std::string text = "{";
  for (const auto& member : document.items()) {
    text += fmt::format("{}\n{}: ", text.size() == 1 ? "" : ",", json_line(member.key()));
    const Json& value = member.value();
    if (!value.is_array() || value.empty() || !value.front().is_object()) {
      text += json_line(value);
      continue;
    }
    for (std::size_t i = 0; i < value.size(); ++i) text += (i == 0 ? "[\n " : ",\n ") + json_line(value[i]);
    text += "]";
  }
  return text + "\n}\n";
}

}  // namespace

static void each_field(auto& visit, Either<Versions> auto& versions) {
  visit("collbench", versions.collbench);
  visit("mpi", versions.mpi);
  visit("hwloc", versions.hwloc);
  visit("nccl", versions.nccl);
  visit("cuda", versions.cuda);
}

static void each_field(auto& visit, Either<Buffers> auto& buffers) {
  visit("allocator", buffers.allocator);
  visit("registration", buffers.registration);
  visit("exact_counts", buffers.exact_counts);
  visit.older("unaligned_elements", buffers.unaligned_elements);
  visit("walk_bytes", buffers.walk_bytes);
  visit.older("kept_passes", buffers.kept_passes);
}

static void each_field(auto& visit, Either<GpuMemory> auto& memory) {
  constexpr auto kAnySign = [](const JsonReader& json) {
    return json.integer<std::int64_t>(std::numeric_limits<std::int64_t>::min());
  };
  visit("init_bytes", memory.init_bytes, ReadBy{kAnySign});
  visit("buffer_bytes", memory.buffer_bytes, ReadBy{kAnySign});
  visit("collective_bytes", memory.collective_bytes, ReadBy{kAnySign});
}

static void each_field(auto& visit, Either<Identity> auto& identity) {
  visit("rank", identity.rank);
  visit("host", identity.host, RankHost{});
  visit("node", identity.node);
  visit("local_rank", identity.local_rank);
}

namespace {

/// All ranks, in order; their nodes index the hosts, so none may lie beyond the number of ranks.
Identities identities_from_json(const JsonReader& json) {
  Identities result;
  const auto items = json.items();
  for (const JsonReader& item : items) {
    const auto identity = record_from_json<Identity>(item);
    if (std::cmp_not_equal(identity.rank, result.size())) {
      throw item.at("rank").expected(fmt::format("rank {}", result.size()));
    }
    if (std::cmp_greater_equal(identity.node, items.size())) {
      throw item.at("node").expected("less than the number of ranks");
    }
    result.push_back(identity);
  }
  return result;
}

void require_known_version(const JsonReader& json, std::string_view file_name) {
  const auto record = json.find("record");
  if (!record || record->text() != kRecordName) {
    throw usage_error(std::string(file_name),
                      fmt::format("is not a run record (no \"record\": \"{}\" in it)", kRecordName),
                      "give a file that collbench wrote with -J");
  }
  const int version = json.at("schema_version").integer<int>(1);
  if (version > kRunSchemaVersion) {
    throw usage_error(std::string(file_name),
                      fmt::format("is a run record of schema version {}, and this collbench reads up to {}",
                                  version, kRunSchemaVersion),
                      "update collbench");
  }
}

int at_least_one(const JsonReader& json) { return json.integer<int>(1); }

/// The groups of so many nodes.
Json groups_of(const Run& run, std::size_t nodes) {
  Json list = Json::array();
  for (const NodeGroup& group : run.node_groups)
    if (group.hosts.size() == nodes) list.push_back(node_group_to_json(group));
  return list;
}

}  // namespace

static void each_field(auto& visit, Either<ProcessShape> auto& shape) {
  visit("gpus", shape.gpus, ReadBy{at_least_one});
  visit("threads", shape.threads, ReadBy{at_least_one});
}

/// All but the rows, whose rates follow from the number of ranks.
static void each_field(auto& visit, Either<Run> auto& run) {
  visit("versions", run.versions);
  visit("started", run.started);
  visit("finished", run.finished);
  visit("complete", run.complete);
  visit("incident", run.incident);
  visit.older("pauses", run.pauses);
  visit("command_line", run.command_line);
  visit("environment", run.environment);
  visit.older("config_file", run.config_file);
  visit.older("label", run.label);
  visit("backend", run.backend, ReadBy{backend_from_json});
  visit.older("nccl_untold", run.nccl_observer_status);
  visit.older("nccl_networks", run.nccl_networks);
  visit("time_reduction", run.time_reduction);
  visit("simulated", run.simulated);
  visit.older("gpus_simulated", run.gpus_simulated);
  visit.older("launches", run.launches, ReadBy{at_least_one});
  visit.older("repeated", run.repeated);
  visit("passes", run.passes);
  visit("wall_seconds", run.wall_seconds, kSeconds);
  visit("validation_seconds", run.validation_seconds, kSeconds);
  visit("calibration_seconds", run.calibration_seconds, kSeconds);
  visit.older("communicator_seconds", run.communicator_seconds, kSeconds);
  visit.older("init_steps", run.init_steps);
  visit.older("buffers", run.buffers);
  visit.older("graph_launches", run.graph_launches);
  visit.older("process", run.process);
  visit("gpu_memory", run.gpu_memory);
  visit("telemetry", run.telemetry);
  visit.older("error_counts", run.error_counts);
  visit("cores_per_node", run.cores_per_node);
  visit("cluster", run.cluster);
  visit("place_notes", run.environment_notes);
  visit.older("load_notes", run.load_notes);
  visit.older("network_notes", run.network_notes);
  visit("traffic", run.traffic, By{traffic_matrix_to_json, traffic_matrix_from_json});
  visit("calibration", run.calibration);
  visit("rank_probe", run.rank_probe);
  visit.older("gpu_probes", run.gpu_probes);
  visit("log", run.log, By{log_facts_to_json, log_facts_from_json});
  visit("yardstick", run.yardstick);
  visit("ranks", run.ranks, ReadBy{identities_from_json});
}

std::string name(const NodeGroup& group) {
  return group.hosts.size() == 1 ? group.hosts.front() + " alone"
                                 : fmt::format("{}", fmt::join(group.hosts, " with "));
}

Json node_group_to_json(const NodeGroup& group) {
  Json json;
  if (group.hosts.size() == 1) json["host"] = group.hosts.front();
  if (group.hosts.size() != 1) json["hosts"] = group.hosts;
  json["ranks"] = group.ranks;
  json["row"] = row_to_json(group.row, group.ranks);
  return json;
}

NodeGroup node_group_from_json(const JsonReader& json) {
  NodeGroup group{
      .hosts = {}, .ranks = json.at("ranks").integer<int>(1), .row = row_from_json(json.at("row"))};
  if (const auto host = json.find("host")) {
    group.hosts = {host->text()};
  } else {
    group.hosts = list_from_json(json.at("hosts"), [](const JsonReader& each) { return each.text(); });
    if (group.hosts.size() != 2) throw json.at("hosts").expected("two hosts");
  }
  return group;
}

Json run_to_json(const Run& run) {
  Json json{{"record", kRecordName}, {"schema_version", run.schema_version}};
  FieldWriter visit(json);
  each_field(visit, run);
  const VerdictWord word = machine_word(run);
  json["verdict"] = word == VerdictWord::none ? Json(nullptr) : Json(name(word));
  json["nodes_alone"] = groups_of(run, 1);
  json["node_pairs"] = groups_of(run, 2);
  const auto of_all_ranks = [&run](const Row& row) {
    return row_to_json(row, static_cast<int>(run.ranks.size()));
  };
  json["sustained"] = run.sustained ? of_all_ranks(*run.sustained) : Json(nullptr);
  json["rows"] = array_of(run.rows, of_all_ranks);
  return json;
}

std::string to_json_text(const Run& run) { return lines(run_to_json(run)); }

Run run_from_json_text(std::string_view text, std::string_view file_name) {
  const nlohmann::json document = parse_json(text, file_name);
  return run_from_json(JsonReader(document, file_name), file_name);
}

Run run_from_json(const JsonReader& json, std::string_view file_name) {
  require_known_version(json, file_name);
  Run run;
  run.buffers.exact_counts.reset();
  run.buffers.walk_bytes.reset();
  FieldReader visit(json);
  each_field(visit, run);
  // Of a collbench that did not say so yet, rounded to whole elements only, and repeated on the same
  // addresses.
  if (!run.log && !run.buffers.exact_counts) run.buffers.exact_counts = true;
  if (!run.log && !run.buffers.walk_bytes) run.buffers.walk_bytes = 0;
  for (const char* key : {"nodes_alone", "node_pairs"}) {
    const auto list = json.find(key);
    if (!list) continue;
    for (NodeGroup& group : list_from_json(*list, node_group_from_json))
      run.node_groups.push_back(std::move(group));
  }
  if (const auto row = json.find("sustained"); row && !row->is_null()) run.sustained = row_from_json(*row);
  run.rows = list_from_json(json.at("rows"), row_from_json);
  return run;
}

namespace {

/// `value` where it says something: above zero and finite.
std::optional<double> meaningful(double value) {
  if (!std::isfinite(value) || value <= 0) return std::nullopt;
  return value;
}

std::optional<double> bus_bandwidth_of(const RowKey& key, int ranks, std::optional<double> seconds) {
  if (!seconds || !meaningful(*seconds) || !operation(key.operation).has_bandwidth) return std::nullopt;
  return meaningful(bus_bandwidth(operation(key.operation), key.size_bytes, ranks, *seconds));
}

}  // namespace

std::optional<ProcessShape> process_of(const Run& run) {
  if (!run.log) return run.process;
  const auto& gpus = run.log->gpus_per_process;
  const auto& threads = run.log->threads_per_process;
  if (!gpus) return std::nullopt;
  return ProcessShape{.gpus = gpus->value, .threads = threads ? threads->value : 1};
}

std::string words(const ProcessShape& shape) {
  return fmt::format("{} per process, {}", counted(shape.gpus, "GPU"), counted(shape.threads, "thread"));
}

std::uint64_t wrong_values_beyond_rows(const Run& run) {
  const bool in_rows =
      std::ranges::any_of(run.rows, [](const Row& row) { return has_wrong_data(row.measurement); });
  return in_rows || !run.log || !run.log->out_of_bounds ? 0 : run.log->out_of_bounds->value;
}

bool has_wrong_data(const Run& run) {
  return wrong_values_beyond_rows(run) > 0 || (run.sustained && has_wrong_data(run.sustained->measurement)) ||
         std::ranges::any_of(run.node_groups,
                             [](const NodeGroup& group) { return has_wrong_data(group.row.measurement); }) ||
         std::ranges::any_of(run.rows, [](const Row& row) { return has_wrong_data(row.measurement); });
}

std::string why_not_sound(const Run& run) {
  if (has_wrong_data(run) || wrong_values_beyond_rows(run) > 0) return "the data is wrong";
  if (run.incident) return run.incident->sentence;
  if (run.complete) return {};
  return run.log ? "the log is cut" : "the record is not complete";
}

bool is_machine_unknown(const Run& run) {
  return run.yardstick && run.yardstick->kind == YardstickKind::unknown;
}

VerdictWord machine_word(const Run& run) {
  VerdictWord word = is_machine_unknown(run) ? VerdictWord::unclear : VerdictWord::none;
  for (const Row& row : run.rows) word = std::max(word, row.verdict.word);
  // Sound nodes say nothing of what is between them, where no row does. Pairs share the network while they
  // are measured: what they say of a loss is whose it is.
  for (const NodeGroup& group : run.node_groups)
    if (group.hosts.size() == 1 && (word != VerdictWord::none || is_bad(group.row.verdict.word)))
      word = std::max(word, group.row.verdict.word);
  if (run.sustained) word = std::max(word, run.sustained->verdict.word);
  return word == VerdictWord::sound && !why_not_sound(run).empty() ? VerdictWord::unclear : word;
}

Rates rates(const Row& row, int ranks) {
  const RowKey& key = row.measurement.key;
  const std::optional<double> seconds = meaningful(row.measurement.seconds);
  Rates result;
  if (seconds && operation(key.operation).has_bandwidth) {
    result.algorithm_bandwidth =
        meaningful(algorithm_bandwidth(operation(key.operation), key.size_bytes, ranks, *seconds));
  }
  result.bus_bandwidth = bus_bandwidth_of(key, ranks, seconds);
  result.ring_bus_bandwidth = bus_bandwidth_of(key, ranks, row.expectation.ring_seconds);
  result.tree_bus_bandwidth = bus_bandwidth_of(key, ranks, row.expectation.tree_seconds);
  result.expected_bus_bandwidth = bus_bandwidth_of(key, ranks, row.expectation.expected_seconds);
  if (result.bus_bandwidth && result.expected_bus_bandwidth) {
    result.measured_over_expected = meaningful(*result.bus_bandwidth / *result.expected_bus_bandwidth);
  }
  return result;
}

std::optional<double> interval_half_width(const Measurement& measurement) {
  if (!measurement.interval || !meaningful(measurement.seconds)) return std::nullopt;
  const double half = (measurement.interval->high_seconds - measurement.interval->low_seconds) / 2;
  // A width of zero says something: every pass took the same time, as in simulated time.
  if (!std::isfinite(half) || half < 0) return std::nullopt;
  return half / measurement.seconds;
}

}  // namespace collbench
