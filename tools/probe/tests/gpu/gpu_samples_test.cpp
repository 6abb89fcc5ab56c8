#include "tools/probe/gpu/gpu_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>

namespace collbench::topology::gpu_samples_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

GpuReading reading(const std::string& address, double megahertz, double celsius) {
  GpuReading gpu;
  gpu.address = address;
  gpu.sm_clock_hertz = megahertz * 1e6;
  gpu.power_watts = megahertz / 10;
  gpu.temperature_celsius = celsius;
  return gpu;
}

TEST(GpuSamples, AWindowHasWhatWasReadInIt) {
  std::vector<GpuSample> samples{{1, {reading("0000:18:00.0", 1000, 90)}},
                                 {2, {reading("0000:18:00.0", 1800, 70), reading("0000:19:00.0", 5, 5)}},
                                 {3, {reading("0000:18:00.0", 1600, 80)}},
                                 {4, {reading("0000:18:00.0", 100, 10)}}};
  samples[2].gpus[0].throttled_by = {GpuTrouble::hw_thermal_slowdown};
  samples[3].gpus[0].throttled_by = {GpuTrouble::sw_power_cap};
  // CUDA's words for the address are other than the driver's.
  const GpuWindow window = gpu_window(samples, "0000:18:00.0", 1.5, 3.5);
  EXPECT_EQ(window.sm_clock_hertz, 1700e6);
  EXPECT_EQ(window.power_watts, 170);
  EXPECT_EQ(window.temperature_celsius, 80);
  EXPECT_THAT(window.throttled_by, ElementsAre(GpuTrouble::hw_thermal_slowdown));
  EXPECT_EQ(gpu_window(samples, "00000000:18:00.0", 1.5, 3.5), window);
  EXPECT_EQ(gpu_window(samples, "0000:18:00.0", 4.5, 5), GpuWindow{});
  EXPECT_EQ(gpu_window(samples, "0000:1a:00.0", 0, 5), GpuWindow{});
}

struct Reader : GpuReader {
  explicit Reader(int reads) : good(reads) {}
  [[nodiscard]] std::string name() const override { return "a reader"; }
  [[nodiscard]] std::vector<GpuReading> read_within(double /*seconds*/) override {
    if (good-- <= 0) throw std::runtime_error("no driver");
    return {reading("a", 1, 1)};
  }
  int good;
};

std::vector<std::unique_ptr<GpuReader>> readers(std::initializer_list<int> good) {
  std::vector<std::unique_ptr<GpuReader>> all;
  for (const int each : good) all.push_back(std::make_unique<Reader>(each));
  return all;
}

TEST(GpuSamples, TheFirstReaderThatReadsIsUsedUntilItFails) {
  const SteadySeconds clock;
  GpuSampler none(readers({0, 0}), clock);
  EXPECT_THAT(none.finish(), IsEmpty());
  EXPECT_EQ(none.failure(), "a reader: no driver");
  GpuSampler second(readers({0, 1'000'000}), clock);
  EXPECT_FALSE(second.finish().empty());
  EXPECT_EQ(second.failure(), "");
}

}  // namespace
}  // namespace collbench::topology::gpu_samples_test
