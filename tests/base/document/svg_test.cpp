#include "base/document/svg.hpp"

#include <gtest/gtest.h>

namespace collbench {
namespace {

TEST(Svg, TextFromOutsideIsEscaped) {
  pugi::xml_document document;
  const pugi::xml_node svg = begin_svg(document, "<script>\x01");
  draw_text(svg, "", 1, 2, "a & b\n</text><script>");
  set_tooltip(draw_shape(svg, "rect", "\"x", 0, 0), "<b>");
  const std::string text = finish_svg(document, 10, 20);
  EXPECT_EQ(text.find("<script>"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x01'), std::string::npos);
  EXPECT_NE(text.find("<text x=\"1\" y=\"2\">a &amp; b &lt;/text&gt;&lt;script&gt;</text>"),
            std::string::npos)
      << text;
  pugi::xml_document again;
  ASSERT_TRUE(again.load_string(text.c_str()));
  EXPECT_STREQ(again.child("svg").child("rect").child_value("title"), "<b>");
  EXPECT_STREQ(again.child("svg").attribute("viewBox").value(), "0 0 10 20");
}

TEST(Svg, PixelsHaveNoExponent) {
  EXPECT_EQ(pixels(12), "12");
  EXPECT_EQ(pixels(12.26), "12.5");
  EXPECT_EQ(pixels(123456.7), "123456.5");
}

TEST(Svg, EachLaneHasAColorInLightAndInDark) {
  pugi::xml_document document;
  const std::string style = begin_svg(document, "t").child_value("style");
  const std::size_t dark = style.find("prefers-color-scheme:dark");
  ASSERT_NE(dark, std::string::npos);
  for (std::size_t i = 0; i < kLaneColors; ++i) {
    const std::string lane = ".c" + std::to_string(i) + "{stroke:#";
    EXPECT_LT(style.find(lane), dark);
    EXPECT_NE(style.find(lane, dark), std::string::npos);
  }
}

}  // namespace
}  // namespace collbench
