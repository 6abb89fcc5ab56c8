#include "analysis/probe/probe_json.hpp"

#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"
#include "base/text_sinks.hpp"

namespace collbench::analysis {
namespace {

constexpr const char* kRecordName = "collbench probe";

std::string text_from(const JsonReader& json, std::string_view key) {
  const auto found = json.find(key);
  return found ? found->text() : std::string();
}

Json window_json(const GpuWindow& window) {
  return {{"sm_clock_hertz", or_null(window.sm_clock_hertz)},
          {"power_watts", or_null(window.power_watts)},
          {"temperature_celsius", or_null(window.temperature_celsius)},
          {"throttled_by", array_of(window.throttled_by, [](GpuTrouble trouble) { return name(trouble); })}};
}

GpuWindow window_from(const JsonReader& json) {
  GpuWindow window{.sm_clock_hertz = optional_number(json, "sm_clock_hertz", kRate),
                   .power_watts = optional_number(json, "power_watts", kQuantity),
                   .temperature_celsius = optional_number(json, "temperature_celsius", kDifference)};
  window.throttled_by = list_from_json(json.at("throttled_by"), [](const JsonReader& reason) {
    return word_from_json<GpuTrouble>(reason, kGpuTroubleNames, "the name of a GPU's trouble");
  });
  return window;
}

/// What only GPUs have is left out of cores.
Json part_json(const ProbePart& part) {
  Json json{{"name", part.name},
            {"model", part.model},
            {"numa", or_null(part.numa)},
            {"windows", part.windows},
            {"cpu_share", or_null(part.cpu_share)}};
  if (part.peer)
    json["peer"] = {{"from", part.peer->from}, {"to", part.peer->to}, {"direct", part.peer->direct}};
  if (!part.telemetry.empty()) json["telemetry"] = array_of(part.telemetry, window_json);
  return json;
}

Json gpu_json(const ProbeGpu& gpu) {
  return {{"name", gpu.name},
          {"model", gpu.model},
          {"uuid", gpu.uuid},
          {"address", gpu.address},
          {"memory_bytes", gpu.memory_bytes},
          {"power_limit_watts", or_null(gpu.power_limit_watts)},
          {"driver", gpu.driver}};
}

ProbeGpu gpu_from(const JsonReader& json) {
  return {.name = json.at("name").text(),
          .model = json.at("model").text(),
          .uuid = text_from(json, "uuid"),
          .address = text_from(json, "address"),
          .memory_bytes = json.at("memory_bytes").integer<std::uint64_t>(),
          .power_limit_watts = optional_number(json, "power_limit_watts", kQuantity),
          .driver = text_from(json, "driver")};
}

ProbePart part_from(const JsonReader& json) {
  ProbePart part{.name = json.at("name").text(), .model = json.at("model").text()};
  if (const auto numa = json.find("numa")) part.numa = numa->integer<int>();
  for (const JsonReader& window : json.at("windows").items()) {
    part.windows.push_back(window.number(kRate));
    if (part.windows.back() == 0) throw window.expected("a rate above 0");
  }
  if (part.windows.empty()) throw json.at("windows").expected("a rate at least");
  part.cpu_share = optional_number(json, "cpu_share", kShare);
  if (const auto peer = json.find("peer"))
    part.peer = PeerCopy{peer->at("from").text(), peer->at("to").text(), peer->at("direct").boolean()};
  if (const auto windows = json.find("telemetry")) part.telemetry = list_from_json(*windows, window_from);
  return part;
}

Json measurement_json(const ProbeMeasurement& each) {
  return {{"id", each.id},
          {"name", each.name},
          {"unit", each.unit == ProbeUnit::byte ? "B/s" : "flop/s"},
          {"size", each.size},
          {"by", each.by},
          {"work", each.work},
          {"parts", array_of(each.parts, part_json)}};
}

Json failure_json(const ProbeFailure& failure) {
  return {{"part", failure.part}, {"measurement", failure.measurement}, {"what", failure.what}};
}

ProbeFailure failure_from(const JsonReader& json) {
  return {json.at("part").text(), json.at("measurement").text(), json.at("what").text()};
}

ProbeMeasurement measurement_from(const JsonReader& json) {
  ProbeMeasurement measurement{.id = json.at("id").text(), .name = json.at("name").text()};
  const std::string unit = json.at("unit").text();
  if (unit != "flop/s" && unit != "B/s") throw json.at("unit").expected("flop/s or B/s");
  measurement.unit = unit == "B/s" ? ProbeUnit::byte : ProbeUnit::flop;
  measurement.size = json.at("size").integer<int>();
  measurement.by = json.at("by").text();
  measurement.work = json.at("work").text();
  measurement.parts = list_from_json(json.at("parts"), part_from);
  if (measurement.parts.empty()) throw json.at("parts").expected("a part at least");
  return measurement;
}

}  // namespace

std::string probe_json(const ProbeRecord& record) {
  const Json document{{"record", kRecordName},
                      {"host", record.host},
                      {"processor", record.processor},
                      {"cores", record.cores},
                      {"taken_share", or_null(record.taken_share)},
                      {"window_seconds", record.window_seconds},
                      {"gpus", array_of(record.gpus, gpu_json)},
                      {"gpu_window_seconds", record.gpu_window_seconds},
                      {"measurements", array_of(record.measurements, measurement_json)},
                      {"failures", array_of(record.failures, failure_json)},
                      {"notes", record.notes}};
  return json_text(document.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

ProbeRecord probe_from_json(std::string_view text, const std::string& file) {
  const nlohmann::json document = parse_json(text, file);
  return probe_from_json(JsonReader(document, file));
}

ProbeRecord probe_from_json(const JsonReader& root) {
  if (root.at("record").text() != kRecordName) throw root.at("record").expected("\"collbench probe\"");
  ProbeRecord record;
  record.host = host_name_from_json(root.at("host"));
  record.processor = root.at("processor").text();
  record.cores = root.at("cores").integer<int>();
  record.taken_share = optional_number(root, "taken_share", kShare);
  record.window_seconds = optional_number(root, "window_seconds", kSeconds).value_or(0);
  // Of before GPUs were probed none is there.
  record.gpu_window_seconds = optional_number(root, "gpu_window_seconds", kSeconds).value_or(0);
  if (const auto gpus = root.find("gpus")) record.gpus = list_from_json(*gpus, gpu_from);
  if (const auto failures = root.find("failures")) record.failures = list_from_json(*failures, failure_from);
  record.measurements = list_from_json(root.at("measurements"), measurement_from);
  record.notes = texts_from_json(root.at("notes"));
  return record;
}

}  // namespace collbench::analysis
