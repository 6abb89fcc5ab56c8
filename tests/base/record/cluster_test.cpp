#include "base/record/cluster.hpp"

#include <gtest/gtest.h>

#include "tests/base/record/random_run.hpp"

namespace collbench::cluster_test {
namespace {

Cluster there_and_back(const Cluster& cluster) {
  const auto document = nlohmann::json::parse(record_to_json(cluster).dump());
  return record_from_json<Cluster>(JsonReader(document, "run.json"));
}

TEST(ClusterJson, ComesBackAsItWas) {
  RandomRun random(1);
  for (int i = 0; i < 100; ++i) {
    const Cluster cluster = random.cluster();
    EXPECT_EQ(there_and_back(cluster), cluster);
  }
}

TEST(ClusterJson, HoldsTheShapesAsJson) {
  const Cluster cluster{R"({"hosts":[1]})", {{"n1", 0, {{"GPU 0", {{"uuid", "GPU-1"}}}}}}, {"1 node"}};
  EXPECT_EQ(
      record_to_json(cluster).dump(),
      R"({"summary":["1 node"],"nodes":[{"host":"n1","shape":0,"identity":{"GPU 0":{"uuid":"GPU-1"}}}],"placement":[],)"
      R"("shapes":{"hosts":[1]}})");
}

TEST(ClusterJson, HoldsWhatARankWorksWith) {
  const PlacedRank placed{.rank = 3,
                          .gpu = "GPU1",
                          .gpu_address = "0000:2a:00.0",
                          .nic = "mlx5_1",
                          .numa_node = std::nullopt,
                          .guess = true,
                          .note = "2 ranks share this GPU"};
  EXPECT_EQ(record_to_json(Cluster{.shapes = "{}", .nodes = {}, .summary = {}, .placement = {placed}})
                .at("placement")
                .dump(),
            R"([{"rank":3,"gpu":"GPU1","gpu_address":"0000:2a:00.0","nic":"mlx5_1","numa_node":null,)"
            R"("guess":true,"note":"2 ranks share this GPU"}])");
}

TEST(ClusterJson, WritesNullForWhatIsNoJson) {
  EXPECT_TRUE(
      record_to_json(Cluster{.shapes = "no JSON", .nodes = {}, .summary = {}}).at("shapes").is_null());
}

TEST(ClusterJson, NamesWhatIsWrong) {
  const auto document = nlohmann::json::parse(
      R"({"summary":[],"nodes":[{"host":"n1","shape":0,"identity":{"GPU 0":1}}],"shapes":{}})");
  try {
    static_cast<void>(record_from_json<Cluster>(JsonReader(document, "run.json")));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(describe(error).find("nodes[0].identity.GPU 0"), std::string::npos) << describe(error);
  }
}

}  // namespace
}  // namespace collbench::cluster_test
