#include "base/text_sinks.hpp"

#include <gtest/gtest.h>

#include <boost/locale/utf.hpp>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace collbench::text_sinks_test {
namespace {

std::string utf8(char32_t code_point) {
  std::string bytes;
  boost::locale::utf::utf_traits<char>::encode(code_point, std::back_inserter(bytes));
  return bytes;
}

/// Every one that UTF-8 can hold; of planes that have letters of one class only, the first and the last ones.
template <class Check>
void for_each_code_point(const Check& check) {
  const auto is_like_its_neighbors = [](char32_t each) {
    const bool is_ideograph_or_private = (each >= 0x20000 && each < 0xE0000) || each > 0xE1000;
    return is_ideograph_or_private && (each & 0xFFFFU) > 0x10 && (each & 0xFFFFU) < 0xFFF0;
  };
  for (char32_t each = 0; each <= 0x10FFFF; ++each) {
    if ((each < 0xD800 || each > 0xDFFF) && !is_like_its_neighbors(each)) check(each);
  }
}

/// Whether this is shown, by other means than a table of the same ranges: one of each class that attacks have
/// used.
const std::vector<std::string> kDangerous{
    "\x1b[2J",    "\x07",         "\x7f",
    "\r",         "\b",           "\302\23331m",
    "\xc2\x85",  // ESC, BEL, DEL, CR, BS, CSI and NEL of C1
    "\u202e",    // NOLINT(misc-misleading-bidirectional)
    "\u2066",    // NOLINT(misc-misleading-bidirectional)
    "\u2069",     "\u200f",
    "\u061c",  // bidi: override, isolates, marks
    "\u2028",     "\u2029",       "\u200b",
    "\u2060",     "\ufeff",
    "\u00ad",  // separators, nothing at all
    "\U000e0041", "\ufe0f",       "\ufff9",
    "\ufffe",
    "\U0010ffff",  // tags, selectors, annotation, no characters
    "\xff",       "\xc3",         "\xe2\x82",
    "\xc0\xaf",   "\xed\xa0\x80", "\xf5\x80\x80\x80"};  // no UTF-8: cut, overlong, surrogate, too large

using Sink = std::string (*)(std::string_view);
const std::vector<Sink> kSinks{one_line,      page_text, terminal_text, csv_cell,
                               markdown_text, xml_text,  dot_text,      roff_text};

TEST(TextSinks, NoneLetsThroughWhatIsHidden) {
  for (const Sink sink : kSinks) {
    for (const std::string& text : kDangerous) {
      const std::string shown = sink("a" + text + "b");
      EXPECT_EQ(shown.find(text), std::string::npos) << shown;
      EXPECT_TRUE(shown.starts_with("a")) << shown;
      EXPECT_NE(shown.find('b'), std::string::npos) << "what follows is not swallowed: " << shown;
      EXPECT_EQ(sink(shown).find('\x1b'), std::string::npos);
    }
  }
}

TEST(TextSinks, EveryCodePointIsShownOrHiddenInAll) {
  std::size_t hidden = 0;
  for_each_code_point([&](char32_t each) {
    const std::string bytes = utf8(each);
    const std::string shown = one_line(bytes);
    if (!is_hidden(each)) {
      EXPECT_EQ(shown, bytes) << static_cast<unsigned>(each);
    } else {
      ++hidden;
      EXPECT_EQ(shown, each < 0x20 || each == 0x7F ? " " : "\uFFFD") << static_cast<unsigned>(each);
    }
  });
  // Controls 65, Default_Ignorable_Code_Point 4174, separators 2, annotations 3, no characters 66.
  EXPECT_EQ(hidden, 65U + 4174U + 2U + 3U + 66U);
}

TEST(TextSinks, LettersOfAllScriptsStay) {
  const std::string text = "Üñï ±95 % µ – … 主机 узел מארח مضيف 🚀";
  EXPECT_EQ(one_line(text), text);
  EXPECT_EQ(terminal_text(text), text);
}

TEST(OneLine, HasNoLineEnds) {
  EXPECT_EQ(one_line("a\nb\x1b[31m\tc\x7f"), "a b [31m c ");
  EXPECT_EQ(one_line("µ–"), "µ–");
}

TEST(PageText, KeepsItsLines) { EXPECT_EQ(page_text("a\n\tb\x1b[31m\r\n"), "a\n\tb [31m \n"); }

TEST(TerminalText, KeepsOurColorsOnly) {
  EXPECT_EQ(terminal_text("\x1b[33ma\x1b[0m\n"), "\x1b[33ma\x1b[0m\n");
  EXPECT_EQ(terminal_text("\x1b[3J\x1b]0;title\x07"), " [3J ]0;title ");
}

TEST(CsvCell, IsQuotedAsRfc4180Wants) {
  EXPECT_EQ(csv_cell("plain"), "plain");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(csv_cell("a\r\nb"), "a  b");
}

TEST(CsvCell, NothingIsAFormula) {
  for (const char* const text :
       {"=cmd()", "+1+cmd()", "-2+3", "@SUM(A1)", " =cmd()", "\t=cmd()", "\r=cmd()", "＝cmd()"})
    EXPECT_TRUE(csv_cell(text).starts_with("'")) << text;
  EXPECT_EQ(csv_cell("=a,\"b\""), "\"'=a,\"\"b\"\"\"");
  for (const char* const number : {"-1", "-1.5e-06", "0", "-inf"}) EXPECT_EQ(csv_cell(number), number);
}

TEST(MarkdownText, NothingIsMarkup) {
  EXPECT_EQ(markdown_text("a_b|c*<d>\n[e]"), "a\\_b\\|c\\*\\<d\\> \\[e\\]");
  EXPECT_EQ(markdown_text("2(p − 1)/p"), "2(p − 1)/p");
  EXPECT_EQ(markdown_text("&lt; & A&B &#60;"), "\\&lt; & A\\&B \\&#60;");
  EXPECT_EQ(markdown_text("https://a.b www.a.b a@b $x$"), "https\\://a.b www\\.a.b a\\@b \\$x\\$");
}

TEST(MarkdownText, NothingIsAHeadingOrAList) {
  EXPECT_EQ(markdown_text("# a"), "\\# a");
  EXPECT_EQ(markdown_text("- a"), "\\- a");
  EXPECT_EQ(markdown_text("---"), "\\---");
  EXPECT_EQ(markdown_text("+ a"), "\\+ a");
  EXPECT_EQ(markdown_text("12. a"), "12\\. a");
  EXPECT_EQ(markdown_text("1) a"), "1\\) a");
  EXPECT_EQ(markdown_text("-1.5 1.5 #wrong"), "-1.5 1.5 #wrong");
}

TEST(XmlText, NothingIsMarkup) {
  EXPECT_EQ(xml_text("<a b='c' d=\"e\">&"), "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;");
}

TEST(RoffText, NoRequestAndNoDashOfPrinters) {
  EXPECT_EQ(roff_text(".so /etc/passwd"), "\\&.so /etc/passwd");
  EXPECT_EQ(roff_text("'--time' \\n"), "\\(aq\\-\\-time\\(aq \\(rsn");
  EXPECT_EQ(roff_text("± 5 …\n"), "\\[u00B1] 5 \\[u2026] ");
}

TEST(DotText, NothingEndsTheString) { EXPECT_EQ(dot_text("a\"b\\N\n"), "a\\\"b\\\\N "); }

TEST(JsonText, MeansTheSame) {
  for_each_code_point([](char32_t each) {
    if (!is_hidden(each)) return;
    const nlohmann::json json = {{"a", utf8(each)}};
    const std::string shown = json_text(json.dump());
    EXPECT_EQ(nlohmann::json::parse(shown), json) << static_cast<unsigned>(each);
    EXPECT_EQ(shown, page_text(shown));
  });
  EXPECT_EQ(json_text("{\"µ\": \"\xff\"}"), "{\"µ\": \"\uFFFD\"}");
}

/// That a shell reads it back: tests/src/shell_test.py.
TEST(ShellWord, IsQuotedWhereAShellWouldReadMore) {
  EXPECT_EQ(shell_word("--sizes=1M,1G"), "--sizes=1M,1G");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("$(reboot)"), "'$(reboot)'");
  EXPECT_EQ(shell_word("rail's"), "'rail'\\''s'");
}

TEST(IsHostName, NothingThatAShellOrSlurmReadsOtherwise) {
  for (const char* const name : {"node1", "gpu-01.rack_2.example", "10.0.0.1"})
    EXPECT_TRUE(is_host_name(name)) << name;
  for (const char* const name :
       {"", "-x", ".", "a b", "a,b", "n[1-9]", "a\nb", "a;b", "$(a)", "узел", "ALL", "all"})
    EXPECT_FALSE(is_host_name(name)) << name;
}

}  // namespace
}  // namespace collbench::text_sinks_test
