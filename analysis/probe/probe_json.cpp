#include "analysis/probe/probe_json.hpp"

#include <cmath>

#include "base/json_reader.hpp"
#include "base/text_sinks.hpp"

namespace collbench::analysis {
namespace {

constexpr const char* kRecordName = "collbench probe";

using ProbeJson = nlohmann::ordered_json;

ProbeJson part_json(const ProbePart& part) {
  return {{"name", part.name},
          {"model", part.model},
          {"numa", part.numa ? ProbeJson(*part.numa) : ProbeJson()},
          {"windows", part.windows},
          {"cpu_share", part.cpu_share ? ProbeJson(*part.cpu_share) : ProbeJson()}};
}

ProbePart part_from(const JsonReader& json) {
  ProbePart part{.name = json.at("name").text(), .model = json.at("model").text()};
  if (const auto numa = json.find("numa")) part.numa = numa->integer<int>();
  for (const JsonReader& window : json.at("windows").items()) {
    const double rate = window.number();
    if (!(rate > 0) || !std::isfinite(rate)) throw window.expected("a positive rate");
    part.windows.push_back(rate);
  }
  if (part.windows.empty()) throw json.at("windows").expected("a rate at least");
  if (const auto share = json.find("cpu_share")) part.cpu_share = share->number();
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
  const ProbeJson document{{"record", kRecordName},
                           {"host", record.host},
                           {"processor", record.processor},
                           {"cores", record.cores},
                           {"taken_share", record.taken_share ? ProbeJson(*record.taken_share) : ProbeJson()},
                           {"window_seconds", record.window_seconds},
                           {"measurements", measurements},
                           {"notes", record.notes}};
  return json_text(document.dump(2, ' ', false, ProbeJson::error_handler_t::replace)) + "\n";
}

ProbeRecord probe_from_json(std::string_view text, const std::string& file) {
  const nlohmann::json document = parse_json(text, file);
  const JsonReader root(document, file);
  if (root.at("record").text() != kRecordName) throw root.at("record").expected("\"collbench probe\"");
  ProbeRecord record;
  record.host = root.at("host").text();
  record.processor = root.at("processor").text();
  record.cores = root.at("cores").integer<int>();
  if (const auto taken = root.find("taken_share")) record.taken_share = taken->number();
  if (const auto seconds = root.find("window_seconds")) record.window_seconds = seconds->number();
  for (const JsonReader& each : root.at("measurements").items())
    record.measurements.push_back(measurement_from(each));
  for (const JsonReader& note : root.at("notes").items()) record.notes.push_back(note.text());
  return record;
}

}  // namespace collbench::analysis
