#include "tools/probe/report/probe_report.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "base/document/text_layout.hpp"
#include "tests/analysis/probe/made_probes.hpp"

namespace collbench::analysis::probe_report_test {
namespace {

TEST(ProbeReport, TheTableFitsItsPageAndNamesTheSlowest) {
  ProbeRecord host = made_host("n1");
  host.measurements[0].parts[2].windows = {94e9};
  host.measurements[3].parts[2].windows = {9.4e9};
  for (const int width : {80, 120}) {
    const std::string text = probe_report({host}, "text", width);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width) << line;
    EXPECT_NE(text.find("n1: Processor 7, 4 cores"), std::string::npos) << text;
    EXPECT_NE(text.find("9.40 GB/s (core 2)"), std::string::npos) << text;
    EXPECT_NE(text.find("bad: core 2 of n1: multiply-add FP64 makes 0.940"), std::string::npos) << text;
    EXPECT_NE(text.find("reaches 81 % of what the arithmetic does"), std::string::npos) << text;
  }
}

TEST(ProbeReport, MarkdownHasARowForEachMeasurementOfEachHost) {
  const std::string text = probe_report({made_host("n1"), made_host("n|2")}, "md", 0);
  EXPECT_NE(text.find("| GEMM FP64, n = 1024 | 320 GFLOP/s | 80.0 GFLOP/s |"), std::string::npos) << text;
  EXPECT_NE(text.find("n\\|2"), std::string::npos) << text;
}

TEST(ProbeReport, ARateHasThreeDigits) {
  EXPECT_EQ(probe_rate_text(794.5e12, ProbeUnit::flop), "794 TFLOP/s");
  EXPECT_EQ(probe_rate_text(44.06e9, ProbeUnit::byte), "44.1 GB/s");
}

TEST(ProbeReport, RatesThatOthersDisturbedAreNotComparedWithEachOther) {
  ProbeRecord host = made_host("n1");
  host.measurements[0].parts[0].windows = {100e9, 10e9};
  EXPECT_EQ(probe_remarks(host).size(), 2U);
  host.taken_share = 0.5;
  EXPECT_TRUE(probe_remarks(host).empty());
}

TEST(ProbeReport, WhatFallsWhileItIsMeasuredIsSaid) {
  ProbeRecord gpus = made_gpus("H100", {2e12});
  gpus.measurements[0].parts[0].windows = {2e12, 1.5e12};
  ASSERT_EQ(probe_remarks(gpus).size(), 1U);
  EXPECT_NE(probe_remarks(gpus)[0].find("1 rate is lower at the end than at the beginning, by up to 25 %"),
            std::string::npos);
}

}  // namespace
}  // namespace collbench::analysis::probe_report_test
