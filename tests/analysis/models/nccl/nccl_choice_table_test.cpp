#include "analysis/models/nccl/nccl_choices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/record/operation.hpp"
#include "base/text_input.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::analysis::nccl_choice_table_test {
namespace {

constexpr const char* kRanges =
    "((ring|tree|nvls|nvls_tree|pat)/(ll|ll128|simple) [0-9]+[BKMG]( [0-9]+(-[0-9]+)?)?(, )?)*";

TEST(NcclChoiceTable, HasTheFormThatItsReaderTakes) {
  ASSERT_FALSE(nccl_choice_entries().empty());
  for (const NcclChoiceEntry& entry : nccl_choice_entries()) {
    EXPECT_NE(topology::find_reference_machine(std::string(entry.machine)), nullptr) << entry.machine;
    EXPECT_THAT(entry.nodes, testing::AnyOf(1, 2, 4));
    EXPECT_THAT(std::string(entry.ranges), testing::MatchesRegex(kRanges));
    for (const std::string& name : split_words(entry.operations)) {
      EXPECT_NE(find_operation(name), nullptr) << name;
    }
    const auto versions = nccl_choice_versions();
    EXPECT_NE(std::find(versions.begin(), versions.end(), entry.from_version), versions.end());
  }
}

TEST(NcclChoiceTable, EveryMachineBeginsWithTheOldestVersion) {
  for (const NcclChoiceEntry& entry : nccl_choice_entries()) {
    for (const std::string& name : split_words(entry.operations)) {
      const auto begins = [&](const NcclChoiceEntry& each) {
        return each.machine == entry.machine && each.nodes == entry.nodes &&
               each.from_version == nccl_choice_versions().front() &&
               testing::Value(split_words(each.operations), testing::Contains(name));
      };
      EXPECT_TRUE(std::any_of(nccl_choice_entries().begin(), nccl_choice_entries().end(), begins))
          << entry.machine << " × " << entry.nodes << ", " << name;
    }
  }
}

}  // namespace
}  // namespace collbench::analysis::nccl_choice_table_test
