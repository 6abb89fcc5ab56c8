#include "analysis/charts/png_chart.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

#include "base/error.hpp"

namespace collbench::analysis::png_chart_test {
namespace {

/// Width and height stand big-endian at bytes 16 and 20 (PNG specification, third edition, 11.2.1).
unsigned number_at(const std::string& png, std::size_t at) {
  unsigned number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8U | static_cast<unsigned char>(png.at(at + i));
  return number;
}

TEST(PngChart, IsTwiceTheSvg) {
  try {
    require_png();
  } catch (const Error&) {
    GTEST_SKIP() << "rsvg-convert is not here (package librsvg2-bin)";
  }
  const std::string png = png_chart({.id = "c",
                                     .title = "t",
                                     .x = {"size", AxisUnit::bytes, true},
                                     .y = {"busbw", AxisUnit::gigabytes, false},
                                     .series = {{"measured", SeriesKind::measured, {{8, 1}, {64, 2}}}}});
  EXPECT_TRUE(png.starts_with("\x89PNG\r\n\x1a\n"));
  EXPECT_EQ(number_at(png, 16), 1520U);
  EXPECT_EQ(number_at(png, 20), 840U);
}

TEST(PngChart, WithoutItsProgramSaysWhatBringsIt) {
  const char* const path = std::getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  ::setenv("PATH", "/nowhere", 1);
  try {
    require_png();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::not_here);
    EXPECT_THAT(describe(error), testing::HasSubstr("install the package librsvg2-bin"));
  }
  ::setenv("PATH", before.c_str(), 1);
}

}  // namespace
}  // namespace collbench::analysis::png_chart_test
