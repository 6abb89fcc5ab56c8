#include "src/cli/options.hpp"

#include <gtest/gtest.h>

namespace collbench::program::options_test {
namespace {

template <typename Number>
std::string refusal(const std::string& text, Number minimum, Number maximum, const char* unit = "") {
  try {
    static_cast<void>(parse_number(text, "--option", minimum, maximum, unit));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return describe(error);
  }
  return "taken";
}

TEST(ParseNumber, TakesBothEndsOfItsRange) {
  EXPECT_EQ(parse_number("1", "-n", 1, 8), 1);
  EXPECT_EQ(parse_number("8", "-n", 1, 8), 8);
  EXPECT_EQ(parse_number("2.5e-1", "--time", 0.1, 1e7), 0.25);
}

TEST(ParseNumber, DistinguishesWhatIsNotANumberFromWhatIsOutOfRange) {
  EXPECT_EQ(refusal("0", 0.1, 1e7, "seconds"),
            "collbench: --option: 0 is out of range; 0.1 to 10000000 seconds");
  EXPECT_EQ(refusal("9", 1, 8), "collbench: --option: 9 is out of range; 1 to 8");
  EXPECT_EQ(refusal<std::uint64_t>("-1", 1, 8), "collbench: --option: -1 is out of range; 1 to 8");
  EXPECT_EQ(refusal("99999999999999999999", 1, 8),
            "collbench: --option: 99999999999999999999 is out of range; 1 to 8");
  EXPECT_EQ(refusal("1e999", 0.1, 8.0), "collbench: --option: 1e999 is out of range; 0.1 to 8");
  EXPECT_EQ(refusal("x", 1, 8), "collbench: --option: 'x' is not a number; 1 to 8");
  EXPECT_EQ(refusal("3x", 1, 8), "collbench: --option: '3x' is not a number; 1 to 8");
  EXPECT_EQ(refusal("", 1, 8), "collbench: --option: '' is not a number; 1 to 8");
  EXPECT_EQ(refusal("nan", 0.0, 8.0), "collbench: --option: 'nan' is not a number; 0 to 8");
  EXPECT_EQ(refusal("1.5", 1, 8), "collbench: --option: 1.5 is not a whole number; 1 to 8");
}

TEST(ParseName, NamesWhatThereIsToChooseFrom) {
  EXPECT_EQ(parse_name("md", "--format", {"text", "md"}), "md");
  try {
    static_cast<void>(parse_name("html", "--format", {"text", "md", "csv"}));
    FAIL() << "there is no html";
  } catch (const Error& error) {
    EXPECT_EQ(describe(error), "collbench: --format: 'html' is unknown; choose text, md or csv");
  }
}

}  // namespace
}  // namespace collbench::program::options_test
