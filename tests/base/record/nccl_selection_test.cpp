#include "base/record/nccl_selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/record/run.hpp"

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
  for (const char* asked : {"tree", "tree/ll", "auto/ll", "auto/2", "tree/2", "tree/ll/2"})
    EXPECT_EQ(algorithm_ran(asked, kSelection), asked);
}

TEST(AlgorithmRan, IsWhatNcclUsedWhenItWasFreeOrTookAnother) {
  for (const char* asked : {"auto", "ring", "tree/simple", "auto/simple", "ring/ll"}) {
    EXPECT_EQ(algorithm_ran(asked, kSelection), "tree/ll") << asked;
  }
}

TEST(AlgorithmRan, SaysHowManyCtasNcclUsedWhereOthersWereAskedFor) {
  EXPECT_EQ(algorithm_ran("tree/8", kSelection), "tree/ll/2");
  EXPECT_EQ(algorithm_ran("ring/2", kSelection), "tree/ll/2");
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
  return record_from_json<NcclSelection>(JsonReader(row, "run.json").at("nccl"));
}

TEST(NcclSelectionJson, ReadsBackWhatItWrote) {
  const NcclSelection selection{.algorithm = "nvls_tree",
                                .protocol = "simple",
                                .channels = 16,
                                .expected = {{"ring", "ll", 1.5e-5}, {"nvls_tree", "simple", 3e-5}}};
  EXPECT_EQ(read_back(record_to_json(selection)), selection);
}

TEST(NcclSelectionJson, OlderRecordsLackIt) {
  nlohmann::json older = nlohmann::json::parse(run_to_json(collbench::Run{}).dump());
  older.erase("nccl_untold");
  older.erase("nccl_networks");
  const collbench::Run run = run_from_json(JsonReader(older, "run.json"), "run.json");
  EXPECT_EQ(run.nccl_observer_status, NcclObserverStatus{});
  EXPECT_EQ(run.nccl_networks, NcclNetworks{});
}

TEST(NcclSelectionJson, ColumnsOfDifferentLengthsAreRefused) {
  Json selection = record_to_json(NcclSelection{"", "", 0, {{"ring", "ll", 1e-6}}});
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
