#include "base/record/nccl_told_json.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace collbench::nccl_told_json_test {
namespace {

using ::testing::HasSubstr;

NcclTold read_back(const Json& told) {
  const auto row = nlohmann::json::parse(R"({"nccl":)" + told.dump() + "}");
  return nccl_told_in(JsonReader(row, "run.json")).value_or(NcclTold{});
}

TEST(NcclToldJson, ReadsBackWhatItWrote) {
  const NcclTold told{.algorithm = "nvls_tree",
                      .protocol = "simple",
                      .channels = 16,
                      .expected = {{"ring", "ll", 1.5e-5}, {"nvls_tree", "simple", 3e-5}}};
  EXPECT_EQ(read_back(nccl_told_to_json(told)), told);
  EXPECT_EQ(nccl_told_to_json(std::nullopt), nullptr);
}

TEST(NcclToldJson, OlderRecordsLackIt) {
  const nlohmann::json empty = nlohmann::json::object();
  const JsonReader none(empty, "run.json");
  EXPECT_EQ(nccl_told_in(none), std::nullopt);
  EXPECT_EQ(nccl_untold_in(none), NcclUntold{});
}

TEST(NcclToldJson, ColumnsOfDifferentLengthsAreRefused) {
  Json told = nccl_told_to_json(NcclTold{"", "", 0, {{"ring", "ll", 1e-6}}});
  told["expected"]["seconds"].push_back(2);
  try {
    static_cast<void>(read_back(told));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("three arrays of one length"));
  }
}

}  // namespace
}  // namespace collbench::nccl_told_json_test
