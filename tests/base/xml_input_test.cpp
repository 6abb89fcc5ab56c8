#include "base/xml_input.hpp"

#include <gmock/gmock.h>

#include "base/text_input.hpp"
#include "tests/topology/refusal.hpp"

namespace collbench::xml_input_test {
namespace {

using testing::HasSubstr;

std::string refused(const std::string& text) {
  return topology::refusal([&] { const XmlInput xml(text, "X.xml", "system", "an NCCL topology XML"); });
}

TEST(XmlInput, RefusesEntityBombs) {
  EXPECT_THAT(refused("<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [\n<!ENTITY lol \"lol\">\n"
                      "<!ENTITY lol2 \"&lol;&lol;\">\n]>\n<system>&lol2;</system>"),
              HasSubstr("X.xml:3: the file declares XML entities"));
}

TEST(XmlInput, RefusesMoreThan200NestedElements) {
  const auto nested = [](int levels) {
    std::string text = "<system>";
    for (int i = 0; i < levels; ++i) text += "<a>";
    for (int i = 0; i < levels; ++i) text += "</a>";
    return text + "</system>";
  };
  EXPECT_EQ(refused(nested(200)), "(accepted)");
  for (const int levels : {201, 1'000'000})
    EXPECT_THAT(refused(nested(levels)), HasSubstr("X.xml:1: elements nest deeper than 200"));
}

TEST(XmlInput, RefusesWhatIsTooLargeBeforeLooking) {
  EXPECT_THAT(refused("<system>" + std::string(kMaxInputBytes, 'a')),
              HasSubstr("the file has 16777224 bytes"));
}

TEST(XmlInput, RefusesOtherEncodings) {
  EXPECT_THAT(refused(std::string("\xFF\xFE<\0s\0", 6)),
              HasSubstr("the file is UTF-16; expected an NCCL topology XML"));
  EXPECT_THAT(refused("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><system/>"),
              HasSubstr("the encoding is iso-8859-1, not UTF-8"));
  EXPECT_THAT(refused("<system>\n\xE9</system>"), HasSubstr("X.xml:2: byte 0xe9 is not UTF-8"));
}

TEST(XmlInput, RefusesBinaryEmptyAndBroken) {
  EXPECT_THAT(refused(std::string("\x7f"
                                  "ELF\x02\x01",
                                  6)),
              HasSubstr("X.xml:1: byte 0x02 does not occur in text files"));
  EXPECT_THAT(refused(" \n"), HasSubstr("X.xml: the file is empty"));
  EXPECT_THAT(refused("<system>\n<cpu>\n"), HasSubstr("this is not XML"));
  EXPECT_THAT(refused("<topology/>"),
              HasSubstr("X.xml:1: the outermost element is <topology>, not <system>"));
}

TEST(XmlInput, KnowsTheLineOfANode) {
  const XmlInput xml("<system>\n <cpu a=\"7\" b=\"x\" n=\"1.5\"/></system>", "X.xml", "system",
                     "an NCCL topology XML");
  const pugi::xml_node cpu = xml.root().child("cpu");
  EXPECT_EQ("X.xml:2", xml.where(cpu));
  EXPECT_EQ(7, xml.integer(cpu, "a", 0, 9));
  EXPECT_FALSE(xml.integer(cpu, "c", 0, 9).has_value());
  EXPECT_EQ(1.5, xml.number(cpu, "n"));
  EXPECT_FALSE(xml.number(cpu, "c").has_value());
  EXPECT_THAT(topology::refusal([&] { (void)xml.number(cpu, "b"); }),
              HasSubstr("X.xml:2: <cpu>: b=\"x\" is not a number"));
  EXPECT_THAT(topology::refusal([&] { (void)xml.integer(cpu, "b", 0, 9); }),
              HasSubstr("X.xml:2: <cpu>: b=\"x\" is not a number from 0 to 9"));
}

}  // namespace
}  // namespace collbench::xml_input_test
