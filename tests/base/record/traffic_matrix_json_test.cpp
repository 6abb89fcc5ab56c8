#include "base/record/traffic_matrix_json.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace collbench::traffic_matrix_json_test {
namespace {

TEST(TrafficMatrixJson, ReadsBackAsItWasWritten) {
  const TrafficMatrix traffic = parse_traffic_matrix("0 1.5\n2 0\n", "traffic.txt");
  const Json json = traffic_matrix_to_json(traffic);
  EXPECT_EQ(json.dump(), R"({"source":"traffic.txt","weights":[[0.0,1.5],[2.0,0.0]]})");
  const nlohmann::json document = nlohmann::json::parse(json.dump());
  EXPECT_EQ(traffic_matrix_from_json(JsonReader(document, "run.json")), traffic);
}

TEST(TrafficMatrixJson, IsASquare) {
  const auto document = nlohmann::json::parse(R"({"source":"","weights":[[0,1],[2]]})");
  EXPECT_THROW(static_cast<void>(traffic_matrix_from_json(JsonReader(document, "run.json"))), Error);
}

}  // namespace
}  // namespace collbench::traffic_matrix_json_test
