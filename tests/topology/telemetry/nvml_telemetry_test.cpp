// Over stand-ins for libnvidia-ml (stand_in_nvml.cpp): nothing here has been compared with a real GPU.
#include "topology/telemetry/nvml_telemetry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "base/error.hpp"
#include "tests/source_folder.hpp"
#include "topology/telemetry/nvidia_smi_telemetry.hpp"

namespace collbench::topology::nvml_telemetry_test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class NvmlTelemetryTest : public testing::Test {
 protected:
  ~NvmlTelemetryTest() override { ::unsetenv("COLLBENCH_STAND_IN_SMI"); }

  static void set_options(const std::string& options) {
    ::setenv("COLLBENCH_STAND_IN_SMI", options.c_str(), 1);
  }
  static std::string library(const std::string& name = "stand_in_nvml") {
    return fmt::format("{}/lib{}.so", COLLBENCH_STAND_IN_NVML_FOLDER, name);
  }
  static std::vector<GpuReading> read(const std::string& options = "",
                                      const std::string& name = "stand_in_nvml") {
    set_options(options);
    return make_nvml_reader(library(name))->read();
  }
  static std::string refusal(GpuReader& reader) {
    try {
      (void)reader.read();
    } catch (const Error& error) {
      return error.what();
    }
    return "no Error";
  }
  static std::string refusal(const std::string& options, const std::string& file) {
    set_options(options);
    return refusal(*make_nvml_reader(file));
  }
};

TEST_F(NvmlTelemetryTest, ReadsInTheUnitsOfTheRecord) {
  const std::vector<GpuReading> gpus = read("sw_power_cap");
  ASSERT_EQ(gpus.size(), 8U);
  EXPECT_EQ(gpus[1].source, TelemetrySource::nvml);
  EXPECT_EQ(gpus[1].address, "0000:19:00.0");
  EXPECT_EQ(gpus[1].uuid, "GPU-c0000000-0000-0000-0000-000000000001");
  EXPECT_EQ(gpus[1].sm_clock_hertz, 1755e6);
  EXPECT_EQ(gpus[1].temperature_celsius, 41);
  EXPECT_EQ(gpus[1].power_watts, 300.5) << "the momentary one";
  EXPECT_EQ(gpus[1].power_limit_watts, 700);
  EXPECT_EQ(gpus[1].model, "stand-in for a GPU");
  EXPECT_EQ(gpus[1].driver, "550.54.15");
  EXPECT_EQ(gpus[1].ecc_corrected, 3);
  EXPECT_EQ(gpus[1].ecc_uncorrected, 4);
  EXPECT_EQ(gpus[0].pcie_replays, 9);
  EXPECT_THAT(gpus[0].throttled_by, IsEmpty());
  EXPECT_THAT(gpus[1].throttled_by, ElementsAre(GpuTrouble::sw_power_cap));
  EXPECT_THAT(gpus[1].throttled_seconds,
              ElementsAre(Pair(GpuTrouble::sw_power_cap, 2.5), Pair(GpuTrouble::sync_boost, 0)));
}

/// Each reason alone, all of them, and what a driver does not support. Nvidia-smi alone has the times of
/// three reasons.
TEST_F(NvmlTelemetryTest, NvidiaSmiGivesTheSameReading) {
  const std::string program = source_folder() + "/tests/collectives/nccl/stand_in/nvidia-smi";
  const std::vector<std::string> reasons{"sw_power_cap",        "hw_slowdown",
                                         "hw_thermal_slowdown", "hw_power_brake_slowdown",
                                         "sw_thermal_slowdown", "sync_boost"};
  std::vector<std::string> each{"", "gpu_idle applications_clocks_setting", "na",
                                fmt::format("{}", fmt::join(reasons, " "))};
  each.insert(each.end(), reasons.begin(), reasons.end());
  for (const std::string& options : each) {
    std::vector<GpuReading> by_nvml = read(options);
    for (GpuReading& gpu : by_nvml) gpu.source = TelemetrySource::nvidia_smi;
    std::vector<GpuReading> by_nvidia_smi = make_nvidia_smi_reader(program)->read();
    for (GpuReading& gpu : by_nvidia_smi) {
      for (const GpuTrouble trouble : {GpuTrouble::hw_thermal_slowdown, GpuTrouble::hw_power_brake_slowdown,
                                       GpuTrouble::sw_thermal_slowdown}) {
        gpu.throttled_seconds.erase(trouble);
      }
    }
    EXPECT_TRUE(by_nvml == by_nvidia_smi) << options;
  }
}

TEST_F(NvmlTelemetryTest, ReadsAnOldDriver) {
  const GpuReading gpu = read("hw_slowdown hw_thermal_slowdown", "stand_in_nvml_old").at(1);
  EXPECT_EQ(gpu.temperature_celsius, 41);
  EXPECT_EQ(gpu.power_watts, 250.25) << "the average, where there is no momentary one";
  EXPECT_THAT(gpu.throttled_by, ElementsAre(GpuTrouble::hw_thermal_slowdown));
  EXPECT_THAT(gpu.throttled_seconds,
              ElementsAre(Pair(GpuTrouble::sw_power_cap, 2.5), Pair(GpuTrouble::sync_boost, 0)));
}

TEST_F(NvmlTelemetryTest, UnsupportedFiguresAreNotKnown) {
  const GpuReading gpu = read("na").at(0);
  EXPECT_EQ(gpu.uuid, "GPU-c0000000-0000-0000-0000-000000000000");
  EXPECT_EQ(gpu.sm_clock_hertz, std::nullopt);
  EXPECT_EQ(gpu.power_watts, std::nullopt);
  EXPECT_EQ(gpu.ecc_corrected, std::nullopt);
  EXPECT_THAT(gpu.throttled_seconds, IsEmpty());
}

TEST_F(NvmlTelemetryTest, AGpuThatIsLostForbiddenOrWithoutAnAddressIsLeftOut) {
  const auto reader = make_nvml_reader(library());
  EXPECT_EQ(reader->read().size(), 8U);
  set_options("lost");
  const std::vector<GpuReading> others = reader->read();
  ASSERT_EQ(others.size(), 7U);
  EXPECT_EQ(others[1].address, "0000:1a:00.0");
  set_options("no_address");
  EXPECT_TRUE(reader->read() == others);
  set_options("forbidden");
  EXPECT_EQ(reader->read().at(0).address, "0000:19:00.0");
  set_options("lost_all");
  EXPECT_EQ(refusal(*reader), "cannot read any of 8 GPUs: GPU is lost");
}

TEST_F(NvmlTelemetryTest, SaysWhyItCannotBeUsed) {
  EXPECT_THAT(refusal("", "/none.so"), HasSubstr("/none.so: cannot open shared object file"));
  EXPECT_THAT(
      refusal("", library("stand_in_nvml_incomplete")),
      AllOf(HasSubstr("libstand_in_nvml_incomplete.so"), HasSubstr("lacks nvmlDeviceGetFieldValues")));
  EXPECT_EQ(refusal("mismatch", library()), "nvmlInit_v2: Driver/library version mismatch");
  EXPECT_EQ(refusal("no_gpu", library()), "nvmlDeviceGetCount_v2: no GPU");
}

TEST_F(NvmlTelemetryTest, AHangIsATimeout) {
  const auto reader = make_nvml_reader(library(), 0.05);
  set_options("hang");
  EXPECT_EQ(refusal(*reader), "timed out after 0.05 s");
  set_options("");
  EXPECT_THAT(refusal(*reader), AnyOf("no Error", "timed out after 0.05 s")) << "by another thread";
}

}  // namespace
}  // namespace collbench::topology::nvml_telemetry_test
