#pragma once
#include <string>
#include <string_view>

#include "base/record/fields.hpp"
#include "base/record/probe.hpp"

// The JSON of what `collbench probe` measured.

namespace collbench {

[[nodiscard]] inline std::string_view unit_words(ProbeUnit unit) {
  return unit == ProbeUnit::byte ? "B/s" : "flop/s";
}

[[nodiscard]] inline ProbeUnit unit_from_json(const JsonReader& json) {
  const std::string unit = json.text();
  if (unit != "flop/s" && unit != "B/s") throw json.expected("flop/s or B/s");
  return unit == "B/s" ? ProbeUnit::byte : ProbeUnit::flop;
}

[[nodiscard]] inline double rate_from_json(const JsonReader& json) {
  const double rate = json.number(kRate);
  if (rate == 0) throw json.expected("a rate above 0");
  return rate;
}

void each_field(auto& visit, Either<GpuWindow> auto& window) {
  visit("sm_clock_hertz", window.sm_clock_hertz, kRate);
  visit("power_watts", window.power_watts);
  visit("temperature_celsius", window.temperature_celsius, kDifference);
  visit("throttled_by", window.throttled_by, WordOf{kGpuTroubleNames, "the name of a GPU's trouble"});
}

void each_field(auto& visit, Either<PeerCopy> auto& peer) {
  visit("from", peer.from);
  visit("to", peer.to);
  visit("direct", peer.direct);
}

void each_field(auto& visit, Either<ProbePart> auto& part) {
  visit("name", part.name);
  visit("model", part.model);
  visit("numa", part.numa);
  visit("windows", part.windows, ReadBy{rate_from_json});
  visit("cpu_share", part.cpu_share, kShare);
  // What only GPUs have is left out of cores.
  visit.where_given("peer", part.peer);
  visit.where_given("telemetry", part.telemetry);
}

void each_field(auto& visit, Either<ProbeGpu> auto& gpu) {
  visit("name", gpu.name);
  visit("model", gpu.model);
  visit.older("uuid", gpu.uuid);
  visit.older("address", gpu.address);
  visit("memory_bytes", gpu.memory_bytes);
  visit("power_limit_watts", gpu.power_limit_watts);
  visit.older("driver", gpu.driver);
}

void each_field(auto& visit, Either<ProbeMeasurement> auto& each) {
  visit("id", each.id);
  visit("name", each.name);
  visit("unit", each.unit, By{unit_words, unit_from_json});
  visit("size", each.size);
  visit("by", each.by);
  visit("work", each.work);
  visit("parts", each.parts);
}

void each_field(auto& visit, Either<ProbeFailure> auto& failure) {
  visit("part", failure.part);
  visit("measurement", failure.measurement);
  visit("what", failure.what);
}

void each_field(auto& visit, Either<ProbeRecord> auto& record) {
  visit("host", record.host, ReadBy{host_name_from_json});
  visit("processor", record.processor);
  visit("cores", record.cores);
  visit("taken_share", record.taken_share, kShare);
  visit.older("window_seconds", record.window_seconds, kSeconds);
  // Of before GPUs were probed none is there.
  visit.older("gpus", record.gpus);
  visit.older("gpu_window_seconds", record.gpu_window_seconds, kSeconds);
  visit("measurements", record.measurements);
  visit.older("failures", record.failures);
  visit("notes", record.notes);
}

}  // namespace collbench
