#include "base/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace collbench::units_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of_size(std::string_view text) {
  try {
    return "parsed as " + std::to_string(parse_size(text, "-b"));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return describe(error);
  }
}

TEST(ParseSize, ReadsPlainBytes) {
  EXPECT_EQ(parse_size("0", "-b"), 0U);
  EXPECT_EQ(parse_size("8", "-b"), 8U);
  EXPECT_EQ(parse_size("8B", "-b"), 8U);
  EXPECT_EQ(parse_size("007", "-b"), 7U);
}

TEST(ParseSize, TakesALoneLetterForBinaryAsNcclTestsDoes) {
  EXPECT_EQ(parse_size("1K", "-b"), 1024U);
  EXPECT_EQ(parse_size("3m", "-b"), 3U << 20U);
  EXPECT_EQ(parse_size("4GiB", "-b"), std::uint64_t{4} << 30U);
  EXPECT_EQ(parse_size("2T", "-b"), std::uint64_t{2} << 40U);
  EXPECT_EQ(parse_size("1.5M", "-b"), 1536U * 1024U);
}

TEST(ParseSize, TakesKbMbGbForDecimal) {
  EXPECT_EQ(parse_size("1KB", "-b"), 1000U);
  EXPECT_EQ(parse_size("100MB", "-b"), 100'000'000U);
  EXPECT_EQ(parse_size("1gb", "-b"), 1'000'000'000U);
  EXPECT_EQ(parse_size("1.1KB", "-b"), 1100U);  // 1.1 has no exact binary form
}

TEST(ParseSize, HoldsEveryByteUpToTheLargestSize) {
  constexpr auto kMaxSize = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_size("9007199254740993", "-b"), 9007199254740993U);  // 2^53 + 1: not a double
  EXPECT_EQ(parse_size("9223372036854775807", "-b"), kMaxSize);
  EXPECT_THAT(error_of_size("9223372036854775808"), HasSubstr("too large"));
  EXPECT_THAT(error_of_size("8388608T"), HasSubstr("too large"));
  EXPECT_THAT(error_of_size(std::string(6000, '9')), HasSubstr("too large"));
}

TEST(ParseSize, SaysWhatIsWrongAndWhatToWrite) {
  EXPECT_THAT(error_of_size("12Q"), HasSubstr("-b: size '12Q' has an unknown unit 'Q'; write bytes or"));
  EXPECT_THAT(error_of_size("-5"), HasSubstr("is negative"));
  EXPECT_THAT(error_of_size(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of_size("K"), HasSubstr("is not a number"));
  EXPECT_THAT(error_of_size("."), HasSubstr("is not a number"));
  EXPECT_THAT(error_of_size("1.2.3"), HasSubstr("is not a number"));
  EXPECT_THAT(error_of_size("nan"), HasSubstr("is not a number"));
  EXPECT_THAT(error_of_size("0x10"), HasSubstr("unknown unit 'x10'"));
  EXPECT_THAT(error_of_size("1e3"), HasSubstr("unknown unit 'e3'"));
  EXPECT_THAT(error_of_size("8 "), HasSubstr("unknown unit ' '"));
  EXPECT_THAT(error_of_size("0.3"), HasSubstr("is not a whole number of bytes"));
  EXPECT_THAT(error_of_size("1.1K"), HasSubstr("is not a whole number of bytes"));
}

TEST(ParseSizeList, KeepsTheOrderGiven) {
  EXPECT_THAT(parse_size_list("1MB,100MB,1K", "--sizes"), ElementsAre(1'000'000U, 100'000'000U, 1024U));
  EXPECT_THAT(parse_size_list("8", "--sizes"), ElementsAre(8U));
}

TEST(ParseSizeList, RefusesAnEmptyText) {
  EXPECT_THROW((void)parse_size_list("", "--sizes"), Error);
  EXPECT_THROW((void)parse_size_list("1K,", "--sizes"), Error);
  EXPECT_THROW((void)parse_size_list("1K,,2K", "--sizes"), Error);
  EXPECT_THROW((void)parse_size_list("0", "--sizes"), Error);
  EXPECT_THROW((void)parse_size_list("1K,0", "--sizes"), Error);
}

TEST(FormatBytes, HasNoExponentAtAnySize) {
  for (const std::uint64_t unit : {kKiB, kMiB, kGiB, 1024 * kGiB}) {
    for (std::uint64_t thousandths = 998'000; thousandths <= 1'024'000; thousandths += 50) {
      const std::string text = format_bytes(unit / 1000 * thousandths / 1000 + unit % 1000);
      EXPECT_EQ(text.find('e'), std::string::npos) << text;
    }
  }
  EXPECT_EQ(format_bytes(1'023'590), "1000 KiB");  // 999.6 KiB
  EXPECT_EQ(format_bytes(1'023'480), "999 KiB");
}

TEST(FormatBytes, UsesBinaryUnits) {
  const std::array<std::pair<std::uint64_t, std::string>, 9> cases{{{0, "0 B"},
                                                                    {1023, "1023 B"},
                                                                    {kKiB, "1 KiB"},
                                                                    {kKiB + kKiB / 2, "1.5 KiB"},
                                                                    {1'000'000, "977 KiB"},
                                                                    {kMiB - 1, "1024 KiB"},
                                                                    {1020 * kKiB, "1020 KiB"},
                                                                    {64 * kMiB, "64 MiB"},
                                                                    {2048 * kGiB, "2 TiB"}}};
  for (const auto& [bytes, text] : cases) EXPECT_EQ(format_bytes(bytes), text) << bytes;
}

TEST(FormatSeconds, ChoosesTheUnitThatPeopleRead) {
  const std::array<std::pair<double, std::string>, 12> cases{{{0, "0 µs"},
                                                              {0.65e-6, "0.65 µs"},
                                                              {12.34e-6, "12.3 µs"},
                                                              {999.9e-6, "1 ms"},
                                                              {12.3e-3, "12.3 ms"},
                                                              {0.9999, "1 s"},
                                                              {59.4, "59.4 s"},
                                                              {59.99, "1 min 0 s"},
                                                              {80, "1 min 20 s"},
                                                              {3599.4, "59 min 59 s"},
                                                              {3599.6, "1 h 0 min"},
                                                              {7380, "2 h 3 min"}}};
  for (const auto& [seconds, text] : cases) EXPECT_EQ(format_seconds(seconds), text) << seconds;
}

TEST(FormatSeconds, IsADashForWhatIsNoLengthOfTime) {
  for (const double seconds : {-1.0, 1e300, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(format_seconds(seconds), "–") << seconds;
  }
}

TEST(FormatSignificant, KeepsDigitsAndWidth) {
  EXPECT_EQ(format_significant(0.01234, 3, 8), "0.0123");
  EXPECT_EQ(format_significant(46.72, 3, 8), "46.7");
  EXPECT_EQ(format_significant(12646.3, 3, 8), "12646");
  EXPECT_EQ(format_significant(-1.5, 3, 8), "-1.50");
  EXPECT_EQ(format_significant(0, 3, 8), "0");
}

TEST(FormatSignificant, FallsBackToAnExponentWhereItWouldNotFit) {
  EXPECT_EQ(format_significant(1.2346e10, 3, 8), "1.23e+10");
  EXPECT_EQ(format_significant(1.2346e-9, 3, 8), "1.23e-09");
}

TEST(FormatSignificant, ShowsADashWhereThereIsNoNumber) {
  EXPECT_EQ(format_significant(std::numeric_limits<double>::quiet_NaN(), 3, 8), "–");
  EXPECT_EQ(format_significant(std::numeric_limits<double>::infinity(), 3, 8), "–");
}

TEST(FormatRate, IsInGigabytesPerSecond) {
  EXPECT_EQ(format_rate(119.2e6), "0.119 GB/s");
  EXPECT_EQ(format_rate(12.5e9), "12.5 GB/s");
}

TEST(Units, CountsInWords) {
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(2048, "rank"), "2048 ranks");
}

TEST(NumberRanges, FromThreeOn) {
  EXPECT_EQ(number_ranges({}), "");
  EXPECT_EQ(number_ranges({7}), "7");
  EXPECT_EQ(number_ranges({7, 8}), "7, 8");
  EXPECT_EQ(number_ranges({0, 1, 2, 5, 7, 8}), "0-2, 5, 7, 8");
}

}  // namespace
}  // namespace collbench::units_test
