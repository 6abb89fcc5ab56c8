#include "analysis/report/sections.hpp"

#include <gmock/gmock.h>

namespace collbench::analysis::gpu_health_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Run marked_run() {
  collbench::Run run;
  run.rows.resize(3);
  run.telemetry.emplace();
  run.telemetry->readings = 12;
  GpuTelemetry& gpu = run.telemetry->gpus.emplace_back();
  gpu.host = "n1";
  gpu.uuid = "GPU-1";
  gpu.sm_clock_hertz = Gauge{1410e6, 1200e6, 1980e6, 1410e6};
  gpu.power_watts = Gauge{70, 70, 698.4, 80};
  gpu.pcie_replays = CounterChange{9, 11};
  gpu.ecc_corrected = CounterChange{1, 1};
  run.telemetry->gpus.push_back(gpu);
  run.telemetry->gpus[1].source = TelemetrySource::nvml;
  run.telemetry->gpus[1].sm_clock_hertz = Gauge{1410e6, 990e6, 1500e6, 1410e6};
  return run;
}

TEST(TelemetryFacts, SayNothingOfARunWithoutThem) {
  EXPECT_THAT(gpu_health_lines(collbench::Run{}), IsEmpty());
}

TEST(TelemetryFacts, GiveTheRangesAndWhatIsNotKnown) {
  const ReportLines facts = gpu_health_lines(marked_run());
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].text,
            "2 GPUs in 12 readings (NVML, nvidia-smi): SM clock 990 to 1980 MHz, temperature unknown, "
            "power 70 to 698 W; no "
            "corrected "
            "ECC errors, uncorrected ECC errors unknown, 4 PCIe replays");
}

TEST(TelemetryFacts, NameEachTroubleOnceWithRowsGpusAndTheNextStep) {
  collbench::Run run = marked_run();
  const RowMark hot{"n1", "GPU-1", GpuTrouble::hw_thermal_slowdown};
  run.rows[0].measurement.marks = {hot, {"n2", "GPU-2", GpuTrouble::hw_thermal_slowdown}};
  run.rows[2].measurement.marks = {hot, {"n1", "GPU-1", GpuTrouble::sw_power_cap}};
  const ReportLines facts = gpu_health_lines(run);
  ASSERT_EQ(facts.size(), 3U);
  EXPECT_EQ(facts[0].tone, Tone::warning);
  EXPECT_THAT(facts[0].text, HasSubstr("! SW power cap in 1 of 3 rows, GPU-1 of n1: the power limit"));
  EXPECT_THAT(facts[1].text,
              HasSubstr("! HW thermal slowdown in 2 of 3 rows, GPU-1 of n1, GPU-2 of n2: too hot"));
}

TEST(TelemetryFacts, EveryTroubleHasANextStep) {
  for (std::size_t i = 0; i < kWords<GpuTrouble>.size(); ++i) {
    collbench::Run run = marked_run();
    run.rows[0].measurement.marks = {{"n1", "GPU-1", static_cast<GpuTrouble>(i)}};
    const std::string text = gpu_health_lines(run).at(0).text;
    EXPECT_THAT(text, HasSubstr(std::string(kWords<GpuTrouble>.at(i)) + " in 1 of 3 rows"));
    EXPECT_GT(text.size(), text.find("of n1: ") + 30) << text;
  }
}

TEST(TelemetryFacts, SayWhyNothingIsKnown) {
  collbench::Run run;
  run.telemetry.emplace();
  run.telemetry->notes = {"n1: not known: nvidia-smi -q -x: No such file or directory"};
  EXPECT_EQ(gpu_health_lines(run).at(0).text,
            "clocks, throttling and errors of the GPUs of n1: not known: nvidia-smi -q -x: No such file or "
            "directory");
}

}  // namespace
}  // namespace collbench::analysis::gpu_health_test
