#include "analysis/doctor/fleet_check.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace collbench::analysis {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using topology::Evidence;
using enum FleetMatch;

std::string gpu(int bus, const std::string& ecc = "Enabled", const std::string& model = "NVIDIA L40S") {
  return fmt::format(
      "GPU 00000000:{:02X}:00.0\n    Product Name                          : {}\n    ECC Mode\n"
      "        Current                           : {}\n        Pending                           : Enabled\n"
      "    GPU UUID                              : GPU-{:08d}-1111-1111-1111-111111111111\n"
      "    Fabric\n        State                             : Completed\n    Processes                      "
      "    "
      "   : None\n",
      bus, model, ecc, bus);
}
std::string query(int attached, const std::string& gpus, const std::string& driver = "560.28.03") {
  return fmt::format(
      "==============NVSMI LOG==============\n\nDriver Version                            : {}\n\n"
      "Attached GPUs                             : {}\n{}",
      driver, attached, gpus);
}
std::string two(const std::string& ecc = "Enabled") { return query(2, gpu(1) + gpu(2, ecc)); }

Evidence read(const std::vector<std::string>& texts) {
  Evidence evidence;
  for (std::size_t i = 0; i < texts.size(); ++i)
    topology::add_evidence(evidence, texts[i], fmt::format("{}.txt", i), "");
  return evidence;
}

ExpectedFacts expected() {
  return {{FleetFact::gpus, {"2"}},
          {FleetFact::gpu_model, {"NVIDIA L40S"}},
          {FleetFact::ecc, {"on"}},
          {FleetFact::nvlink_fabric, {"Completed"}},
          {FleetFact::driver, {"555.1", "560.28.03"}}};
}

FleetMatch match_of(FleetFact fact, const std::vector<std::string>& texts,
                    const ExpectedFacts& facts = expected()) {
  return hold_against({{fact, facts.at(fact)}}, seen_facts(read(texts))).at(fact).match;
}

FleetMatch worst_of(const std::vector<std::string>& texts) {
  FleetMatch worst = as_expected;
  for (const auto& [fact, held] : hold_against(expected(), seen_facts(read(texts))))
    worst = std::min(worst, held.match);
  return worst;
}

TEST(FleetCheck, EveryDeviceIsHeldAgainstWhatIsWritten) {
  EXPECT_EQ(worst_of({two()}), as_expected);
  EXPECT_EQ(match_of(FleetFact::ecc, {two("Disabled")}), differs);
  EXPECT_EQ(match_of(FleetFact::gpu_model, {query(2, gpu(1) + gpu(2, "Enabled", "NVIDIA L4"))}), differs);
  EXPECT_EQ(match_of(FleetFact::gpus, {query(1, gpu(1))}), differs);
  EXPECT_EQ(match_of(FleetFact::driver, {query(2, "", "470.1")}), differs);
  EXPECT_EQ(
      match_of(FleetFact::nvlink_fabric, {"GPU 00000000:01:00.0\nFabric\n State : In Progress\n x : y\n"}),
      differs);
}

/// As the driver's versions of 2026 write it, and without the old key.
TEST(FleetCheck, NewWordsOfTheDriverAreRead) {
  const std::string note = " [Deprecated; will be removed in CUDA 14.0. Use KMD Version instead]";
  EXPECT_EQ(match_of(FleetFact::driver, {query(2, "", "560.28.03" + note + "\nKMD Version : 560.28.03")}),
            as_expected);
  EXPECT_EQ(match_of(FleetFact::driver, {query(2, "", "560.28.03" + note + "\nKMD Version : 555.1")}),
            not_known);
  EXPECT_EQ(match_of(FleetFact::driver, {"NVSMI LOG\nKMD Version : 560.28.03\nAttached GPUs : 2\n"}),
            as_expected);
}

TEST(FleetCheck, GpusAreNotKnownUnlessAllSourcesAgree) {
  const std::string topo = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tSYS\t0-3\nGPU1\tSYS\t X \t0-3\n";
  const std::string csv = "index, name\n0, NVIDIA L40S\n";
  const auto gpus = [](const std::vector<std::string>& texts) { return match_of(FleetFact::gpus, texts); };
  EXPECT_EQ(gpus({topo}), as_expected);
  EXPECT_EQ(gpus({two(), topo}), as_expected);
  // -i 0 of a machine with several, whatever is expected of it
  EXPECT_EQ(gpus({query(2, gpu(1))}), not_known);
  EXPECT_EQ(gpus({query(8, gpu(1) + gpu(2))}), not_known);
  EXPECT_EQ(match_of(FleetFact::ecc, {query(8, gpu(1) + gpu(2))}), not_known);
  EXPECT_EQ(match_of(FleetFact::gpu_model, {query(8, gpu(1) + gpu(2))}), not_known);
  EXPECT_EQ(gpus({query(1, gpu(1)), topo}), not_known);
  EXPECT_EQ(gpus({two(), csv}), not_known);
  EXPECT_EQ(gpus({two(), topo, csv}), not_known);
  EXPECT_EQ(gpus({csv + "1, NVIDIA L40S\n"}), not_known);  // perhaps -i 0,1
  EXPECT_EQ(gpus({two(), "Unable to determine the device handle for GPU0000:03:00.0: Unknown Error\n"}),
            not_known);
  EXPECT_EQ(
      gpus({"GPU 0: NVIDIA L40S (UUID: GPU-00000001-1111-1111-1111-111111111111)\n\t Link 0: 26.5 GB/s\n",
            two()}),
      not_known);
  EXPECT_EQ(gpus({}), not_known);
}

TEST(FleetCheck, WhatADeviceDoesNotSayIsNotKnown) {
  for (const char* const ecc : {"N/A", "Unknown Error", "[Unknown Error]", "GPU is lost", ""})
    EXPECT_EQ(match_of(FleetFact::ecc, {two(ecc)}), not_known) << ecc;
  for (const char* const model : {"N/A", "Unknown Error", "ERR!", "[N/A]"})
    EXPECT_EQ(match_of(FleetFact::gpu_model, {query(2, gpu(1) + gpu(2, "Enabled", model))}), not_known)
        << model;
}

/// Two outputs in one file: of one machine, or of machines that are alike but for their UUIDs.
TEST(FleetCheck, TwoMachinesInOneFileAreNotKnown) {
  EXPECT_EQ(worst_of({two() + two()}), as_expected);
  std::string other = two();
  for (std::size_t at = 0; (at = other.find("-1111-", at)) != std::string::npos; ++at) other[at + 1] = '2';
  for (const FleetFact fact : {FleetFact::gpus, FleetFact::ecc, FleetFact::gpu_model, FleetFact::driver})
    EXPECT_EQ(match_of(fact, {two() + other}), not_known);
  EXPECT_EQ(match_of(FleetFact::driver, {two() + query(2, "", "555.1")}), not_known);
  const std::string links =
      "GPU 0: NVIDIA L40S (UUID: GPU-{0}1-1111-1111-1111-111111111111)\n\t Link 0: 26.5 GB/s\n"
      "GPU 1: NVIDIA L40S (UUID: GPU-{0}2-1111-1111-1111-111111111111)\n\t Link 0: 26.5 GB/s\n";
  EXPECT_EQ(worst_of({two(), fmt::format(fmt::runtime(links), "0000000")}), as_expected);
  EXPECT_EQ(worst_of({two(), fmt::format(fmt::runtime(links), "1000000")}), not_known);
}

/// Wherever an output ends: what it says is not held against the host, and it is never as expected.
TEST(FleetCheck, ACutOutputClearsAndAccusesNobody) {
  const std::string all = two();
  const std::size_t last_fact = all.rfind("Completed") + std::string("Completed\n").size();
  for (std::size_t end = 0; end < last_fact; ++end)
    EXPECT_EQ(worst_of({all.substr(0, end)}), not_known) << all.substr(0, end);
}

TEST(FleetCheck, NvlinksOfAListThatMayBeCutAreNotKnown) {
  const std::string links = "\t Link 0: 26.5 GB/s\n\t Link 1: 26.5 GB/s\n\t Link 2: 26.5 GB/s\n";
  const auto nvlinks = [&](const std::string& second, const std::string& first_links) {
    return match_of(
        FleetFact::nvlinks,
        {two(), "GPU 0: NVIDIA L40S (UUID: GPU-00000001-1111-1111-1111-111111111111)\n" + first_links +
                    "GPU 1: NVIDIA L40S (UUID: GPU-00000002-1111-1111-1111-111111111111)\n" + second},
        {{FleetFact::nvlinks, {"3"}}});
  };
  EXPECT_EQ(nvlinks(links, links), as_expected);
  EXPECT_EQ(nvlinks(links.substr(0, links.find("\t Link 2")), links), not_known);
  EXPECT_EQ(nvlinks(links.substr(0, links.find("\t Link 2")) + "\t Link 2: <inactive>\n", links), differs);
  EXPECT_EQ(nvlinks("Nvlink queries are not supported for Devices in MIG mode\n", links), not_known);
  EXPECT_EQ(nvlinks("", links), not_known);
}

std::string card(int number, const std::string& firmware) {
  return fmt::format(
      "hca_id:\tmlx5_{}\n\ttransport:\tInfiniBand (0)\n\tfw_ver:\t\t{}\n\t\tport:\t1\n"
      "\t\t\tstate:\tPORT_ACTIVE (4)\n\t\t\tactive_mtu:\t4096 (5)\n",
      number, firmware);
}

TEST(FleetCheck, NicsAreKnownWhereASourceListsAll) {
  const std::string topo =
      "\tGPU0\tNIC0\tNIC1\nGPU0\t X \tPIX\tSYS\nNIC0\tPIX\t X \tSYS\nNIC1\tSYS\tSYS\t X \n\nNIC Legend:\n\n"
      "  NIC0: mlx5_0\n  NIC1: mlx5_1\n";
  const ExpectedFacts facts{{FleetFact::nics, {"2"}}, {FleetFact::nic_firmware, {"28.1", "28.2"}}};
  const auto match = [&facts](FleetFact fact, const std::vector<std::string>& texts) {
    return match_of(fact, texts, facts);
  };
  const std::string both = card(0, "28.1") + card(1, "28.2");
  EXPECT_EQ(match(FleetFact::nics, {both}), not_known);  // perhaps -d
  EXPECT_EQ(match(FleetFact::nics, {both, topo}), as_expected);
  EXPECT_EQ(match(FleetFact::nic_firmware, {both, topo}), as_expected);
  EXPECT_EQ(match(FleetFact::nics, {card(0, "28.1"), topo}), not_known);
  EXPECT_EQ(match(FleetFact::nic_firmware, {card(0, "28.1"), topo}), not_known);
  EXPECT_EQ(match(FleetFact::nic_firmware, {card(0, "28.1") + card(1, "20.9")}), differs);
  EXPECT_EQ(match(FleetFact::nic_firmware, {both + both, topo}), not_known);  // two hosts in a file
  EXPECT_EQ(match(FleetFact::nic_firmware, {card(0, "28.1") + "hca_id:\tmlx5_1\nactive_mtu:\nfw_ver:\t2"}),
            not_known);
}

TEST(FleetCheck, HostsWithoutEvidenceAndOthersAreCounted) {
  const SeenFacts well = seen_facts(read({two()}));
  const std::vector<ExpectedHost> fleet{{"n1", expected()}, {"n2", expected()}, {"N3.lab", expected()},
                                        {"n4", expected()}, {"n5", expected()}, {"n6", expected()}};
  const FleetComparison found = compare_with_fleet("f.toml", fleet,
                                                   {{"N1.lab", "a", "", well},
                                                    {"n2", "b", "", seen_facts(read({two("Disabled")}))},
                                                    {"n9", "c", "", well},
                                                    {"n4", "d", "d: no file in it is evidence", {}},
                                                    {"n5", "e", "", well},
                                                    {"N5", "f", "", well},
                                                    {"n6", "g", "", seen_facts(read({query(8, gpu(1))}))}});
  EXPECT_FALSE(found.is_as_expected());
  EXPECT_EQ(fleet_check_summary(found),
            "1 of 6 hosts is as f.toml expects: 1 differs, 2 not known, 1 without evidence, 1 not read, 1 "
            "not in the file");
  std::string text;
  for (const ReportLine& line : fleet_check_lines(found)) text += line.text + "\n";
  EXPECT_EQ(text,
            "n2: differs: ecc off and on (on expected)\n"
            "n5: not known; its evidence is there twice: e, f\n"
            "n6: not known: gpus (sources say 1 and 8), gpu_model (NVIDIA L40S, not of every device), "
            "nvlink_fabric (Completed, not of every device), ecc (on, not of every device)\n"
            "N3.lab: no evidence\n"
            "n4: not read; d: no file in it is evidence\n"
            "n9: not in the file; c\n"
            "n1: as expected\n");
  const Json json = fleet_check_json(found);
  EXPECT_EQ(json.at("hosts").at(0).at("match"), "differs");
  EXPECT_EQ(json.at("hosts").at(0).at("facts").at("ecc").at("match"), "differs");
  EXPECT_EQ(json.at("hosts").at(3).at("match"), "no_evidence");
  const FleetComparison good = compare_with_fleet("f", {fleet[0]}, {{"n1", "a", "", well}});
  EXPECT_TRUE(good.is_as_expected());
  EXPECT_EQ(fleet_check_summary(good), "1 of 1 host is as f expects");
  // A host that nobody expects is none that is well.
  EXPECT_FALSE(
      compare_with_fleet("f", {fleet[0]}, {{"n1", "a", "", well}, {"n2", "b", "", well}}).is_as_expected());
}

}  // namespace
}  // namespace collbench::analysis
