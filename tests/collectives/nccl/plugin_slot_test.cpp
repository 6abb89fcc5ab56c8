#include "collectives/nccl/plugin_slot.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <utility>

namespace collbench::collectives::plugin_slot_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

constexpr std::string_view kFile =
    "# NCCL_DEBUG=WARN\n"
    "NCCL_TUNER_PLUGIN=/opt/t.so\n"
    "NCCL_TUNER_PLUGIN=later\n"
    "NCCL_NET_PLUGIN=aws,other=1\n"
    "NCCL_ALGO=";

TEST(SettingIn, TheFirstLineCounts) { EXPECT_EQ(setting_in(kFile, "NCCL_TUNER_PLUGIN"), "/opt/t.so"); }

TEST(SettingIn, AValueMayHoldAnythingOrNothing) {
  EXPECT_EQ(setting_in(kFile, "NCCL_NET_PLUGIN"), "aws,other=1");
  EXPECT_EQ(setting_in(kFile, "NCCL_ALGO"), "");
}

TEST(SettingIn, OnlyTheWholeNameCounts) {
  for (const char* name : {"NCCL_DEBUG", "NCCL_TUNER", "TUNER_PLUGIN", "NCCL_PROTO"}) {
    EXPECT_EQ(setting_in(kFile, name), std::nullopt) << name;
  }
}

TEST(NcclSetting, TheEnvironmentComesBeforeTheFile) {
  const auto path = std::filesystem::temp_directory_path() / ("nccl_settings." + std::to_string(::getpid()));
  std::ofstream(path) << kFile;
  ::setenv("NCCL_CONF_FILE", path.c_str(), 1);
  EXPECT_THAT(nccl_setting_files(), ElementsAre(path.string(), "/etc/nccl.conf"));
  EXPECT_EQ(nccl_setting("NCCL_TUNER_PLUGIN"), "/opt/t.so");
  ::setenv("NCCL_TUNER_PLUGIN", "mine", 1);
  EXPECT_EQ(nccl_setting("NCCL_TUNER_PLUGIN"), "mine");
  ::unsetenv("NCCL_TUNER_PLUGIN");
  ::unsetenv("NCCL_CONF_FILE");
  std::filesystem::remove(path);
}

TEST(NcclSettingFiles, WithoutAnotherTheUsersOwnComesFirst) {
  ::unsetenv("NCCL_CONF_FILE");
  EXPECT_THAT(nccl_setting_files(), Contains("/etc/nccl.conf"));
  EXPECT_THAT(nccl_setting_files().front(), ::testing::EndsWith("/.nccl.conf"));
}

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kNew = 22809;

/// A machine with these variables, and these libraries with the beginnings of their symbols.
PluginSearchEnvironment machine(const std::map<std::string, std::string>& variables,
                                const std::set<std::pair<std::string, std::string>>& libraries = {}) {
  return {.setting = [variables](const std::string& name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
          },
          .offers = [libraries](const std::string& library,
                                const std::string& symbol) { return libraries.contains({library, symbol}); }};
}

TEST(PluginSlot, IsFreeWhereNobodyHasTakenIt) {
  EXPECT_EQ(plugin_slot_conflict(kTunerSlot, kNew, machine({})), "");
  EXPECT_EQ(plugin_slot_conflict(kProfilerSlot, kNew, machine({{"NCCL_TUNER_PLUGIN", "x"}})), "");
}

TEST(PluginSlot, IsNotThereBeforeTheFirstVersion) {
  EXPECT_EQ(plugin_slot_conflict(kTunerSlot, 21806, machine({})),
            "NCCL 2.18.6 does not give a tuner plugin the data that is needed; 2.22 is the first that does");
  EXPECT_EQ(plugin_slot_conflict(kTunerSlot, 22200, machine({})), "");
  EXPECT_THAT(plugin_slot_conflict(kProfilerSlot, 22200, machine({})), HasSubstr("2.23 is the first"));
}

TEST(PluginSlot, IsTheUsersWhenNamed) {
  EXPECT_EQ(plugin_slot_conflict(kTunerSlot, kNew, machine({{"NCCL_TUNER_PLUGIN", "none"}})),
            "the tuner plugin slot is taken: NCCL_TUNER_PLUGIN=none");
}

TEST(PluginSlot, IsTheUsersWhenTheUsualFileIsThere) {
  EXPECT_EQ(plugin_slot_conflict(kProfilerSlot, kNew, machine({}, {{"libnccl-profiler.so", ""}})),
            "the profiler plugin slot is taken: libnccl-profiler.so");
}

TEST(PluginSlot, IsTheUsersWhenTheNetworkPluginIsATuner) {
  const std::set<std::pair<std::string, std::string>> aws{{"libnccl-net.so", "ncclTunerPlugin_v"}};
  EXPECT_THAT(plugin_slot_conflict(kTunerSlot, kNew, machine({}, aws)),
              AllOf(HasSubstr("slot is taken"),
                    HasSubstr("libnccl-net.so, a network plugin that is also a tuner plugin")));
  EXPECT_EQ(plugin_slot_conflict(kProfilerSlot, kNew, machine({}, aws)), "");
  EXPECT_EQ(plugin_slot_conflict(kTunerSlot, kNew, machine({{"NCCL_NET_PLUGIN", "ib"}}, aws)), "");
}

TEST(PluginSlot, ANamedNetworkPluginIsOneOfAList) {
  const auto here =
      machine({{"NCCL_NET_PLUGIN", "ib,aws-ofi"}}, {{"libnccl-net-aws-ofi.so", "ncclTunerPlugin_v"}});
  EXPECT_THAT(plugin_slot_conflict(kTunerSlot, kNew, here), HasSubstr("libnccl-net-aws-ofi.so"));
}

TEST(PluginSearchEnvironment, ALibraryOffersWhatItExports) {
  const PluginSearchEnvironment here = plugin_search_environment();
  EXPECT_TRUE(here.offers("libc.so.6", ""));
  EXPECT_TRUE(here.offers("libc.so.6", "dup"));  // dup2, dup3
  EXPECT_FALSE(here.offers("libc.so.6", "ncclTunerPlugin_v"));
  EXPECT_FALSE(here.offers("libno-such-library.so", ""));
}

}  // namespace

}  // namespace collbench::collectives::plugin_slot_test
