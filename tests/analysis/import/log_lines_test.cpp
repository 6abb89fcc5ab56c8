#include "analysis/import/import_log.hpp"
#include "analysis/import/log_readers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "tests/analysis/import/read_text.hpp"

namespace collbench::analysis::log_lines_test {
namespace {

LogLine only(std::string_view text) { return log_lines(text).at(0); }

TEST(LogLines, NcclsOwnLinesAreTakenApart) {
  const LogLine line = only("node7:12:34 [3] NCCL INFO Using network IB\n");
  EXPECT_EQ(line.text, "");
  EXPECT_EQ(line.nccl, "Using network IB");
  EXPECT_EQ(line.nccl_host, "node7");
}

TEST(LogLines, ALineInTheMiddleOfARowLeavesTheRow) {
  const LogLine start = only("  8  2  float  sum  -1node7:12:34 [0] NCCL INFO AllReduce: opCount 0\n");
  EXPECT_EQ(start.text, "  8  2  float  sum  -1");
  EXPECT_EQ(start.nccl_host, "node7");
  const LogLine rest = only("  83.33  100.66  100.66      0node7:12:34 [0] NCCL INFO AllReduce: opCount 0\n");
  EXPECT_EQ(rest.text, "  83.33  100.66  100.66      0");
}

TEST(LogLines, AHostThatBeginsWithADigitIsNoNumber) {
  EXPECT_EQ(only("4node:12:34 [0] NCCL INFO x\n").nccl_host, "4node");
}

TEST(LogLines, TagsOfMpirunGoFromAnywhere) {
  EXPECT_EQ(only("[1,0]<stdout>:  8 2 float sum -1[1,0]<stdout>: 20.00\n").text, "  8 2 float sum -1 20.00");
  EXPECT_EQ(only("[a]<stdout>: x\n").text, "[a]<stdout>: x");
}

TEST(LogLines, NumbersKnowTheirDigits) {
  EXPECT_EQ(leading_log_number("12.50node")->decimals, 2);
  EXPECT_EQ(leading_log_number("12.50node")->length, 5U);
  EXPECT_EQ(leading_log_number("2e-07")->value, 2e-07);
  EXPECT_FALSE(leading_log_number("N/A"));
  EXPECT_FALSE(leading_log_number("inf"));
}

/// The lines that a log is read by.
std::vector<LogLine> kept(const std::string& text) {
  bool given = false;
  LogLineReader reader(
      [&] { return std::exchange(given, true) ? std::string_view() : std::string_view(text); });
  std::vector<LogLine> lines;
  while (const LogLine* const line = reader.next()) lines.push_back(*line);
  return lines;
}

TEST(LogLines, WhatIsLeftOutIsNothingThatAReaderOfLinesTakes) {
  const std::vector<std::string> words{"8",
                                       "1024",
                                       "float",
                                       "half",
                                       "fp8_e4m3",
                                       "bf16",
                                       "double",
                                       "sum",
                                       "-1",
                                       "12.5",
                                       "N/A",
                                       "XXX",
                                       "...",
                                       "…",
                                       "#",
                                       "Rank",
                                       "Pid",
                                       "on",
                                       "node7",
                                       "device",
                                       "[0000:17]",
                                       "size",
                                       "count",
                                       "type",
                                       "redop",
                                       "time",
                                       "all_reduce_perf",
                                       "nThread",
                                       "nGpus",
                                       "iters:",
                                       "loss",
                                       "step",
                                       "epoch",
                                       "int8",
                                       "|",
                                       "Out of bounds values",
                                       ":",
                                       "nccl-tests",
                                       "version",
                                       "NCCL version 2.23.4",
                                       "node7:12:34 [0] NCCL INFO x"};
  std::mt19937 random(1);
  int left_out = 0;
  for (int line = 0; line < 20'000; ++line) {
    std::string text;
    for (unsigned n = 1 + random() % 8; n > 0; --n)
      text += words[random() % words.size()] + (random() % 4 != 0 ? " " : "\t");
    if (!kept(text).empty()) continue;
    ++left_out;
    EXPECT_FALSE(row_start(text, 1)) << text;
    EXPECT_TRUE(row_continuation(text).empty()) << text;
    EXPECT_FALSE(nccl_tests_columns(text)) << text;
    EXPECT_FALSE(nccl_tests_device(text, 1)) << text;
    EXPECT_FALSE(nccl_tests_parameters(text)) << text;
    EXPECT_EQ(nccl_tests_program(text), "") << text;
    EXPECT_EQ(nccl_version_in(text), "") << text;
    EXPECT_EQ(text.find("Out of bounds"), std::string::npos) << text;
  }
  EXPECT_GT(left_out, 100);
}

TEST(LogLines, ACommandThatGoesOnIsOneLine) {
  const std::vector<LogLine> lines = log_lines(
      "mpirun -np 16 \\\n  -x NCCL_IB_DISABLE=1 \\ \n ./all_reduce_perf -g 1\n 8 2 float sum -1 \\\nend\n");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].text, "mpirun -np 16   -x NCCL_IB_DISABLE=1  ./all_reduce_perf -g 1");
  EXPECT_EQ(lines[0].number, 3);
  EXPECT_EQ(lines[1].number, 4);
}

TEST(LogLines, RowsAndCommentsThatEndInABackslashAreLinesOfTheirOwn) {
  for (const char* text :
       {"| 1048576 2 float sum -1 \\\n| 2097152 2 float sum -1 \\\n", "# a \\\n 8 2 float sum -1\n",
        "prose \\\nmore\n", "mpirun -np 2 \\\n# Using devices\n 8 2 float\n"}) {
    const std::vector<LogLine> lines = log_lines(text);
    EXPECT_EQ(lines.size(), 2U) << text;
    EXPECT_EQ(lines[0].text.find("mpirun"), std::string::npos)
        << "the command was cut, and the line is a comment";
  }
}

TEST(LogLines, PartsOfAnyLengthAreTheSameLines) {
  const std::string text = "8 2 float\nchatter\r\n\n\x1b[1m16 4 float\x1b[0m\r\n...\nNCCL version 2.4";
  const std::vector<LogLine> whole = kept(text);
  ASSERT_EQ(whole.size(), 4U);
  for (std::size_t length = 1; length <= text.size(); ++length) {
    std::size_t at = 0;
    std::string part;
    LogLineReader reader([&]() -> std::string_view {
      part = text.substr(std::min(at, text.size()), length);  // the part before is gone
      at += length;
      return part;
    });
    for (const LogLine& line : whole) {
      const LogLine* const read = reader.next();
      ASSERT_NE(read, nullptr);
      EXPECT_EQ(read->text, line.text);
      EXPECT_EQ(read->number, line.number);
    }
    EXPECT_EQ(reader.next(), nullptr);
    EXPECT_EQ(reader.lines(), 6);
  }
}

TEST(LogLines, ALineWithoutAnEndTakesNoMemory) {
  const std::string bar(1 << 16, '=');  // a progress bar of 64 MiB in one line, then a log
  const std::string log = "\n  8  2  float\n";
  int given = 0;
  const TextParts parts = [&]() -> std::string_view {
    ++given;
    return given <= 1024 ? std::string_view(bar) : given == 1025 ? std::string_view(log) : std::string_view();
  };
  LogLineReader reader(parts, true);
  EXPECT_EQ(reader.next()->text.size(), kMaxLogLineBytes);
  EXPECT_EQ(reader.next()->text, "  8  2  float");
  EXPECT_EQ(reader.next(), nullptr);
}

TEST(LogLines, AnEndlessDeviceEndsAtItsFirstPart) {
  const std::string zeros(1 << 16, '\0');
  int given = 0;
  const TextParts parts = [&]() -> std::string_view {
    ++given;
    return zeros;
  };
  EXPECT_THROW((void)import_log(parts, "a.log", {}), Error);
  EXPECT_LT(given, 3);
}

TEST(LogLines, ZerosThatACrashLeftAreLeftOutAndSaid) {
  const std::string text =
      "# nThread 1\n" + std::string(5000, '\0') + "  8  2  float\n" + std::string(3, '\0');
  bool given = false;
  LogLineReader reader(
      [&] { return std::exchange(given, true) ? std::string_view() : std::string_view(text); });
  EXPECT_EQ(reader.next()->text, "# nThread 1");
  EXPECT_EQ(reader.zeros_note(), "");
  EXPECT_EQ(reader.next()->text, "  8  2  float");
  EXPECT_EQ(reader.next(), nullptr);
  EXPECT_THAT(reader.zeros_note(),
              testing::StartsWith("zero bytes in 2 lines, the first on line 2, were left out"));
}

}  // namespace
}  // namespace collbench::analysis::log_lines_test
