#include "base/text_input.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/topology/refusal.hpp"

namespace collbench::text_input_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refused(std::string_view text) {
  return topology::refusal([text] { require_text(text, "F", "a table"); });
}

TEST(TextInput, RefusesWhatIsNoText) {
  EXPECT_EQ(refused("GPU0 × é\n"), "(accepted)");
  EXPECT_THAT(refused(" \n\t"), AllOf(HasSubstr("F: the file is empty"), HasSubstr("expected a table")));
  EXPECT_THAT(refused("\xFF\xFE"
                      "G"),
              HasSubstr("UTF-16"));
  EXPECT_THAT(refused("a\nb\x01"), HasSubstr("F:2: byte 0x01 does not occur in text files"));
  EXPECT_THAT(refused("a\n\n\xC3("), HasSubstr("F:3: byte 0xc3 is not UTF-8"));
  EXPECT_THAT(refused("\xC3"), HasSubstr("is not UTF-8"));
  EXPECT_THAT(refused("\xE0\x96\xB3"), HasSubstr("is not UTF-8"));  // overlong: JSON would not take it
  EXPECT_THAT(refused("\xED\xA0\x80"), HasSubstr("is not UTF-8"));  // half of a surrogate pair
  EXPECT_EQ(refused(std::string(kMaxInputBytes, 'a')), "(accepted)");
  EXPECT_THAT(refused(std::string(kMaxInputBytes + 1, 'a')), HasSubstr("the file has"));
}

TEST(TextInput, DropsWhatACrashLeavesInALogAndNothingOfABinaryFile) {
  const auto dropped = [](std::string text) {
    const std::size_t count = drop_nuls(text);
    return std::pair(count, text);
  };
  const std::string zeros(4096, '\0');
  EXPECT_EQ(dropped("a\n" + zeros), std::pair(zeros.size(), std::string("a\n")));
  EXPECT_EQ(dropped("a\n" + zeros + "b\n"), std::pair(zeros.size(), std::string("a\nb\n")));
  EXPECT_EQ(dropped("a\nb").first, 0U);
  const std::string utf16("a\0b\0c\0\n\0", 8);
  EXPECT_EQ(dropped(utf16), std::pair(std::size_t{0}, utf16));
  const std::string xz(
      "\xfd"
      "7zXZ\0\n\n",
      8);
  EXPECT_EQ(dropped(xz), std::pair(std::size_t{0}, xz));
}

TEST(TextInput, CleansLines) {
  const std::vector<Line> lines = clean_lines("\x1b[4mGPU0\x1b[0m\r\n\\u001b[1mx\nlast");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].text, "GPU0");
  EXPECT_EQ(lines[1].text, "x");
  EXPECT_EQ(lines[2].text, "last");
  EXPECT_EQ(lines[2].number, 3);
  EXPECT_EQ(clean_lines("\x1b").at(0).text, "");  // cut in the middle of a code
  EXPECT_EQ(clean_lines("\x1b[4").at(0).text, "");
  EXPECT_EQ(clean_lines("\x1b[4\xC8\xA8z").at(0).text, "\xC8\xA8z");  // no half of a character is left
  EXPECT_EQ(clean_lines("a\xC2\xA0"
                        "b\xC2\xA0\xC2\xA0\x1b[0mc")
                .at(0)
                .text,
            "a b  c");
  std::string many;  // each by itself moving what is behind it would take hours
  for (int i = 0; i < 8'000'000; ++i) many += "\xC2\xA0";
  EXPECT_EQ(clean_lines(many).at(0).text, std::string(8'000'000, ' '));
}

TEST(TextInput, TakesLinesOutOfWhatLogDriversMakeOfThem) {
  const std::vector<Line> lines =
      clean_lines(R"({"log":"# size \"x\"\n","stream":"stdout","time":"2026-11-20T01:02:03.1Z"})"
                  "\n"
                  R"({"timestamp":"2026-11-20T01:02:03Z","message":"two"})"
                  "\n"
                  R"({"textPayload":"\u001b[1mthree\r\n"})"
                  "\nfour\xC2\xA0 \xC2\xA0x\n"
                  R"({"log":{"file":"a"},"line":5})"
                  "\n"
                  R"({"log":"cut)");
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0].text, "# size \"x\"");
  EXPECT_EQ(lines[1].text, "two");
  EXPECT_EQ(lines[2].text, "three");
  EXPECT_EQ(lines[3].text, "four   x");
  EXPECT_EQ(lines[4].text, R"({"log":{"file":"a"},"line":5})");  // a record of ours has a log, too
  EXPECT_EQ(lines[5].text, R"({"log":"cut)");
}

TEST(TextInput, KnowsLines) {
  EXPECT_EQ(line_of("a\nb\nc", 0), 1);
  EXPECT_EQ(line_of("a\nb\nc", 4), 3);
  EXPECT_EQ(line_of("a\nb\nc", 999), 3);
  EXPECT_EQ(location("F", 7), "F:7");
}

TEST(TextInput, Splits) {
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim(" "), "");
  EXPECT_EQ(lower("NVLink"), "nvlink");
  EXPECT_THAT(split_words("  a \t b "), ElementsAre("a", "b"));
  EXPECT_THAT(split_cells("a\t\t b\t", '\t'), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split_cells("", ','), ElementsAre(""));
}

TEST(TextInput, ParsesTheWholeOrNothing) {
  EXPECT_EQ(parse_integer("42", 0, 100), 42);
  EXPECT_EQ(parse_integer("-1", -1, 100), -1);
  for (const char* text : {"", "42x", " 42", "101", "-1", "99999999999999999999"})
    EXPECT_FALSE(parse_integer(text, 0, 100)) << text;
  EXPECT_EQ(parse_hex("0x10DE"), 0x10DEU);
  EXPECT_EQ(parse_hex("ff"), 255U);
  for (const char* text : {"", "0x", "g", "10 ", "11112222333344445"}) EXPECT_FALSE(parse_hex(text)) << text;
  EXPECT_EQ(leading_number("26.562 GB/s"), 26.562);
  for (const char* text : {"", "GB", "-1", "inf", "nan", "1e999"}) EXPECT_FALSE(leading_number(text)) << text;
}

TEST(TextInput, ShowsForeignTextSafely) {
  EXPECT_EQ(excerpt(" a\tb\x1b[1m\xC3\xA9 "), "a b[1m");
  EXPECT_EQ(excerpt("abcdef", 3), "abc…");
}

}  // namespace
}  // namespace collbench::text_input_test
