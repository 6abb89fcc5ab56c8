#include "src/cli/fleet_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"

namespace collbench::program {
namespace {

using analysis::FleetFact;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    (void)parse_fleet_file(text, "f.toml");
  } catch (const Error& error) {
    return describe(error);
  }
  return "read";
}

TEST(FleetFile, SectionsStandOverWhatIsOfAll) {
  const auto hosts = parse_fleet_file(
      "hosts = \"n[07-09]\"\ngpus = 3\necc = false\nnic_firmware = [\"20.1\", \"20.2\"]\n"
      "[\"N08.lab,x1\"]\ngpus = 5\n",
      "f.toml");
  ASSERT_EQ(hosts.size(), 4U);
  EXPECT_EQ(hosts[3].name, "x1");
  EXPECT_THAT(hosts[0].facts.at(FleetFact::gpus), ElementsAre("3"));
  EXPECT_THAT(hosts[1].facts.at(FleetFact::gpus), ElementsAre("5"));
  EXPECT_THAT(hosts[3].facts.at(FleetFact::ecc), ElementsAre("off"));
  EXPECT_THAT(hosts[2].facts.at(FleetFact::nic_firmware), ElementsAre("20.1", "20.2"));
}

TEST(FleetFile, HasManySectionsAndTheirHostsInItsOrder) {
  std::string text = "nvlinks = 0\n";
  for (int host = 5000; host > 0; --host)
    text += "[\"n" + std::to_string(host) + ".lab\"]\nnic_firmware = \"20.1\"\n";
  const auto hosts = parse_fleet_file(text, "f.toml");
  ASSERT_EQ(hosts.size(), 5000U);
  EXPECT_EQ(hosts.front().name, "n5000.lab");
  EXPECT_EQ(hosts.back().name, "n1.lab");
  EXPECT_THAT(hosts.back().facts.at(FleetFact::nvlinks), ElementsAre("0"));
}

TEST(FleetFile, WhatItDoesNotKnowIsRefusedWithItsLine) {
  EXPECT_THAT(refusal("hosts = \"n1\"\ngpu = 8\n"),
              AllOf(HasSubstr("f.toml:2"), HasSubstr("unknown key 'gpu'"), HasSubstr("gpu_model")));
  EXPECT_THAT(refusal("hosts = \"n1\"\n[\"n1\"]\nports = 8\n"), HasSubstr("f.toml:3"));
  for (const char* const value : {"gpus = \"8\"", "gpus = -1", "gpus = 1000001", "gpus = 8.5", "ecc = \"on\"",
                                  "driver = 5", "driver = \"\"", "driver = []", "driver = 1979-05-27"})
    EXPECT_THAT(refusal("hosts = \"n1\"\n" + std::string(value) + "\n"), HasSubstr("f.toml:2")) << value;
  EXPECT_THAT(refusal("gpus = 8\n"), HasSubstr("it names no host"));
  EXPECT_THAT(refusal("# nothing\n"), HasSubstr("it names no host"));
  EXPECT_THAT(refusal(""), HasSubstr("it names no host"));
  EXPECT_THAT(refusal("hosts = \"n1\"\n"),
              AllOf(HasSubstr("it expects nothing of n1"), HasSubstr("gpus = 8")));
  EXPECT_THAT(refusal("hosts = \"n[1-2]\"\n[n1]\ngpus = 8\n"), HasSubstr("it expects nothing of n2"));
  EXPECT_THAT(refusal("hosts = \"n1\"\ngpus = 8\n[n1]\n"), HasSubstr("f.toml:3"));
  EXPECT_THAT(refusal("hosts = \"n1,N1.lab\"\ngpus = 8\n"), HasSubstr("N1.lab is named twice"));
  EXPECT_THAT(refusal("gpus = 8\n[\"n[00000-99999]\"]\necc = true\n[x]\necc = true\n"),
              HasSubstr("more than 100000 hosts"));
  EXPECT_THAT(refusal("\n" + std::string(20000, '#')), HasSubstr("f.toml:2"));
  EXPECT_THAT(refusal(std::string(2000000, '\n')), HasSubstr("f.toml"));
  EXPECT_THAT(refusal("gpus = 8\ngpus = 8\n"), HasSubstr("is set twice"));
  EXPECT_THAT(refusal("[\"n1\"]\ngpus = 8\n[\"n[1-2]\"]\ngpus = 4\n"),
              AllOf(HasSubstr("f.toml:3"), HasSubstr("n1 is named twice")));
  EXPECT_THAT(refusal("hosts = \"n[1\"\n"), HasSubstr("f.toml:1"));
  EXPECT_THAT(refusal("hosts = \"@/etc/hosts\"\n"), HasSubstr("f.toml:1"));
  EXPECT_THAT(refusal("hosts = \n"), HasSubstr("f.toml:1"));
  EXPECT_THAT(refusal("hosts = \"n1\" \xC2\xA1\n"), HasSubstr("beyond ASCII"));
}

}  // namespace
}  // namespace collbench::program
