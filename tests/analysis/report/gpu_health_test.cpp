#include "analysis/report/sections.hpp"

#include <gmock/gmock.h>

#include "tests/analysis/probe/made_probes.hpp"

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

TEST(GpusAlone, EachThatIsFoundHasOneLineTheBadOnesFirst) {
  collbench::Run run;
  EXPECT_THAT(gpus_alone_lines(run), IsEmpty());
  run.gpu_probes = {made_gpus("NVIDIA H100 80GB HBM3", {3e12, 3e12, 3e12, 2.9e12, 3e12, 2e12, 3e12, 3e12})};
  ProbeMeasurement again = run.gpu_probes[0].measurements[0];
  again.id = "gpu-hbm-triad";
  again.name = "HBM triad";
  run.gpu_probes[0].measurements.push_back(again);
  run.gpu_probes[0].measurements.push_back(
      {.id = "gpu-h2d", .name = "copy to the GPU", .unit = ProbeUnit::byte});
  run.gpu_probes[0].failures = {{"GPU 7", "HBM copy", "an illegal memory access was encountered"}};
  const std::vector<GpuAlone> found = gpus_found_alone(run);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_TRUE(found[0].bad && found[1].bad && !found[2].bad);
  EXPECT_EQ(found[2].name, "GPU 3");
  const auto five = std::ranges::find(found, "GPU 5", &GpuAlone::name);
  ASSERT_NE(five, found.end());
  EXPECT_THAT(five->words, testing::AllOf(testing::StartsWith("bad by itself: GPU 5 of g1: "),
                                          HasSubstr("makes 0.667 of the median"),
                                          testing::EndsWith(" (and in 2 more measurements)")));
  ProbeRecord& none = run.gpu_probes.emplace_back();
  none.host = "g2";
  none.notes = {"not measured: no NVIDIA driver"};
  EXPECT_THAT(gpus_alone_lines(run).back().text, "GPUs of g2, each alone: not measured: no NVIDIA driver");
}

}  // namespace
}  // namespace collbench::analysis::gpu_health_test
