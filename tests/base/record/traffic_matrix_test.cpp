#include "base/record/traffic_matrix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace collbench::traffic_matrix_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
  try {
    static_cast<void>(parse_traffic_matrix(text, "traffic.txt"));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return describe(error);
  }
  return "taken";
}

TEST(TrafficMatrix, ByDistanceIsTheOneOfNcclTests) {
  // src/alltoallv.cu: rank 0 of 4 sends nothing, 1, 2 and 3 sixths of its data.
  const TrafficMatrix traffic = traffic_by_distance(4);
  EXPECT_THAT(traffic.weights, ElementsAre(0, 1, 2, 3, 3, 0, 1, 2, 2, 3, 0, 1, 1, 2, 3, 0));
  EXPECT_EQ(fullest_weight(traffic), 6);
  EXPECT_THAT(traffic_by_distance(1).weights, ElementsAre(1));
}

TEST(TrafficMatrix, IsReadLineByLine) {
  const TrafficMatrix traffic =
      parse_traffic_matrix("# from rank 0\n0 2.5\r\n\n1e3,\t0 # and back", "traffic.txt");
  EXPECT_EQ(traffic.ranks, 2);
  EXPECT_THAT(traffic.weights, ElementsAre(0, 2.5, 1000, 0));
  EXPECT_EQ(traffic.source, "traffic.txt");
  EXPECT_EQ(traffic.weight(1, 0), 1000);
}

TEST(TrafficMatrix, IsRefusedWithTheLine) {
  EXPECT_THAT(refusal("0 1\nx 0\n"), HasSubstr("traffic.txt:2: 'x' is not a number"));
  EXPECT_THAT(refusal("0 1\n\n-1 0\n"), HasSubstr("traffic.txt:3: '-1'"));
  EXPECT_THAT(refusal("0 inf\n1 0\n"), HasSubstr("traffic.txt:1: 'inf'"));
  EXPECT_THAT(refusal("0 1\n1 0 3\n"),
              HasSubstr("traffic.txt:2: 3 numbers, where the first line with any has 2"));
  EXPECT_THAT(refusal("0 1\n1 0\n1 1\n"), HasSubstr("traffic.txt:3: a line too many"));
  EXPECT_THAT(refusal("0 1 2\n1 0 2\n"), HasSubstr("traffic.txt:2: it ends after 2 lines of 3 numbers"));
  EXPECT_THAT(refusal("# nothing\n"), HasSubstr("no number in it"));
  EXPECT_THAT(refusal("\n\r\n \t\n\n"), HasSubstr("traffic.txt:4: no number in it"));
  EXPECT_THAT(refusal(std::string(1'000'000, 'a')),
              testing::AllOf(HasSubstr("traffic.txt:1: 'aaa"), testing::SizeIs(testing::Lt(300U))));
  EXPECT_THAT(refusal("0 0\n0 0\n"), HasSubstr("nothing would move"));
}

TEST(TrafficMatrix, TheFullestRankMayBeOneThatReceives) {
  EXPECT_EQ(fullest_weight(parse_traffic_matrix("0 0 4\n0 0 5\n1 0 0\n", "m")), 9);
}

TEST(TrafficMatrix, ElementsAreRoundedDownButNeverToNothing) {
  const TrafficMatrix traffic = parse_traffic_matrix("0 7 3\n1 0 0\n1 0 0\n", "m");
  const auto elements = [&](int to, std::uint64_t count) {
    return traffic_elements(traffic, 10, 0, to, count, 1);
  };
  EXPECT_EQ(elements(1, 10), 7U) << "weights of whole elements are those elements";
  EXPECT_EQ(elements(1, 15), 10U);
  EXPECT_EQ(elements(2, 1), 1U);
  EXPECT_EQ(elements(0, 1000), 0U) << "nothing where the weight is 0";
  EXPECT_EQ(elements(1, 0), 0U);
  const auto in_fours = [&](int to, std::uint64_t count) {
    return traffic_elements(traffic, 10, 0, to, count, 4);
  };
  EXPECT_EQ(in_fours(1, 10), 4U);
  EXPECT_EQ(in_fours(1, 100), 68U);
  EXPECT_EQ(in_fours(2, 1), 4U);
  EXPECT_EQ(in_fours(0, 1000), 0U);
  EXPECT_EQ(in_fours(1, 0), 0U);
}

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

}  // namespace collbench::traffic_matrix_test
