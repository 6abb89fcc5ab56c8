#include "base/record/telemetry.hpp"

#include <gtest/gtest.h>

#include "tests/base/record/random_run.hpp"

namespace collbench::telemetry_test {
namespace {

TEST(GpuTrouble, IsFoundByItsName) {
  const auto read = [](const std::string& trouble) {
    const nlohmann::json json{{"host", "n1"}, {"gpu", "GPU-1"}, {"trouble", trouble}};
    return record_from_json<RowMark>(JsonReader(json, "run.json")).trouble;
  };
  for (std::size_t i = 0; i < kWords<GpuTrouble>.size(); ++i) {
    const auto trouble = static_cast<GpuTrouble>(i);
    EXPECT_EQ(read(std::string(name(trouble))), trouble);
  }
  EXPECT_THROW((void)read("gpu_idle"), Error);
}

TEST(GpuTrouble, ErrorsAreNoThrottling) {
  EXPECT_TRUE(is_throttling(GpuTrouble::sw_power_cap));
  EXPECT_TRUE(is_throttling(GpuTrouble::sync_boost));
  EXPECT_FALSE(is_throttling(GpuTrouble::ecc_corrected));
  EXPECT_FALSE(is_throttling(GpuTrouble::pcie_replays));
}

Telemetry there_and_back(const Telemetry& telemetry) {
  const auto document = nlohmann::json::parse(record_to_json(telemetry).dump());
  return record_from_json<Telemetry>(JsonReader(document, "run.json"));
}

TEST(TelemetryJson, ComesBackAsItWas) {
  RandomRun random(1);
  for (int i = 0; i < 100; ++i) {
    const Telemetry telemetry = random.telemetry();
    EXPECT_EQ(there_and_back(telemetry), telemetry);
  }
}

TEST(TelemetryJson, WhatIsNotKnownIsNull) {
  Telemetry telemetry;
  telemetry.gpus.emplace_back();
  const Json json = record_to_json(telemetry);
  EXPECT_TRUE(json["gpus"][0]["power_watts"].is_null());
  EXPECT_TRUE(json["gpus"][0]["pcie_replays"].is_null());
}

TEST(TelemetryJson, NamesTheSourceAndOlderRecordsAreByNvidiaSmi) {
  Telemetry telemetry;
  telemetry.gpus.emplace_back().source = TelemetrySource::nvml;
  auto json = nlohmann::json::parse(record_to_json(telemetry).dump());
  EXPECT_EQ(json["gpus"][0]["source"], "NVML");
  json["gpus"][0].erase("source");
  EXPECT_EQ(record_from_json<Telemetry>(JsonReader(json, "run.json")).gpus.at(0).source,
            TelemetrySource::nvidia_smi);
  json["gpus"][0]["source"] = "dcgm";
  EXPECT_THROW((void)record_from_json<Telemetry>(JsonReader(json, "run.json")), Error);
}

TEST(TelemetryJson, AMarkNamesItsTrouble) {
  const RowMark mark{"n1", "GPU-1", GpuTrouble::hw_thermal_slowdown};
  EXPECT_EQ(record_to_json(mark).dump(), R"({"host":"n1","gpu":"GPU-1","trouble":"HW thermal slowdown"})");
  const auto odd = nlohmann::json::parse(R"({"host":"n1","gpu":"GPU-1","trouble":"too warm"})");
  EXPECT_THROW((void)record_from_json<RowMark>(JsonReader(odd, "run.json")), Error);
}

}  // namespace

}  // namespace collbench::telemetry_test
