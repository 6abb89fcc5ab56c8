// With a shell script in nvidia-smi's place. No time is asserted.
#include "topology/telemetry_watch.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/atomic_file.hpp"

namespace collbench::telemetry_watch_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class TelemetryWatchTest : public testing::Test {
 protected:
  TelemetryWatchTest() {
    std::string folder = testing::TempDir() + "telemetry_watch_XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
    folder_ = folder;
    places_.nvidia_smi = (folder_ / "nvidia-smi").string();
    places_.seconds_between = 0.01;
  }
  TelemetryWatchTest(const TelemetryWatchTest&) = delete;
  TelemetryWatchTest& operator=(const TelemetryWatchTest&) = delete;
  TelemetryWatchTest(TelemetryWatchTest&&) = delete;
  TelemetryWatchTest& operator=(TelemetryWatchTest&&) = delete;
  ~TelemetryWatchTest() override { std::filesystem::remove_all(folder_); }

  void script(const std::string& text) {
    std::ofstream(places_.nvidia_smi) << "#!/bin/sh\ncd " << folder_.string() << "\n" << text << "\n";
    std::filesystem::permissions(places_.nvidia_smi, std::filesystem::perms::owner_all);
  }

  /// A script that counts its calls in the file "calls" and says that a GPU is too hot while "hot" is there.
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

  std::filesystem::path folder_;
  TelemetryPlaces places_;
};

TEST_F(TelemetryWatchTest, ReadsBeforeDuringAndAfter) {
  healthy();
  TelemetryWatch watch(places_);
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
  TelemetryWatch watch(places_);
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
  TelemetryWatch watch(places_);
  watch.running(0);
  const TelemetryLog& log = watch.finish();
  EXPECT_EQ(log.readings(), 0);
  EXPECT_THAT(log.notes(), ElementsAre(HasSubstr("not known: nvidia-smi -q -x: No such file")));
}

TEST_F(TelemetryWatchTest, OneThatFailsIsAskedOnce) {
  script("echo call >> calls; echo 'NVIDIA-SMI has failed because it could not'; exit 9");
  TelemetryWatch watch(places_);
  EXPECT_THAT(watch.finish().notes(),
              ElementsAre(HasSubstr("exit status 9, \"NVIDIA-SMI has failed because it could not\"")));
  EXPECT_EQ(calls(), 1);
}

TEST_F(TelemetryWatchTest, OneThatHangsIsGivenUp) {
  script("sleep 1000");
  places_.seconds_per_reading = 0.05;
  TelemetryWatch watch(places_);
  EXPECT_THAT(watch.finish().notes(), ElementsAre(HasSubstr("no answer within 0.05 s")));
}

TEST_F(TelemetryWatchTest, OneThatFailsLaterKeepsWhatItSaid) {
  script(R"(echo call >> calls; test $(wc -l < calls) -gt 2 && exit 15
echo '<nvidia_smi_log><gpu id="00000000:18:00.0"></gpu></nvidia_smi_log>')");
  TelemetryWatch watch(places_);
  while (calls() < 3) ::usleep(1000);
  const TelemetryLog& log = watch.finish();
  EXPECT_EQ(log.readings(), 2);
  EXPECT_EQ(log.gpus().size(), 1U);
  EXPECT_THAT(log.notes(),
              ElementsAre(HasSubstr("not known after reading 2: nvidia-smi -q -x: exit status 15")));
}

TEST_F(TelemetryWatchTest, NonsenseIsNotKnown) {
  script("echo hello");
  TelemetryWatch watch(places_);
  EXPECT_THAT(watch.finish().notes(), ElementsAre(HasSubstr("this is not XML")));
}

}  // namespace
}  // namespace collbench::telemetry_watch_test
