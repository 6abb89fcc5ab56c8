#include "analysis/doctor/fleet_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace collbench::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using topology::Evidence;

/// Two GPUs of one driver; the second has ECC as given.
Evidence node(const std::string& ecc) {
  Evidence evidence;
  evidence.host.driver_version.value = "560.28.03";
  for (int gpu = 0; gpu < 2; ++gpu) {
    evidence.host.gpus.emplace_back();
    evidence.host.gpus.back().model.value = "NVIDIA L40S";
  }
  topology::add_evidence(evidence,
                         "==============NVSMI LOG==============\nDriver Version : 560.28.03\n"
                         "GPU 00000000:01:00.0\n    ECC Mode\n        Current : Enabled\n"
                         "GPU 00000000:02:00.0\n    ECC Mode\n        Current : " +
                             ecc + "\n",
                         "q.txt", "nvidia-smi-q");
  return evidence;
}

ExpectedFacts expected() {
  return {{FleetFact::ecc, {"on"}},
          {FleetFact::driver, {"555.1", "560.28.03"}},
          {FleetFact::gpu_model, {"NVIDIA L40S"}}};
}

TEST(FleetCheck, EveryDeviceIsHeldAgainstWhatIsWritten) {
  const auto match_of = [](const Evidence& evidence) {
    std::vector<FleetMatch> matches;
    for (const HeldFact& held : hold_against(expected(), evidence)) matches.push_back(held.match);
    return matches;  // model, ECC, driver
  };
  using enum FleetMatch;
  EXPECT_THAT(match_of(node("Enabled")), ElementsAre(as_expected, as_expected, as_expected));
  EXPECT_THAT(match_of(node("Disabled")), ElementsAre(as_expected, differs, as_expected));
  EXPECT_THAT(match_of(node("N/A")), ElementsAre(as_expected, differs, as_expected));
  Evidence half = node("Enabled");
  half.host.gpus[1].model = {};
  half.host.driver_version = {};
  EXPECT_THAT(match_of(half), ElementsAre(not_known, as_expected, not_known));
  half.host.gpus[0].model.value = "NVIDIA L4";
  EXPECT_EQ(match_of(half).front(), differs);
  EXPECT_THAT(match_of({}), ElementsAre(not_known, not_known, not_known));
  EXPECT_EQ(hold_against({{FleetFact::gpus, {"8"}}}, {}).front().match, not_known);
}

TEST(FleetCheck, HostsWithoutEvidenceAndOthersAreCounted) {
  const std::vector<ExpectedHost> fleet{{"n1", expected()}, {"n2", expected()}, {"n3", expected()}};
  const FleetComparison found = compare_with_fleet(
      "f.toml", fleet,
      {{"a", "N1.lab", node("Enabled")}, {"b", "n2", node("Disabled")}, {"c", "n9", node("Enabled")}});
  EXPECT_FALSE(found.is_as_expected());
  const std::string text = fleet_check_lines(found, "text", {.columns = 120});
  EXPECT_THAT(text, testing::StartsWith("f.toml: 3 hosts: 1 as expected, 1 otherwise, 0 not known in part, "
                                        "1 without evidence; 1 not in the file\n"
                                        "n2: differs: ecc off and on (on expected)\n"
                                        "n3: no evidence\n"
                                        "n9: not in the fleet file (c)\n"
                                        "n1: 3 of 3 as expected\n"));
  const Json json = fleet_check_json(found);
  EXPECT_EQ(json.at("hosts").at(2).at("match"), "not_known");
  EXPECT_EQ(json.at("hosts").at(1).at("facts").at(1).at("key"), "ecc");
  EXPECT_TRUE(compare_with_fleet("f", {fleet[0]}, {{"a", "n1", node("Enabled")}}).is_as_expected());
}

}  // namespace
}  // namespace collbench::analysis
