#include "base/record/telemetry.hpp"

#include <string_view>

#include "base/record/fields.hpp"

namespace collbench {
namespace {

constexpr NumberRange kCelsius{-273.15, 1e4, "degrees Celsius"};

constexpr const char* kTroubleWord = "the name of a GPU's trouble";

TelemetrySource source_from_json(const JsonReader& json) {
  for (const TelemetrySource source : {TelemetrySource::nvml, TelemetrySource::nvidia_smi}) {
    if (json.text() == name(source)) return source;
  }
  throw json.expected("NVML or nvidia-smi");
}

}  // namespace

static void each_field(auto& visit, Either<CounterChange> auto& counter) {
  visit("before", counter.before);
  visit("after", counter.after);
}

/// A gauge is visited with the range of its figure.
static void each_field(auto& visit, Either<Gauge> auto& gauge, const NumberRange& range) {
  visit("before", gauge.before, range);
  visit("least", gauge.least, range);
  visit("most", gauge.most, range);
  visit("after", gauge.after, range);
}

static void each_field(auto& visit, Either<GpuTelemetry> auto& gpu) {
  visit("host", gpu.host, RankHost{});
  visit("uuid", gpu.uuid);
  visit("address", gpu.address);
  visit.older("source", gpu.source, ReadBy{source_from_json});
  visit("sm_clock_hertz", gpu.sm_clock_hertz, kRate);
  visit("temperature_celsius", gpu.temperature_celsius, kCelsius);
  visit("power_watts", gpu.power_watts);
  visit("ecc_corrected", gpu.ecc_corrected);
  visit("ecc_uncorrected", gpu.ecc_uncorrected);
  visit("pcie_replays", gpu.pcie_replays);
  visit("troubles", gpu.troubles, WordOf{kGpuTroubleNames, kTroubleWord});
}

static void each_field(auto& visit, Either<Telemetry> auto& telemetry) {
  visit("readings", telemetry.readings);
  visit("gpus", telemetry.gpus);
  visit("notes", telemetry.notes);
}

static void each_field(auto& visit, Either<RowMark> auto& mark) {
  visit("host", mark.host, RankHost{});
  visit("gpu", mark.gpu);
  visit("trouble", mark.trouble, WordOf{kGpuTroubleNames, kTroubleWord});
}

Json telemetry_to_json(const Telemetry& telemetry) { return record_to_json(telemetry); }

Telemetry telemetry_from_json(const JsonReader& json) { return record_from_json<Telemetry>(json); }

Json row_mark_to_json(const RowMark& mark) { return record_to_json(mark); }

RowMark row_mark_from_json(const JsonReader& json) { return record_from_json<RowMark>(json); }

}  // namespace collbench
