#include "base/record/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/record/calibration.hpp"
#include "base/record/cluster.hpp"
#include "base/record/incident.hpp"
#include "base/record/log_facts.hpp"
#include "base/record/nccl_selection.hpp"
#include "base/record/straggler_probe.hpp"
#include "base/record/telemetry.hpp"
#include "base/record/traffic_matrix.hpp"

namespace collbench {
namespace {

constexpr std::string_view kRecordName = "collbench run";

Json versions_json(const Versions& versions) {
  return {{"collbench", versions.collbench},
          {"mpi", versions.mpi},
          {"hwloc", versions.hwloc},
          {"nccl", versions.nccl},
          {"cuda", versions.cuda}};
}

Json identity_json(const Identity& identity) {
  return {{"rank", identity.rank},
          {"host", identity.host},
          {"node", identity.node},
          {"local_rank", identity.local_rank}};
}

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

Versions versions_of(const JsonReader& json) {
  return {json.at("collbench").text(), json.at("mpi").text(), json.at("hwloc").text(), json.at("nccl").text(),
          json.at("cuda").text()};
}

/// All ranks, in order; their nodes index the hosts, so none may lie beyond the number of ranks.
Identities identities_of(const JsonReader& json) {
  Identities result;
  const auto items = json.items();
  for (const JsonReader& item : items) {
    const Identity identity{item.at("rank").integer<int>(), rank_host_from_json(item.at("host")),
                            item.at("node").integer<int>(), item.at("local_rank").integer<int>()};
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

Json buffers_json(const Buffers& buffers) {
  return {{"allocator", buffers.allocator},
          {"registration", buffers.registration ? Json(name(*buffers.registration)) : Json(nullptr)},
          {"exact_counts", buffers.exact_counts ? Json(*buffers.exact_counts) : Json(nullptr)},
          {"unaligned_elements", buffers.unaligned_elements},
          {"walk_bytes", buffers.walk_bytes ? Json(*buffers.walk_bytes) : Json(nullptr)},
          {"kept_passes", buffers.kept_passes}};
}

Buffers buffers_of(const JsonReader& json) {
  Buffers buffers{.allocator = json.at("allocator").text(),
                  .registration = std::nullopt,
                  .exact_counts = std::nullopt,
                  .walk_bytes = std::nullopt};
  if (const auto how = json.find("registration")) buffers.registration = buffer_registration_from_json(*how);
  if (const auto exact = json.find("exact_counts")) buffers.exact_counts = exact->boolean();
  if (const auto late = json.find("unaligned_elements"))
    buffers.unaligned_elements = late->integer<std::uint64_t>();
  if (const auto walk = json.find("walk_bytes")) buffers.walk_bytes = walk->integer<std::uint64_t>();
  if (const auto kept = json.find("kept_passes")) buffers.kept_passes = kept->integer<int>();
  return buffers;
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

}  // namespace

Json run_to_json(const Run& run) {
  const auto row_json = [&run](const Row& row) {
    return row_to_json(row, static_cast<int>(run.ranks.size()));
  };
  return {{"record", kRecordName},
          {"schema_version", run.schema_version},
          {"versions", versions_json(run.versions)},
          {"started", run.started},
          {"finished", run.finished},
          {"complete", run.complete},
          {"incident", run.incident ? incident_to_json(*run.incident) : Json(nullptr)},
          {"pauses", array_of(run.pauses, pause_to_json)},
          {"command_line", run.command_line},
          {"environment", Json(run.environment)},
          {"config_file", run.config_file},
          {"label", run.label},
          {"backend", name(run.backend)},
          {"nccl_untold", nccl_observer_status_to_json(run.nccl_observer_status)},
          {"nccl_networks", nccl_networks_to_json(run.nccl_networks)},
          {"time_reduction", name(run.time_reduction)},
          {"simulated", run.simulated},
          {"launches", run.launches},
          {"repeated", run.repeated},
          {"passes", run.passes},
          {"wall_seconds", run.wall_seconds},
          {"validation_seconds", run.validation_seconds},
          {"calibration_seconds", run.calibration_seconds},
          {"communicator_seconds", run.communicator_seconds},
          {"buffers", buffers_json(run.buffers)},
          {"graph_launches", run.graph_launches},
          {"telemetry", run.telemetry ? telemetry_to_json(*run.telemetry) : Json(nullptr)},
          {"cores_per_node", run.cores_per_node},
          {"cluster", run.cluster ? cluster_to_json(*run.cluster) : Json(nullptr)},
          {"place_notes", run.environment_notes},
          {"load_notes", run.load_notes},
          {"traffic", run.traffic ? traffic_matrix_to_json(*run.traffic) : Json(nullptr)},
          {"calibration", run.calibration ? calibration_to_json(*run.calibration) : Json(nullptr)},
          {"rank_probe", run.rank_probe ? rank_probe_to_json(*run.rank_probe) : Json(nullptr)},
          {"log", run.log ? log_facts_to_json(*run.log) : Json(nullptr)},
          {"yardstick", run.yardstick ? yardstick_to_json(*run.yardstick) : Json(nullptr)},
          {"ranks", array_of(run.ranks, identity_json)},
          {"rows", array_of(run.rows, row_json)}};
}

std::string to_json_text(const Run& run) { return lines(run_to_json(run)); }

Run run_from_json_text(std::string_view text, std::string_view file_name) {
  const nlohmann::json document = parse_json(text, file_name);
  return run_from_json(JsonReader(document, file_name), file_name);
}

Run run_from_json(const JsonReader& json, std::string_view file_name) {
  require_known_version(json, file_name);
  Run run;
  run.versions = versions_of(json.at("versions"));
  run.started = json.at("started").text();
  run.finished = json.at("finished").text();
  run.complete = json.at("complete").boolean();
  if (const auto incident = json.find("incident")) run.incident = incident_from_json(*incident);
  if (const auto pauses = json.find("pauses")) run.pauses = list_from_json(*pauses, pause_from_json);
  run.command_line = texts_from_json(json.at("command_line"));
  for (const auto& [name, value] : json.at("environment").members()) run.environment[name] = value.text();
  if (const auto file = json.find("config_file")) run.config_file = file->text();
  if (const auto label = json.find("label")) run.label = label->text();
  run.backend = backend_from_json(json.at("backend"));
  run.nccl_observer_status = nccl_observer_status_in(json);
  run.nccl_networks = nccl_networks_in(json);
  run.time_reduction = rank_aggregate_from_json(json.at("time_reduction"));
  run.simulated = json.at("simulated").boolean();
  if (const auto launches = json.find("launches")) run.launches = launches->integer<int>(1);
  if (const auto repeated = json.find("repeated")) run.repeated = repeated->boolean();
  run.passes = json.at("passes").integer<int>();
  run.wall_seconds = json.at("wall_seconds").number(kSeconds);
  run.validation_seconds = json.at("validation_seconds").number(kSeconds);
  run.calibration_seconds = json.at("calibration_seconds").number(kSeconds);
  if (const auto seconds = json.find("communicator_seconds"))
    run.communicator_seconds =
        list_from_json(*seconds, [](const JsonReader& each) { return each.number(kSeconds); });
  run.buffers.exact_counts.reset();
  run.buffers.walk_bytes.reset();
  if (const auto buffers = json.find("buffers")) run.buffers = buffers_of(*buffers);
  if (const auto launches = json.find("graph_launches")) run.graph_launches = launches->integer<int>();
  if (const auto telemetry = json.find("telemetry")) run.telemetry = telemetry_from_json(*telemetry);
  run.cores_per_node =
      list_from_json(json.at("cores_per_node"), [](const JsonReader& each) { return each.integer<int>(); });
  if (const auto cluster = json.find("cluster")) run.cluster = cluster_from_json(*cluster);
  run.environment_notes = texts_from_json(json.at("place_notes"));
  if (const auto load = json.find("load_notes")) run.load_notes = texts_from_json(*load);
  if (const auto traffic = json.find("traffic")) run.traffic = traffic_matrix_from_json(*traffic);
  if (const auto calibration = json.find("calibration"))
    run.calibration = calibration_from_json(*calibration);
  if (const auto probe = json.find("rank_probe")) run.rank_probe = rank_probe_from_json(*probe);
  if (const auto log = json.find("log")) run.log = log_facts_from_json(*log);
  if (const auto yardstick = json.find("yardstick")) run.yardstick = yardstick_from_json(*yardstick);
  // Of a collbench that did not say so yet, rounded to whole elements only, and repeated on the same
  // addresses.
  if (!run.log && !run.buffers.exact_counts) run.buffers.exact_counts = true;
  if (!run.log && !run.buffers.walk_bytes) run.buffers.walk_bytes = 0;
  run.ranks = identities_of(json.at("ranks"));
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

std::uint64_t wrong_values_beyond_rows(const Run& run) {
  const bool in_rows = std::any_of(run.rows.begin(), run.rows.end(),
                                   [](const Row& row) { return has_wrong_data(row.measurement); });
  return in_rows || !run.log || !run.log->out_of_bounds ? 0 : run.log->out_of_bounds->value;
}

bool has_wrong_data(const Run& run) {
  return wrong_values_beyond_rows(run) > 0 ||
         std::any_of(run.rows.begin(), run.rows.end(),
                     [](const Row& row) { return has_wrong_data(row.measurement); });
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
