#include "base/document/chart.hpp"

#include <gtest/gtest.h>

#include <pugixml.hpp>
#include <string>

namespace collbench {
namespace {

Chart chart_of_two_points(const std::string& title) {
  return {.id = "c",
          .title = title,
          .x = {"size", AxisUnit::bytes, true},
          .y = {"busbw (GB/s)", AxisUnit::gigabytes, false},
          .series = {{"measured <b>", SeriesKind::measured, {{8, 10, 5.0, 15.0, ""}, {1024, 20, {}, {}, ""}}},
                     {"ring", SeriesKind::ring, {{8, 15, {}, {}, ""}, {1024, 15, {}, {}, ""}}}},
          .bands = {{"band", {{8, 5, 15}, {1024, 10, 20}}}}};
}

/// The last one of that class: the first may be the legend's.
std::string path_of(const pugi::xml_node& page, const std::string& style) {
  std::string way;
  for (const pugi::xml_node& path : page.children("path")) {
    if (path.attribute("class").value() == style) way = path.attribute("d").value();
  }
  return way;
}

TEST(SvgChart, PointsLieWhereTheAxesSay) {
  pugi::xml_document svg;
  ASSERT_TRUE(svg.load_string(svg_chart(chart_of_two_points("t")).c_str()));
  const pugi::xml_node page = svg.child("svg");
  EXPECT_STREQ(page.attribute("width").value(), "760");
  // From 8 B to 1 KiB over the plot, from 0 to 20 GB/s: the second point is its upper right corner.
  EXPECT_EQ(path_of(page, "line c0"), "M78 214L740 64");
  EXPECT_EQ(path_of(page, "bar c0"), "M74 139H82M78 139V289M74 289H82");
  EXPECT_EQ(path_of(page, "line dot3 c6"), "M78 139L740 139");
  EXPECT_EQ(path_of(page, "band"), "M78 139L740 64L740 214L78 289Z");
  EXPECT_STREQ(page.find_child_by_attribute("path", "class", "point c0").child_value("title"),
               "measured <b>, 8 B: 10.0 GB/s");
}

TEST(SvgChart, ALongLegendMakesThePictureHigherAndLeavesThePlotAsItIs) {
  Chart chart = chart_of_two_points("t");
  for (int i = 0; i < 21; ++i)
    chart.series.push_back({"expected (float sum, out of place, algorithm" + std::to_string(i) + ")",
                            SeriesKind::expected,
                            {{8, 10, {}, {}, ""}, {1024, 20, {}, {}, ""}}});
  pugi::xml_document svg;
  ASSERT_TRUE(svg.load_string(svg_chart(chart).c_str()));
  const pugi::xml_node page = svg.child("svg");
  // 24 entries, two to a line: 22 lines of the legend more would be too many, one each is the most.
  const int more = page.attribute("height").as_int() - 420;
  EXPECT_GE(more, 18 * 7);
  EXPECT_LE(more, 18 * 23);
  EXPECT_EQ(path_of(page, "line dot3 c6"),
            "M78 " + std::to_string(139 + more) + "L740 " + std::to_string(139 + more));
  EXPECT_EQ(page.child("rect").attribute("height").as_int(), 420 + more);
}

TEST(SvgChart, TextFromOutsideIsEscaped) {
  const std::string svg = svg_chart(chart_of_two_points("</title><script>alert(1)</script>"));
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
}

TEST(SvgChart, ForPixelsItHasOneSetOfColors) {
  EXPECT_NE(svg_chart(chart_of_two_points("t")).find("prefers-color-scheme"), std::string::npos);
  EXPECT_EQ(svg_chart(chart_of_two_points("t"), true).find("prefers-color-scheme"), std::string::npos);
}

}  // namespace
}  // namespace collbench
