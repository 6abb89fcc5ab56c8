// With a shell script for nvidia-smi and a stand-in for NVML. No time is asserted.
#include "topology/telemetry/telemetry_watch.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "topology/telemetry/nvidia_smi_telemetry.hpp"
#include "topology/telemetry/nvml_telemetry.hpp"

namespace collbench::topology::telemetry_watch_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr auto kCap = GpuTrouble::sw_power_cap;
constexpr auto kHot = GpuTrouble::hw_thermal_slowdown;

GpuReading reading(const std::string& address = "a") {
  GpuReading gpu;
  gpu.address = address;
  gpu.uuid = "GPU-" + address;
  return gpu;
}

RowMark mark(GpuTrouble trouble, const std::string& gpu = "GPU-a") { return {"", gpu, trouble}; }

TEST(TelemetryLog, KeepsTheFirstTheExtremesAndTheLast) {
  TelemetryLog log;
  for (const double watts : {100.0, 70.0, 690.0, 300.0}) {
    GpuReading gpu = reading();
    gpu.power_watts = watts;
    log.add({gpu}, {});
  }
  EXPECT_EQ(log.readings(), 4);
  ASSERT_EQ(log.gpus().size(), 1U);
  EXPECT_EQ(log.gpus()[0].power_watts, (Gauge{100, 70, 690, 300}));
  EXPECT_EQ(log.gpus()[0].sm_clock_hertz, std::nullopt);
}

TEST(TelemetryLog, AReasonThatHoldsMarksWhatRanDuringTheReading) {
  TelemetryLog log;
  log.add({reading("a"), reading("b")}, {});
  GpuReading hot = reading("b");
  hot.throttled_by = {kHot};
  log.add({reading("a"), hot}, {.seconds_since_last = 1, .during = {3, 4}, .since_last = {1, 2, 3, 4}});
  EXPECT_THAT(log.marks(), ElementsAre(Pair(3, ElementsAre(mark(kHot, "GPU-b"))),
                                       Pair(4, ElementsAre(mark(kHot, "GPU-b")))));
  EXPECT_THAT(log.gpus()[0].troubles, IsEmpty());
  EXPECT_THAT(log.gpus()[1].troubles, ElementsAre(kHot));
}

TEST(TelemetryLog, WhatWasCountedMarksAllThatRanSince) {
  TelemetryLog log;
  GpuReading gpu = reading();
  gpu.ecc_corrected = 5;
  gpu.ecc_uncorrected = 1;
  gpu.pcie_replays = 9;
  log.add({gpu}, {});
  EXPECT_THAT(log.marks(), IsEmpty()) << "errors of before the run are not its own";
  gpu.pcie_replays = 10;
  log.add({gpu}, {.seconds_since_last = 1, .during = {2}, .since_last = {1, 2}});
  EXPECT_THAT(log.marks(), ElementsAre(Pair(1, ElementsAre(mark(GpuTrouble::pcie_replays))),
                                       Pair(2, ElementsAre(mark(GpuTrouble::pcie_replays)))));
  log.add({gpu}, {.seconds_since_last = 1, .during = {3}, .since_last = {3}});
  EXPECT_EQ(log.marks().size(), 2U);
  EXPECT_EQ(log.gpus()[0].pcie_replays, (CounterChange{9, 10}));
  gpu.ecc_corrected = 6;
  gpu.ecc_uncorrected = 2;
  log.add({gpu}, {.seconds_since_last = 1, .during = {}, .since_last = {4}});
  EXPECT_THAT(log.marks().at(4),
              ElementsAre(mark(GpuTrouble::ecc_corrected), mark(GpuTrouble::ecc_uncorrected)));
}

TEST(TelemetryLog, AReasonBetweenReadingsCountsFromOnePercentOfTheTime) {
  TelemetryLog log;
  GpuReading gpu = reading();
  gpu.throttled_seconds[kCap] = 100;
  log.add({gpu}, {});
  gpu.throttled_seconds[kCap] += 0.019;
  log.add({gpu}, {.seconds_since_last = 2, .during = {1}, .since_last = {1}});
  EXPECT_THAT(log.marks(), IsEmpty());
  gpu.throttled_seconds[kCap] += 0.021;
  log.add({gpu}, {.seconds_since_last = 2, .during = {3}, .since_last = {2, 3}});
  EXPECT_THAT(log.marks(), ElementsAre(Pair(2, ElementsAre(mark(kCap))), Pair(3, ElementsAre(mark(kCap)))));
  log.add({gpu}, {.seconds_since_last = 2, .during = {5}, .since_last = {5}});
  EXPECT_EQ(log.marks().size(), 2U);
}

TEST(TelemetryLog, ACounterThatWasResetIsNoTrouble) {
  TelemetryLog log;
  GpuReading gpu = reading();
  gpu.ecc_corrected = 5;
  gpu.throttled_seconds[kCap] = 100;
  log.add({gpu}, {});
  gpu.ecc_corrected = 0;
  gpu.throttled_seconds[kCap] = 0;
  log.add({gpu}, {.seconds_since_last = 1, .during = {1}, .since_last = {1}});
  EXPECT_THAT(log.marks(), IsEmpty());
}

TEST(TelemetryLog, AGpuThatDisappearsIsReportedOnce) {
  TelemetryLog log;
  log.add({reading("a"), reading("b")}, {});
  log.add({reading("a")}, {});
  log.add({reading("a")}, {});
  EXPECT_THAT(log.notes(), ElementsAre("GPU b disappeared during the run; check dmesg for Xid errors"));
}

/// One that fails as it is told to, once the time that it is given is over.
class FailingReader final : public GpuReader {
 public:
  explicit FailingReader(std::function<void()> fail) : fail_(std::move(fail)) {}
  [[nodiscard]] std::string name() const override { return "it"; }
  [[nodiscard]] std::vector<GpuReading> read_within(double seconds) override {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    fail_();
    return {};
  }

 private:
  std::function<void()> fail_;
};

class TelemetryWatchTest : public testing::Test {
 public:
  TelemetryWatchTest(const TelemetryWatchTest&) = delete;
  TelemetryWatchTest& operator=(const TelemetryWatchTest&) = delete;
  TelemetryWatchTest(TelemetryWatchTest&&) = delete;
  TelemetryWatchTest& operator=(TelemetryWatchTest&&) = delete;

 protected:
  TelemetryWatchTest() {
    std::string folder = testing::TempDir() + "telemetry_watch_XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
    folder_ = folder;
    program_ = (folder_ / "nvidia-smi").string();
  }
  ~TelemetryWatchTest() override { std::filesystem::remove_all(folder_); }

  void script(const std::string& text) {
    std::ofstream(program_) << "#!/bin/sh\ncd " << folder_.string() << "\n" << text << "\n";
    std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
  }

  /// A script that counts its calls in the file "calls" and shows a GPU that is too hot while "hot" is there.
  void healthy() {
    script(R"(echo "$*" >> calls
test -e hot && state=Active || state="Not Active"
cat <<END
<nvidia_smi_log><gpu id="00000000:18:00.0"><uuid>GPU-1</uuid>
<clocks_event_reasons><clocks_event_reason_hw_thermal_slowdown>$state</clocks_event_reason_hw_thermal_slowdown>
</clocks_event_reasons></gpu></nvidia_smi_log>
END)");
  }

  [[nodiscard]] long calls() const {
    const std::string text = read_file((folder_ / "calls").string());
    return std::count(text.begin(), text.end(), '\n');
  }

  /// Waits until a reading has begun and another one after it.
  void wait_for_a_reading() const {
    for (const long before = calls(); calls() < before + 2;) ::usleep(1000);
  }

  [[nodiscard]] GpuReaders nvidia_smi(double timeout_seconds = 8) const {
    GpuReaders readers;
    readers.push_back(make_nvidia_smi_reader(program_, timeout_seconds));
    return readers;
  }

  [[nodiscard]] GpuReaders nvml_then_nvidia_smi(const std::string& library) const {
    GpuReaders readers = nvidia_smi();
    readers.insert(readers.begin(), make_nvml_reader(library));
    return readers;
  }

  static constexpr double kPause = 0.01;
  std::filesystem::path folder_;
  std::string program_;
};

TEST_F(TelemetryWatchTest, ReadsBeforeDuringAndAfter) {
  healthy();
  TelemetryWatch watch(nvidia_smi(), kPause);
  EXPECT_GE(calls(), 1);
  wait_for_a_reading();
  const TelemetryLog& log = watch.finish();
  EXPECT_GE(log.readings(), 3);
  EXPECT_EQ(log.readings(), calls());
  EXPECT_THAT(log.notes(), IsEmpty());
  EXPECT_EQ(read_file((folder_ / "calls").string()).substr(0, 6), "-q -x\n");
}

TEST_F(TelemetryWatchTest, MarksTheRowThatRunsAndNoOther) {
  healthy();
  TelemetryWatch watch(nvidia_smi(), kPause);
  watch.running(0);
  wait_for_a_reading();
  watch.running(std::nullopt);
  wait_for_a_reading();  // the one that row 0 ran in is over
  std::ofstream(folder_ / "hot") << "";
  watch.running(1);
  wait_for_a_reading();
  watch.running(std::nullopt);
  wait_for_a_reading();
  std::filesystem::remove(folder_ / "hot");
  wait_for_a_reading();
  watch.running(2);
  wait_for_a_reading();
  const TelemetryLog& log = watch.finish();
  EXPECT_THAT(log.marks(),
              ElementsAre(Pair(1, ElementsAre(RowMark{"", "GPU-1", GpuTrouble::hw_thermal_slowdown}))));
}

TEST_F(TelemetryWatchTest, AProgramThatIsNotThereIsNoFailure) {
  TelemetryWatch watch(nvidia_smi(), kPause);
  watch.running(0);
  const TelemetryLog& log = watch.finish();
  EXPECT_EQ(log.readings(), 0);
  EXPECT_THAT(log.notes(), ElementsAre(HasSubstr("unknown: nvidia-smi -q -x: No such file")));
}

TEST_F(TelemetryWatchTest, OneThatFailsIsAskedOnce) {
  script("echo call >> calls; echo 'NVIDIA-SMI has failed because it could not'; exit 9");
  TelemetryWatch watch(nvidia_smi(), kPause);
  EXPECT_THAT(watch.finish().notes(),
              ElementsAre(HasSubstr("exit status 9, \"NVIDIA-SMI has failed because it could not\"")));
  EXPECT_EQ(calls(), 1);
}

TEST_F(TelemetryWatchTest, OneThatHangsIsGivenUp) {
  script("sleep 1000");
  TelemetryWatch watch(nvidia_smi(0.05), kPause);
  EXPECT_THAT(watch.finish().notes(), ElementsAre(HasSubstr("timed out after 0.05 s")));
}

TEST_F(TelemetryWatchTest, AllReadersShareOneTimeout) {
  healthy();
  GpuReaders readers = nvidia_smi();
  readers.insert(readers.begin(), std::make_unique<FailingReader>(
                                      [] { throw Error(ExitStatus::not_here, "it", "no answer", "look"); }));
  TelemetryWatch watch(std::move(readers), kPause, 0.05);
  EXPECT_THAT(watch.finish().notes(),
              ElementsAre(HasSubstr("it: no answer; nvidia-smi -q -x: not asked, as 0.05 s had passed; ")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "calls"));
}

TEST_F(TelemetryWatchTest, AnyExceptionIsAFailure) {
  GpuReaders readers;
  readers.push_back(std::make_unique<FailingReader>([] { throw std::bad_alloc(); }));
  TelemetryWatch watch(std::move(readers), kPause, 0.05);
  EXPECT_THAT(watch.finish().notes(), ElementsAre(HasSubstr("unknown: it: std::bad_alloc; ")));
}

TEST_F(TelemetryWatchTest, OneThatFailsLaterKeepsItsReadings) {
  script(R"(echo call >> calls; test $(wc -l < calls) -gt 2 && exit 15
echo '<nvidia_smi_log><gpu id="00000000:18:00.0"></gpu></nvidia_smi_log>')");
  TelemetryWatch watch(nvidia_smi(), kPause);
  while (calls() < 3) ::usleep(1000);
  const TelemetryLog& log = watch.finish();
  EXPECT_EQ(log.readings(), 2);
  EXPECT_EQ(log.gpus().size(), 1U);
  EXPECT_THAT(log.notes(),
              ElementsAre(HasSubstr("unknown since reading 2: nvidia-smi -q -x: exit status 15")));
}

TEST_F(TelemetryWatchTest, NonsenseIsNotKnown) {
  script("echo hello");
  TelemetryWatch watch(nvidia_smi(), kPause);
  EXPECT_THAT(watch.finish().notes(), ElementsAre(HasSubstr("this is not XML")));
}

TEST_F(TelemetryWatchTest, NvmlComesFirstAndStartsNoProcess) {
  healthy();
  TelemetryWatch watch(nvml_then_nvidia_smi(COLLBENCH_STAND_IN_NVML_FOLDER "/libstand_in_nvml.so"), kPause);
  const TelemetryLog& log = watch.finish();
  EXPECT_GE(log.readings(), 2);
  ASSERT_EQ(log.gpus().size(), 8U);
  EXPECT_EQ(log.gpus()[0].source, TelemetrySource::nvml);
  EXPECT_THAT(log.notes(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "calls"));
}

TEST_F(TelemetryWatchTest, NvidiaSmiIsUsedWhereNvmlCannotBeAndTheReasonIsNoted) {
  healthy();
  TelemetryWatch watch(nvml_then_nvidia_smi("/none.so"), kPause);
  const TelemetryLog& log = watch.finish();
  EXPECT_EQ(log.readings(), calls());
  EXPECT_EQ(log.gpus().at(0).source, TelemetrySource::nvidia_smi);
  EXPECT_THAT(log.notes(),
              ElementsAre(HasSubstr("read with nvidia-smi -q -x instead of NVML: /none.so: cannot open")));
}

TEST_F(TelemetryWatchTest, WhereNeitherCanBeUsedBothReasonsAreNoted) {
  TelemetryWatch watch(nvml_then_nvidia_smi("/none.so"), kPause);
  EXPECT_THAT(watch.finish().notes(), ElementsAre(testing::MatchesRegex(
                                          "unknown: NVML: /none.so: .*; nvidia-smi -q -x: No such file or "
                                          "directory; check the NVIDIA driver, or pass --no-telemetry")));
}

/// It works, then every GPU is lost; nvidia-smi would only say the same.
TEST_F(TelemetryWatchTest, NvmlThatFailsLaterKeepsItsReadings) {
  healthy();
  TelemetryWatch watch(nvml_then_nvidia_smi(COLLBENCH_STAND_IN_NVML_FOLDER "/libstand_in_nvml.so"), 1000);
  ::setenv("COLLBENCH_STAND_IN_SMI", "lost_all", 1);
  const TelemetryLog& log = watch.finish();
  ::unsetenv("COLLBENCH_STAND_IN_SMI");
  EXPECT_EQ(log.readings(), 1);
  EXPECT_THAT(log.notes(), ElementsAre("unknown since reading 1: NVML: cannot read any of 8 GPUs: GPU is "
                                       "lost; check dmesg for Xid errors"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "calls"));
}

}  // namespace

}  // namespace collbench::topology::telemetry_watch_test
