#include "base/record/telemetry.hpp"

#include <utility>

namespace collbench {
namespace {

Json gauge_to_json(const std::optional<Gauge>& gauge) {
  if (!gauge) return nullptr;
  return {{"before", gauge->before}, {"least", gauge->least}, {"most", gauge->most}, {"after", gauge->after}};
}

constexpr NumberRange kCelsius{-273.15, 1e4, "degrees Celsius"};

std::optional<Gauge> gauge_from_json(const JsonReader& gpu, std::string_view key, const NumberRange& range) {
  const auto json = gpu.find(key);
  if (!json) return std::nullopt;
  return Gauge{json->at("before").number(range), json->at("least").number(range),
               json->at("most").number(range), json->at("after").number(range)};
}

Json counter_to_json(const std::optional<CounterChange>& counter) {
  if (!counter) return nullptr;
  return {{"before", counter->before}, {"after", counter->after}};
}

std::optional<CounterChange> counter_from_json(const JsonReader& gpu, std::string_view key) {
  const auto json = gpu.find(key);
  if (!json) return std::nullopt;
  return CounterChange{json->at("before").integer<std::uint64_t>(),
                       json->at("after").integer<std::uint64_t>()};
}

GpuTrouble trouble_from_json(const JsonReader& json) {
  return word_from_json<GpuTrouble>(json, kGpuTroubleNames, "the name of a GPU's trouble");
}

/// Records of before NVML was used lack it.
TelemetrySource source_from_json(const JsonReader& gpu) {
  const auto json = gpu.find("source");
  if (!json) return TelemetrySource::nvidia_smi;
  for (const TelemetrySource source : {TelemetrySource::nvml, TelemetrySource::nvidia_smi}) {
    if (json->text() == name(source)) return source;
  }
  throw json->expected("NVML or nvidia-smi");
}

Json gpu_to_json(const GpuTelemetry& gpu) {
  return {{"host", gpu.host},
          {"uuid", gpu.uuid},
          {"address", gpu.address},
          {"source", name(gpu.source)},
          {"sm_clock_hertz", gauge_to_json(gpu.sm_clock_hertz)},
          {"temperature_celsius", gauge_to_json(gpu.temperature_celsius)},
          {"power_watts", gauge_to_json(gpu.power_watts)},
          {"ecc_corrected", counter_to_json(gpu.ecc_corrected)},
          {"ecc_uncorrected", counter_to_json(gpu.ecc_uncorrected)},
          {"pcie_replays", counter_to_json(gpu.pcie_replays)},
          {"troubles", array_of(gpu.troubles, [](GpuTrouble trouble) { return name(trouble); })}};
}

GpuTelemetry gpu_from_json(const JsonReader& json) {
  return {.host = rank_host_from_json(json.at("host")),
          .uuid = json.at("uuid").text(),
          .address = json.at("address").text(),
          .source = source_from_json(json),
          .sm_clock_hertz = gauge_from_json(json, "sm_clock_hertz", kRate),
          .temperature_celsius = gauge_from_json(json, "temperature_celsius", kCelsius),
          .power_watts = gauge_from_json(json, "power_watts", kQuantity),
          .ecc_corrected = counter_from_json(json, "ecc_corrected"),
          .ecc_uncorrected = counter_from_json(json, "ecc_uncorrected"),
          .pcie_replays = counter_from_json(json, "pcie_replays"),
          .troubles = list_from_json(json.at("troubles"), trouble_from_json)};
}

}  // namespace

Json telemetry_to_json(const Telemetry& telemetry) {
  return {{"readings", telemetry.readings},
          {"gpus", array_of(telemetry.gpus, gpu_to_json)},
          {"notes", telemetry.notes}};
}

Telemetry telemetry_from_json(const JsonReader& json) {
  return {.readings = json.at("readings").integer<int>(),
          .gpus = list_from_json(json.at("gpus"), gpu_from_json),
          .notes = texts_from_json(json.at("notes"))};
}

Json row_mark_to_json(const RowMark& mark) {
  return {{"host", mark.host}, {"gpu", mark.gpu}, {"trouble", name(mark.trouble)}};
}

RowMark row_mark_from_json(const JsonReader& json) {
  return {rank_host_from_json(json.at("host")), json.at("gpu").text(), trouble_from_json(json.at("trouble"))};
}

}  // namespace collbench
