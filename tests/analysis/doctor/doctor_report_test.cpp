#include "analysis/doctor/doctor_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

#include "base/files.hpp"
#include "tests/source_folder.hpp"

namespace collbench::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

DoctorPage page_of(const std::string& environment) {
  topology::Evidence evidence;
  topology::add_evidence(evidence, environment, "env.txt", "environment");
  return {"node7", topology::diagnose(evidence), {"left out: x: no such thing"}};
}

TEST(DoctorReport, TextHasTheFindingItsEvidenceAndWhatIsNotKnown) {
  const std::string text = report(page_of("NCCL_IB_DISABLE=1\n"), "text", {.columns = 80});
  EXPECT_THAT(text, HasSubstr("node7: 1 finding, "));
  EXPECT_THAT(text, HasSubstr("slow      setting-costly\n"));
  EXPECT_THAT(text, HasSubstr("seen: NCCL_IB_DISABLE=1: sockets instead of RDMA"));
  EXPECT_THAT(text, HasSubstr("(env.txt:1)"));
  EXPECT_THAT(text, HasSubstr("not known for want of evidence (--format json)\n"));
  EXPECT_THAT(text, HasSubstr("note: left out: x"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(DoctorReport, AHealthyMachineHasNoFinding) {
  const std::string text = report(page_of("NCCL_DEBUG=INFO\n"), "text", {});
  EXPECT_THAT(text, HasSubstr("0 findings, "));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);  // the summary, and the note
  EXPECT_THAT(text, Not(HasSubstr("seen:")));
}

/// "0 findings" alone would read as all clear.
TEST(DoctorReport, WhereNothingWasRecognizedTheFirstLineSaysSo) {
  topology::Evidence evidence;
  topology::add_evidence(evidence, "n1:1:1 [0] NCCL INFO x\n", "a.log", "");
  EXPECT_THAT(doctor_summary(topology::diagnose(evidence)),
              testing::StartsWith("nothing recognized: 0 findings, 0 of "));
  EXPECT_THAT(doctor_summary(page_of("NCCL_DEBUG=INFO\n").diagnosis), testing::StartsWith("0 findings, "));
  topology::add_evidence(evidence, "n1:1:1 [0] NCCL WARN y\n", "a.log", "");
  EXPECT_THAT(doctor_summary(topology::diagnose(evidence)), HasSubstr("1 error line that no check knows"));
}

TEST(DoctorReport, JsonSaysTheSame) {
  const auto json = nlohmann::json::parse(report(page_of("NCCL_IB_DISABLE=1\n"), "json", {}));
  EXPECT_EQ(json.at("findings").at(0).at("code"), "setting-costly");
  EXPECT_EQ(json.at("findings").at(0).at("seen").at(0).at("location"), "env.txt:1");
  EXPECT_EQ(json.at("findings").at(0).at("price"), "not_modeled");
  EXPECT_EQ(json.at("findings").size() + json.at("healthy").size() + json.at("not_known").size(),
            topology::doctor_checks().size());
}

/// A line for each machine, the worst first.
TEST(DoctorReport, AFleetIsALineAMachine) {
  DoctorPage well = page_of("NCCL_DEBUG=INFO\n");
  well.machine = "node8";
  const std::vector<DoctorPage> fleet{well, page_of("NCCL_IB_DISABLE=1\n")};
  const std::string text = fleet_report(fleet, std::nullopt, {}, "text", {.columns = 200});
  EXPECT_EQ(
      text.find(
          "2 machines: 0 with something broken, 1 slow, 0 at risk, 1 without a finding\nnode7: 1 finding, "),
      0U)
      << text;
  EXPECT_THAT(text, HasSubstr(" not known: setting-costly\nnode8: 0 findings, "));
  EXPECT_THAT(text, HasSubstr("\nslow      setting-costly\n"));
  const auto json = nlohmann::json::parse(fleet_report(fleet, std::nullopt, {}, "json", {}));
  EXPECT_EQ(json.at("machines").at(0).at("machine"), "node8");
  EXPECT_EQ(json.at("machines").at(1).at("findings").at(0).at("code"), "setting-costly");
  EXPECT_THAT(fleet_report(fleet, std::nullopt, {}, "md", {}), HasSubstr("- node7: 1 finding"));
  EXPECT_THROW(static_cast<void>(fleet_report(fleet, std::nullopt, {}, "csv", {})), std::out_of_range);
}

TEST(DoctorReport, WhatAMachineSaysIsNotInterpreted) {
  const DoctorPage page = page_of("NCCL_ALGO=\x1b[31m<b>|\xe2\x80\xae\n");
  for (const std::string& format : doctor_formats()) {
    const std::string text = report(page, format, {});
    EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << format;
    // NOLINTNEXTLINE(misc-misleading-bidirectional): that it does not come out is what is tested
    EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae"))) << format;
  }
  EXPECT_THAT(report(page, "md", {}), Not(HasSubstr("<b>|")));
  EXPECT_THROW(static_cast<void>(report(page, "csv", {})), std::out_of_range);
}

TEST(DoctorReport, TheCatalogInTheDocsIsThisOne) {
  const std::string document = read_file(source_folder() + "/docs/notes/doctor-checks.md");
  EXPECT_THAT(document, HasSubstr(doctor_catalog("md", {})))
      << "replace the table by the output of: collbench doctor list --format md";
}

}  // namespace
}  // namespace collbench::analysis
