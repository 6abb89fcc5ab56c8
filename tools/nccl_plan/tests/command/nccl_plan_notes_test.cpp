#include "tools/nccl_plan/command/nccl_plan.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"

namespace collbench::program::nccl_plan_notes_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A file with texts as a library has them, one name across the end of a part of 256 KiB.
class Library {
 public:
  Library() : path_(std::filesystem::path(testing::TempDir()) / fmt::format("libnccl_{}.so.2", ::getpid())) {
    std::string text(
        "\x7F"
        "ELF NCCL_ALGO=",
        15);
    text.append("\0NCCL_ALGO\0NCCL_PROTO\0NCCL_\0", 29);
    text.resize((std::size_t{1} << 18U) - 6, '\0');
    text.append("NCCL_CROSS_NIC\0NCCL_IB_HCA set to %s\0", 38);
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~Library() { std::filesystem::remove(path_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  Library(Library&&) = delete;
  Library& operator=(Library&&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(NcclPlanNotes, ALibrarysSettingsAreItsTexts) {
  EXPECT_THAT(setting_names(Library().path()), ElementsAre("NCCL_ALGO", "NCCL_CROSS_NIC", "NCCL_PROTO"));
}

TEST(NcclPlanNotes, ASettingThatTheLibraryDoesNotContainIsRefusedWithANearOne) {
  const Library library;
  EXPECT_NO_THROW(require_known_setting(library.path(), "NCCL_CROSS_NIC"));
  EXPECT_NO_THROW(require_known_setting("/none/libnccl.so.2", "NCCL_ALGOO"));
  try {
    require_known_setting(library.path(), "NCCL_ALGOO");
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    EXPECT_THAT(describe(error), testing::AllOf(HasSubstr("does not contain the setting NCCL_ALGOO"),
                                                HasSubstr("did you mean NCCL_ALGO")));
  }
}

TEST(NcclPlanNotes, WhatIsNotSimulatedIsSaid) {
  const auto notes = [](const char* name, int nodes, int nodes_per_domain = 1,
                        const NcclSettings& settings = {}) {
    NcclPlan plan;
    plan.nodes = nodes;
    plan.nodes_per_domain = nodes_per_domain;
    plan.settings = settings;
    return simulation_notes(topology::resolve_machine(name), plan, 0);
  };
  EXPECT_THAT(notes("gb200-nvl72", 2), ElementsAre(HasSubstr("separate NVLink domains")));
  EXPECT_THAT(notes("gb200-nvl72", 2, 2), ElementsAre(HasSubstr("NVLink joins the nodes here")));
  EXPECT_THAT(notes("gb200-nvl72", 2, 1, {{"NCCL_MNNVL_ENABLE", "0"}}), IsEmpty());
  EXPECT_THAT(notes("gb200-nvl72", 1), IsEmpty());
  EXPECT_THAT(notes("p5", 2), ElementsAre(HasSubstr("the plugin of EFA")));
  EXPECT_THAT(notes("p5", 1), IsEmpty());
  EXPECT_THAT(notes("hgx-h100", 2), IsEmpty());
}

TEST(NcclPlanNotes, NvlinkJoinsTheTraysOfARack) {
  const auto joined = [](const char* name, int nodes, const NcclSettings& settings = {}) {
    return nodes_joined_by_nvlink(topology::resolve_machine(name), nodes, 0, settings);
  };
  EXPECT_EQ(joined("gb200-nvl72", 4), 18);
  EXPECT_EQ(joined("gb200-nvl72", 1), 1);
  EXPECT_EQ(joined("gb200-nvl72", 4, {{"NCCL_MNNVL_ENABLE", "0"}}), 1);
  EXPECT_EQ(joined("hgx-h100", 4), 1);
}

TEST(NcclPlanNotes, AListThatNamesNoNicIsSaid) {
  const std::vector<std::string> nodes{
      R"(<system version="1"><nic><net dev="0"/><net name="mlx5_1" dev="1" port="1"/></nic></system>)"};
  for (const char* list : {"^sim99", "sim99", "^=mlx5", "=mlx5_10", "mlx5_1:2"}) {
    EXPECT_THAT(unmatched_hcas(nodes, list),
                HasSubstr(std::string("NCCL_IB_HCA=") + list + " names none of the NICs: mlx5_1, sim0"));
  }
  for (const char* list : {"^sim0", "sim", "^=mlx5_1", "mlx5_1:1", "^sim99,mlx5"}) {
    EXPECT_EQ(unmatched_hcas(nodes, list), "") << list;
  }
}

}  // namespace
}  // namespace collbench::program::nccl_plan_notes_test
