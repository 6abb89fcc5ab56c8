#include "topology/telemetry/nvidia_smi_telemetry.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>

#include "base/files.hpp"
#include "tests/topology/fixture.hpp"
#include "tests/topology/refusal.hpp"

namespace collbench::topology::nvidia_smi_telemetry_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::vector<GpuReading> read(const std::string& text) { return read_nvidia_smi_telemetry(text, "Q.xml"); }

GpuReading gpu(const std::string& inside) {
  return read("<nvidia_smi_log><gpu id=\"00000000:9A:00.0\">" + inside + "</gpu></nvidia_smi_log>").at(0);
}

TEST(NvidiaSmiTelemetry, ReadsANewDriver) {
  const GpuReading reading =
      gpu(R"(<product_name>A GPU</product_name><uuid>GPU-1</uuid><pci><replay_counter>9</replay_counter></pci>
    <clocks_event_reasons>
      <clocks_event_reason_gpu_idle>Active</clocks_event_reason_gpu_idle>
      <clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap>
      <clocks_event_reason_sync_boost>Not Active</clocks_event_reason_sync_boost>
    </clocks_event_reasons>
    <clocks_event_reasons_counters>
      <clocks_event_reasons_counters_sw_power_cap>2500000 us</clocks_event_reasons_counters_sw_power_cap>
      <clocks_event_reasons_counters_hw_therm_slowdown>0 us</clocks_event_reasons_counters_hw_therm_slowdown>
      <clocks_event_reasons_counters_hw_power_brake>N/A</clocks_event_reasons_counters_hw_power_brake>
    </clocks_event_reasons_counters>
    <ecc_errors><volatile><sram_correctable>1</sram_correctable>
      <sram_uncorrectable_parity>2</sram_uncorrectable_parity><sram_uncorrectable_secded>4</sram_uncorrectable_secded>
      <dram_correctable>8</dram_correctable><dram_uncorrectable>16</dram_uncorrectable></volatile>
      <aggregate><sram_correctable>900</sram_correctable></aggregate></ecc_errors>
    <temperature><gpu_temp>66 C</gpu_temp></temperature>
    <gpu_power_readings><average_power_draw>600.00 W</average_power_draw>
      <instant_power_draw>698.50 W</instant_power_draw>
      <current_power_limit>700.00 W</current_power_limit></gpu_power_readings>
    <clocks><sm_clock>1755 MHz</sm_clock></clocks><max_clocks><sm_clock>1980 MHz</sm_clock></max_clocks>)");
  EXPECT_EQ(reading.address, "0000:9a:00.0");
  EXPECT_EQ(reading.uuid, "GPU-1");
  EXPECT_EQ(reading.sm_clock_hertz, 1755e6);
  EXPECT_EQ(reading.temperature_celsius, 66);
  EXPECT_EQ(reading.power_watts, 698.5);
  EXPECT_EQ(reading.power_limit_watts, 700);
  EXPECT_EQ(reading.model, "A GPU");
  EXPECT_EQ(reading.ecc_corrected, 9);
  EXPECT_EQ(reading.ecc_uncorrected, 22);
  EXPECT_EQ(reading.pcie_replays, 9);
  EXPECT_THAT(reading.throttled_by, ElementsAre(GpuTrouble::sw_power_cap)) << "an idle GPU is in no trouble";
  EXPECT_THAT(reading.throttled_seconds,
              ElementsAre(Pair(GpuTrouble::sw_power_cap, 2.5), Pair(GpuTrouble::hw_thermal_slowdown, 0)));
}

TEST(NvidiaSmiTelemetry, ReadsAnOldDriver) {
  const GpuReading reading = gpu(R"(
    <clocks_throttle_reasons>
      <clocks_throttle_reason_applications_clocks_setting>Active</clocks_throttle_reason_applications_clocks_setting>
      <clocks_throttle_reason_hw_slowdown>Active</clocks_throttle_reason_hw_slowdown>
      <clocks_throttle_reason_hw_power_brake_slowdown>Active</clocks_throttle_reason_hw_power_brake_slowdown>
    </clocks_throttle_reasons>
    <ecc_errors><volatile><single_bit><device_memory>3</device_memory><total>3</total></single_bit>
      <double_bit><total>1</total></double_bit></volatile></ecc_errors>
    <power_readings><power_draw>67.03 W</power_draw></power_readings>)");
  EXPECT_THAT(reading.throttled_by, ElementsAre(GpuTrouble::hw_power_brake_slowdown))
      << "the closer reason alone, and no setting";
  EXPECT_EQ(reading.ecc_corrected, 3);
  EXPECT_EQ(reading.ecc_uncorrected, 1);
  EXPECT_EQ(reading.power_watts, 67.03);
}

TEST(NvidiaSmiTelemetry, UnsupportedFiguresAreNotKnown) {
  for (const char* const text : {"N/A", "[N/A]", "Unknown Error", "[GPU is lost]", ""}) {
    const GpuReading reading = gpu(fmt::format(
        "<pci><replay_counter>{0}</replay_counter></pci><temperature><gpu_temp>{0}</gpu_temp></temperature>"
        "<clocks><sm_clock>{0}</sm_clock></clocks>"
        "<ecc_errors><volatile><dram_correctable>{0}</dram_correctable></volatile></ecc_errors>"
        "<clocks_event_reasons><clocks_event_reason_hw_slowdown>{0}</clocks_event_reason_hw_slowdown>"
        "</clocks_event_reasons>",
        text));
    EXPECT_EQ(reading.pcie_replays, std::nullopt) << text;
    EXPECT_EQ(reading.temperature_celsius, std::nullopt) << text;
    EXPECT_EQ(reading.sm_clock_hertz, std::nullopt) << text;
    EXPECT_EQ(reading.ecc_corrected, std::nullopt) << text;
    EXPECT_THAT(reading.throttled_by, IsEmpty()) << text;
  }
}

/// Whatever reasons hold, in either spelling and any order, come back; and nothing else.
TEST(NvidiaSmiTelemetry, EveryReasonComesBack) {
  constexpr std::array<std::string_view, 9> kWritten{"sw_power_cap",
                                                     "hw_slowdown",
                                                     "hw_thermal_slowdown",
                                                     "hw_power_brake_slowdown",
                                                     "sw_thermal_slowdown",
                                                     "sync_boost",
                                                     "gpu_idle",
                                                     "applications_clocks_setting",
                                                     "display_clocks_setting"};
  std::mt19937 random(1);
  for (int run = 0; run < 300; ++run) {
    const std::string word = random() % 2 == 0 ? "event" : "throttle";
    std::array<std::size_t, kWritten.size()> order{0, 1, 2, 3, 4, 5, 6, 7, 8};
    std::shuffle(order.begin(), order.end(), random);
    std::vector<GpuTrouble> expected;
    std::string text;
    for (const std::size_t i : order) {
      const bool active = random() % 2 == 0;
      text += fmt::format("<clocks_{0}_reason_{1}>{2}</clocks_{0}_reason_{1}>", word, kWritten.at(i),
                          active ? "Active" : "Not Active");
      if (active && i < kClockTroubles) expected.push_back(static_cast<GpuTrouble>(i));
    }
    const auto holds = [&](GpuTrouble trouble) {
      return std::find(expected.begin(), expected.end(), trouble) != expected.end();
    };
    if (holds(GpuTrouble::hw_thermal_slowdown) || holds(GpuTrouble::hw_power_brake_slowdown)) {
      std::erase(expected, GpuTrouble::hw_slowdown);
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(gpu(fmt::format("<clocks_{0}_reasons>{1}</clocks_{0}_reasons>", word, text)).throttled_by,
              expected);
  }
}

TEST(NvidiaSmiTelemetry, RefusesDamage) {
  const auto refused = [](const std::string& text) { return refusal([&] { (void)read(text); }); };
  const std::string whole = fixture("query.xml");
  EXPECT_THAT(refused(whole.substr(0, 900)), HasSubstr("this is not XML"));
  EXPECT_THAT(refused("<nvidia_smi_log></nvidia_smi_log>"), HasSubstr("no <gpu> element"));
  EXPECT_THAT(refused("NVIDIA-SMI has failed"), HasSubstr("Q.xml"));
  EXPECT_EQ(read(whole).size(), 2U) << "without any of it, the GPUs are there";
}

TEST(NvidiaSmiTelemetry, AnyDamageIsReadOrRefused) {
  const std::string whole = fixture("query.xml");
  std::mt19937 random(1);
  for (int run = 0; run < 500; ++run) {
    std::string text = whole;
    for (unsigned i = random() % 4; i < 4; ++i) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0) {
        text.erase(at, 1 + random() % 20);
      } else {
        text[at] = static_cast<char>(random());
      }
    }
    try {
      EXPECT_THAT(read(text), testing::Not(IsEmpty()));
    } catch (const Error& error) {
      EXPECT_THAT(describe(error), HasSubstr("Q.xml"));
    }
  }
}

/// Figures by grep of sm_clock, gpu_temp, power_draw, replay_counter, …_correctable in <volatile>.
TEST(NvidiaSmiTelemetry, ReadsRecordingsOfRealGpus) {
  const char* const corpus = std::getenv("COLLBENCH_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "COLLBENCH_CORPUS names no corpus of recordings";
  const auto recorded = [&](const char* file) {
    return read(read_file(fmt::format("{}/tools/nvsmi-xml/{}", corpus, file))).at(0);
  };
  const GpuReading a100 = recorded("a100-sxm4-v12.xml");
  EXPECT_EQ(a100.sm_clock_hertz, 1275e6);
  EXPECT_EQ(a100.temperature_celsius, 27);
  EXPECT_EQ(a100.power_watts, 67.03);
  EXPECT_EQ(a100.ecc_corrected, 0);
  EXPECT_EQ(a100.pcie_replays, 0);
  EXPECT_THAT(a100.throttled_by, IsEmpty());
  const GpuReading rtx3080 = recorded("rtx-3080-v13.xml");
  EXPECT_EQ(rtx3080.power_watts, 142.33);
  EXPECT_EQ(rtx3080.ecc_corrected, std::nullopt);
  EXPECT_EQ(rtx3080.throttled_seconds.size(), 5U);
  EXPECT_EQ(recorded("quadro-p2000-v12.xml").ecc_uncorrected, std::nullopt);
  EXPECT_EQ(recorded("tesla-t4.xml").power_watts, 26.78);
  EXPECT_EQ(recorded("gtx-1070-ti.xml").pcie_replays, std::nullopt);
}

}  // namespace
}  // namespace collbench::topology::nvidia_smi_telemetry_test
