#include "base/record/run.hpp"

#include <gmock/gmock.h>

#include "tests/base/record/random_run.hpp"

namespace collbench::row_json_test {
namespace {

Row from_text(const std::string& text) {
  const auto document = nlohmann::json::parse(text);
  return row_from_json(JsonReader(document, "run.json"));
}

TEST(RowJson, ComesBackAsItWas) {
  RandomRun random(2);
  for (int i = 0; i < 100; ++i) {
    const Row row = random.row();
    EXPECT_EQ(from_text(row_to_json(row, 4).dump()), row);
  }
}

TEST(RowJson, AddsTheRatesInGigabytes) {
  Row row;
  row.measurement.key.size_bytes = 1'000'000'000;
  row.measurement.seconds = 0.5;
  row.expectation.expected_seconds = 0.25;
  const Json rates = row_to_json(row, 2).at("rates");
  EXPECT_EQ(rates.dump(), R"({"algorithm_bandwidth_gb_per_s":2.0,"bus_bandwidth_gb_per_s":2.0,)"
                          R"("ring_bus_bandwidth_gb_per_s":null,"tree_bus_bandwidth_gb_per_s":null,)"
                          R"("expected_bus_bandwidth_gb_per_s":4.0,"measured_over_expected":0.5})");
}

TEST(RowJson, ARowThatDidNotRunHasNoTime) {
  const Json json = row_to_json(Row(), 2);
  for (const char* key : {"seconds", "minimum_seconds", "median_seconds", "p99_seconds", "variation"}) {
    EXPECT_TRUE(json.at(key).is_null()) << key;
  }
}

TEST(RowJson, DoesNotReadTheRates) {
  Json json = row_to_json(Row(), 2);
  json["rates"] = "whatever";
  EXPECT_EQ(from_text(json.dump()), Row());
}

TEST(RowJson, WrongDataOfAnOlderRecordHasNoVerdict) {
  for (const VerdictWord word : {VerdictWord::sound, VerdictWord::below, VerdictWord::fault}) {
    Row row;
    row.measurement.wrong_elements = 0;
    row.verdict = {word, "half of what its neighbors do"};
    Json json = row_to_json(row, 2);
    EXPECT_EQ(from_text(json.dump()).verdict, row.verdict);
    json["wrong_elements"] = 3;
    EXPECT_EQ(from_text(json.dump()).verdict, Verdict());
  }
}

TEST(RowJson, TheWordsOfTheFirstVersionAreRead) {
  Json json = row_to_json(Row(), 2);
  EXPECT_TRUE(json.at("verdict").is_null());
  for (const char* key : {"verdict_ratio", "healthy_range", "not_ruled_out"}) json.erase(key);
  const auto read = [&](const char* word) {
    json["verdict"] = word;
    json["explanation"] = "As it was.";
    return from_text(json.dump()).verdict;
  };
  EXPECT_EQ(read("none"), (Verdict{VerdictWord::none, "As it was."}));
  EXPECT_EQ(read("LOW"), (Verdict{VerdictWord::below, "As it was."}));
  EXPECT_EQ(read("FAULT"), (Verdict{VerdictWord::fault, "As it was."}));
  EXPECT_EQ(
      read("as expected"),
      (Verdict{VerdictWord::unclear, "judged by an older version (as expected): judge again. As it was."}));
  EXPECT_EQ(read("model or rank count wrong").word, VerdictWord::unclear);
  EXPECT_THROW((void)read("FINE"), Error);
}

TEST(RowJson, ARangeWithoutASoundEdgeStays) {
  Row row;
  row.verdict = {VerdictWord::unclear, "Sockets.", 0.5,
                 HealthyRange{0.1, std::numeric_limits<double>::infinity(), 1.1, "sockets"}};
  EXPECT_EQ(from_text(row_to_json(row, 2).dump()).verdict, row.verdict);
}

TEST(RowJson, APassWithoutATimeIsOneOfNone) {
  Row row;
  row.measurement.pass_seconds = {1e-6, kNotFinite};
  row.measurement.launch_passes = {2};
  EXPECT_THAT(from_text(row_to_json(row, 2).dump()).measurement.pass_seconds, testing::ElementsAre(1e-6, 0));
}

TEST(RowJson, TheFiguresOfTheRanksAreColumnsOfOneLength) {
  Row row;
  row.measurement.ranks = {{0, 1e-6, 2e-6, std::nullopt}, {1, 1.5e-6, 3e-6, 4097}};
  Json json = row_to_json(row, 2);
  EXPECT_EQ(
      json.at("rank_times").dump(),
      R"({"rank":[0,1],"median_seconds":[1e-06,1.5e-06],"p99_seconds":[2e-06,3e-06],"page_faults":[null,4097.0],"core_wait_share":[null,null]})");
  json["rank_times"]["p99_seconds"].erase(1);
  EXPECT_THROW(static_cast<void>(from_text(json.dump())), Error);
}

TEST(RowJson, AnUnknownOperationIsAnError) {
  Json json = row_to_json(Row(), 2);
  json["operation"] = "AllScatter";
  try {
    static_cast<void>(from_text(json.dump()));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "operation is \"AllScatter\" where the name of an operation was expected");
  }
}

}  // namespace
}  // namespace collbench::row_json_test
