#include "collectives/nccl/nccl_settings.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace collbench::nccl_settings_test {
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

}  // namespace
}  // namespace collbench::nccl_settings_test
