#include "base/record/nccl_selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace collbench::nccl_selection_test {
namespace {

const NcclSelection kSelection{
    .algorithm = "tree",
    .protocol = "ll",
    .channels = 2,
    .expected = {{"ring", "ll", 3e-6}, {"tree", "ll", 2e-6}, {"tree", "simple", 1e-6}}};

TEST(NcclSelection, ExpectsOfWhatItUsed) { EXPECT_EQ(nccl_expected_seconds(kSelection), 2e-6); }

TEST(NcclSelection, ExpectsTheCheapestWhereItDoesNotTellWhatItUsed) {
  NcclSelection selection = kSelection;
  selection.algorithm = selection.protocol = "";
  EXPECT_EQ(nccl_expected_seconds(selection), 1e-6);
}

TEST(NcclSelection, ExpectsNothingOfWhatItsTableLacks) {
  NcclSelection selection = kSelection;
  selection.algorithm = "p2p";
  EXPECT_EQ(nccl_expected_seconds(selection), std::nullopt);
  EXPECT_EQ(nccl_expected_seconds(NcclSelection{}), std::nullopt);
}

TEST(AlgorithmRan, IsWhatWasAskedForWhenNcclUsedIt) {
  for (const char* asked : {"tree", "tree/ll", "auto/ll"}) EXPECT_EQ(algorithm_ran(asked, kSelection), asked);
}

TEST(AlgorithmRan, IsWhatNcclUsedWhenItWasFreeOrTookAnother) {
  for (const char* asked : {"auto", "ring", "tree/simple", "auto/simple", "ring/ll"}) {
    EXPECT_EQ(algorithm_ran(asked, kSelection), "tree/ll") << asked;
  }
}

TEST(AlgorithmRan, IsWhatWasAskedForWhenNcclDoesNotTell) {
  NcclSelection selection = kSelection;
  selection.algorithm = "p2p";
  selection.protocol = "";
  EXPECT_EQ(algorithm_ran("auto", selection), "auto");
}

using ::testing::HasSubstr;

NcclSelection read_back(const Json& selection) {
  const auto row = nlohmann::json::parse(R"({"nccl":)" + selection.dump() + "}");
  return nccl_selection_in(JsonReader(row, "run.json")).value_or(NcclSelection{});
}

TEST(NcclSelectionJson, ReadsBackWhatItWrote) {
  const NcclSelection selection{.algorithm = "nvls_tree",
                                .protocol = "simple",
                                .channels = 16,
                                .expected = {{"ring", "ll", 1.5e-5}, {"nvls_tree", "simple", 3e-5}}};
  EXPECT_EQ(read_back(nccl_selection_to_json(selection)), selection);
  EXPECT_EQ(nccl_selection_to_json(std::nullopt), nullptr);
}

TEST(NcclSelectionJson, OlderRecordsLackIt) {
  const nlohmann::json empty = nlohmann::json::object();
  const JsonReader none(empty, "run.json");
  EXPECT_EQ(nccl_selection_in(none), std::nullopt);
  EXPECT_EQ(nccl_observer_status_in(none), NcclObserverStatus{});
}

TEST(NcclSelectionJson, ColumnsOfDifferentLengthsAreRefused) {
  Json selection = nccl_selection_to_json(NcclSelection{"", "", 0, {{"ring", "ll", 1e-6}}});
  selection["expected"]["seconds"].push_back(2);
  try {
    static_cast<void>(read_back(selection));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("three arrays of one length"));
  }
}

}  // namespace

}  // namespace collbench::nccl_selection_test
