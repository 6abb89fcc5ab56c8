#include "analysis/probe/probe_json.hpp"

#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"
#include "base/text_sinks.hpp"

namespace collbench::analysis {
namespace {

constexpr const char* kRecordName = "collbench probe";

using ProbeJson = nlohmann::ordered_json;

template <typename Value>
ProbeJson optional_json(const std::optional<Value>& value) {
  return value ? ProbeJson(*value) : ProbeJson();
}

std::string text_from(const JsonReader& json, std::string_view key) {
  const auto found = json.find(key);
  return found ? found->text() : std::string();
}

ProbeJson window_json(const GpuWindow& window) {
  ProbeJson reasons = ProbeJson::array();
  for (const GpuTrouble trouble : window.throttled_by) reasons.push_back(name(trouble));
  return {{"sm_clock_hertz", optional_json(window.sm_clock_hertz)},
          {"power_watts", optional_json(window.power_watts)},
          {"temperature_celsius", optional_json(window.temperature_celsius)},
          {"throttled_by", reasons}};
}

GpuWindow window_from(const JsonReader& json) {
  GpuWindow window{.sm_clock_hertz = optional_number(json, "sm_clock_hertz", kRate),
                   .power_watts = optional_number(json, "power_watts", kQuantity),
                   .temperature_celsius = optional_number(json, "temperature_celsius", kDifference)};
  for (const JsonReader& reason : json.at("throttled_by").items()) {
    const auto trouble = find_gpu_trouble(reason.text());
    if (!trouble) throw reason.expected("the name of a GPU's trouble");
    window.throttled_by.push_back(*trouble);
  }
  return window;
}

/// What only GPUs have is left out of cores.
ProbeJson part_json(const ProbePart& part) {
  ProbeJson json{{"name", part.name},
                 {"model", part.model},
                 {"numa", optional_json(part.numa)},
                 {"windows", part.windows},
                 {"cpu_share", optional_json(part.cpu_share)}};
  if (part.peer)
    json["peer"] = {{"from", part.peer->from}, {"to", part.peer->to}, {"direct", part.peer->direct}};
  if (!part.telemetry.empty()) {
    json["telemetry"] = ProbeJson::array();
    for (const GpuWindow& window : part.telemetry) json["telemetry"].push_back(window_json(window));
  }
  return json;
}

ProbeJson gpu_json(const ProbeGpu& gpu) {
  return {{"name", gpu.name},
          {"model", gpu.model},
          {"uuid", gpu.uuid},
          {"address", gpu.address},
          {"memory_bytes", gpu.memory_bytes},
          {"power_limit_watts", optional_json(gpu.power_limit_watts)},
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
  if (const auto windows = json.find("telemetry")) {
    for (const JsonReader& window : windows->items()) part.telemetry.push_back(window_from(window));
  }
  return part;
}

ProbeMeasurement measurement_from(const JsonReader& json) {
  ProbeMeasurement measurement{.id = json.at("id").text(), .name = json.at("name").text()};
  const std::string unit = json.at("unit").text();
  if (unit != "flop/s" && unit != "B/s") throw json.at("unit").expected("flop/s or B/s");
  measurement.unit = unit == "B/s" ? ProbeUnit::byte : ProbeUnit::flop;
  measurement.size = json.at("size").integer<int>();
  measurement.by = json.at("by").text();
  measurement.work = json.at("work").text();
  for (const JsonReader& part : json.at("parts").items()) measurement.parts.push_back(part_from(part));
  if (measurement.parts.empty()) throw json.at("parts").expected("a part at least");
  return measurement;
}

}  // namespace

std::string probe_json(const ProbeRecord& record) {
  ProbeJson measurements = ProbeJson::array();
  for (const ProbeMeasurement& each : record.measurements) {
    ProbeJson parts = ProbeJson::array();
    for (const ProbePart& part : each.parts) parts.push_back(part_json(part));
    measurements.push_back({{"id", each.id},
                            {"name", each.name},
                            {"unit", each.unit == ProbeUnit::byte ? "B/s" : "flop/s"},
                            {"size", each.size},
                            {"by", each.by},
                            {"work", each.work},
                            {"parts", parts}});
  }
  ProbeJson gpus = ProbeJson::array();
  for (const ProbeGpu& gpu : record.gpus) gpus.push_back(gpu_json(gpu));
  ProbeJson failures = ProbeJson::array();
  for (const ProbeFailure& failure : record.failures)
    failures.push_back(
        {{"part", failure.part}, {"measurement", failure.measurement}, {"what", failure.what}});
  const ProbeJson document{{"record", kRecordName},
                           {"host", record.host},
                           {"processor", record.processor},
                           {"cores", record.cores},
                           {"taken_share", optional_json(record.taken_share)},
                           {"window_seconds", record.window_seconds},
                           {"gpus", gpus},
                           {"gpu_window_seconds", record.gpu_window_seconds},
                           {"measurements", measurements},
                           {"failures", failures},
                           {"notes", record.notes}};
  return json_text(document.dump(2, ' ', false, ProbeJson::error_handler_t::replace)) + "\n";
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
  if (const auto gpus = root.find("gpus")) {
    for (const JsonReader& gpu : gpus->items()) record.gpus.push_back(gpu_from(gpu));
  }
  if (const auto failures = root.find("failures")) {
    for (const JsonReader& failure : failures->items())
      record.failures.push_back(
          {failure.at("part").text(), failure.at("measurement").text(), failure.at("what").text()});
  }
  for (const JsonReader& each : root.at("measurements").items())
    record.measurements.push_back(measurement_from(each));
  for (const JsonReader& note : root.at("notes").items()) record.notes.push_back(note.text());
  return record;
}

}  // namespace collbench::analysis
