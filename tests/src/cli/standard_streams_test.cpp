#include "src/cli/standard_streams.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/error.hpp"

namespace collbench::program::standard_streams_test {
namespace {

TEST(ReportFailure, IsTheExitStatusOfTheProcessAndOneLine) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(report_failure(usage_error("-b", "too large", "give less"), true), 2);
  EXPECT_EQ(report_failure(std::logic_error("no such row"), true), 70);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "collbench: -b: too large; give less\n"
      "collbench: internal error: no such row; this is a bug in collbench: report it in the project's issue "
      "tracker, with this line, the command, and what collbench report-bug prints\n");
}

TEST(ReportFailure, IsSilentWhereAnotherRankReports) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(report_failure(std::logic_error("no such row"), false), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(IsShown, FollowsTheTerminalOnlyWhenItIsAutomatic) {
  EXPECT_TRUE(is_shown(When::always, false));
  EXPECT_FALSE(is_shown(When::never, true));
  EXPECT_TRUE(is_shown(When::automatic, true));
  EXPECT_FALSE(is_shown(When::automatic, false));
}

/// The environment for one test.
class Variables {
 public:
  explicit Variables(const std::map<std::string, const char*>& values) {
    for (const auto& [name, value] : values) {
      const char* const now = std::getenv(name.c_str());
      before_[name] = now == nullptr ? std::nullopt : std::optional<std::string>(now);
      set(name, value == nullptr ? std::nullopt : std::optional<std::string>(value));
    }
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
  Variables(Variables&&) = delete;
  Variables& operator=(Variables&&) = delete;
  ~Variables() {
    for (const auto& [name, value] : before_) set(name, value);
  }

 private:
  static void set(const std::string& name, const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }

  std::map<std::string, std::optional<std::string>> before_;
};

TEST(Locale, IsAsciiWhereItsNameSaysSo) {
  const auto ascii = [](const char* all, const char* ctype, const char* lang) {
    const Variables set({{"LC_ALL", all}, {"LC_CTYPE", ctype}, {"LANG", lang}});
    return locale_is_ascii();
  };
  EXPECT_TRUE(ascii(nullptr, nullptr, "C"));
  EXPECT_TRUE(ascii("POSIX", nullptr, "en_US.UTF-8"));
  EXPECT_FALSE(ascii(nullptr, nullptr, "C.UTF-8"));
  EXPECT_FALSE(ascii("", "en_US.UTF-8", "C"));
  EXPECT_FALSE(ascii(nullptr, nullptr, nullptr));
}

TEST(Ascii, KeepsColumnsWhereThereAreBlanks) {
  EXPECT_EQ(in_ascii("time   ±95%  (µs)  –"), "time  +-95%  (us)  -");
  EXPECT_EQ(in_ascii("α 0.5 µs, 2 × 3 … ✓ é"), "alpha 0.5 us, 2 x 3 ... ? ?");
  EXPECT_EQ(in_ascii("plain"), "plain");
  EXPECT_EQ(in_ascii("a\n    → 2\n#   → 3"), "a\n    -> 2\n#   -> 3") << "an indentation stays";
  EXPECT_EQ(in_ascii("cut \xC2"), "cut ?");
}

TEST(Ascii, IsWhatMessagesStepsAndProgressAreInWhereTheLocaleSaysSo) {
  const Variables set({{"LC_ALL", "C"}, {"TERM", "xterm"}});
  testing::internal::CaptureStderr();
  print_message("calibration off by 3 µs (the measurement goes on)");
  start_log(true);
  spdlog::debug("calibrated in 5 µs");
  start_log(false);
  ProgressLine(true).show("±2 %", 0);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::HasSubstr("off by 3 us (the measurement goes on)\n"));
  EXPECT_THAT(said, testing::HasSubstr("calibrated in 5 us\n"));
  EXPECT_THAT(said, testing::HasSubstr("+-2 %"));
}

TEST(TextOptions, FollowColumnsAndADumbTerminal) {
  const Variables set({{"COLUMNS", "90"}, {"TERM", "dumb"}});
  EXPECT_EQ(text_options(When::automatic, false).columns, 90);
  EXPECT_TRUE(terminal_is_dumb());
  const Variables bad({{"COLUMNS", "wide"}, {"TERM", "xterm"}});
  EXPECT_NE(text_options(When::automatic, false).columns, 90);
  EXPECT_FALSE(terminal_is_dumb());
  EXPECT_TRUE(text_options(When::always, false).color);
}

TEST(ProgressLine, MovesNoCursorOnADumbTerminal) {
  const Variables set(std::map<std::string, const char*>{{"TERM", "dumb"}});
  testing::internal::CaptureStderr();
  {
    ProgressLine line(true);
    line.show("pass 1", 0);
    line.show("pass 2", 10);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "pass 1\npass 2\n");
}

}  // namespace
}  // namespace collbench::program::standard_streams_test
