#include "tools/plan/report/plan_report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/document/text_layout.hpp"
#include "base/error.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"
#include "tools/plan/job/model_catalog.hpp"

namespace collbench::analysis::plan_report_test {
namespace {

TrainingPlan plan_of_70b() {
  PlanRequest request;
  request.model = find_model("llama-3.1-70b").shape;
  request.topology = "hgx-h100";
  request.n_gpus = 1024;
  request.tp = 4;
  request.pp = 4;
  request.cp = 2;
  request.tokens = 1e12;
  return training_plan(request, cluster_of("hgx-h100", 1));
}

PlanReport one() {
  PlanReport report;
  report.rows.push_back({.label = {}, .plan = plan_of_70b(), .refused = {}});
  return report;
}

PlanReport table() {
  PlanReport report = one();
  report.title = "Plans";
  report.first_column = "id";
  report.rows.front().label = "first";
  report.rows.push_back(
      {.label = "second", .plan = std::nullopt, .refused = "it does not fit, it is too large"});
  return report;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(PlanText, EveryLineFits) {
  for (const int columns : {80, 120}) {
    for (const PlanReport& report : {one(), table()}) {
      for (const std::string& line : lines_of(written_plan(report, "text", columns)))
        EXPECT_LE(display_width(line), columns) << line;
    }
  }
}

TEST(PlanText, TheReasonOfARefusalIsWhole) {
  PlanReport report = table();
  report.rows.back().refused.clear();
  for (int word = 0; word < 40; ++word) report.rows.back().refused += fmt::format("word{} ", word);
  const std::string text = written_plan(report, "text", 80);
  for (int word = 0; word < 40; ++word)
    EXPECT_NE(text.find(fmt::format("word{}", word)), std::string::npos) << text;
}

TEST(PlanText, SaysWhatIsNotKnownAndWhatIsAssumed) {
  const std::string text = written_plan(one(), "text", 120);
  EXPECT_EQ(text.find('$'), std::string::npos) << "no price was given: " << text;
  EXPECT_NE(text.find("Not given, so assumed: seq 4096"), std::string::npos) << text;
  EXPECT_NE(text.find("What bounds it:"), std::string::npos) << text;
}

TEST(PlanText, SaysHowFarItCanBeOffAndRoundsToThat) {
  const std::string text = written_plan(one(), "text", 200);
  EXPECT_NE(text.find("27 published steps of this kind (TP, PP, CP; H100, BF16)"), std::string::npos) << text;
  EXPECT_NE(text.find("1T tokens: about 1"), std::string::npos) << text;
  PlanReport unknown = one();
  unknown.rows.front().plan->published = nullptr;
  EXPECT_NE(written_plan(unknown, "text", 200).find("not known, no published step"), std::string::npos);
}

// The stacks of the published steps with experts were told.
TEST(PlanText, HasNoErrorOfStepsWithExpertsWhoseStackIsTakenByDefault) {
  PlanRequest request;
  request.model = find_model("qwen3-30b-a3b").shape;
  request.n_gpus = request.ep = 8;
  const GpuCluster node = cluster_of("hgx-b200", 1);
  const auto text = [&] {
    PlanReport report = one();
    report.rows.front().plan = training_plan(request, node);
    return written_plan(report, "text", 400);
  };
  EXPECT_NE(text().find("not known for a stack taken by default"), std::string::npos) << text();
  request.stack = &find_stack("megatron-eager");
  EXPECT_NE(text().find("10 published steps of this kind"), std::string::npos) << text();
}

TEST(PlanReport, TheErrorOfThePlanAloneIsNotThatOfAPlanWithARecord) {
  PlanRequest request;
  request.model = find_model("llama-3.1-8b").shape;
  request.n_gpus = 8;
  request.tp = 8;
  auto measured = std::make_shared<MeasuredCollectives>();
  measured->record = "run.json";
  request.measured = measured;  // between nodes, of which this job has one
  measured->across_nodes = true;
  PlanReport report;
  report.rows.push_back(
      {.label = {}, .plan = training_plan(request, cluster_of("hgx-h100", 1)), .refused = {}});
  const std::string text = written_plan(report, "text", 200);
  EXPECT_EQ(text.find("published steps of this kind"), std::string::npos) << text;
  EXPECT_NE(text.find("How far it can be off: not known, no plan with a record"), std::string::npos) << text;
  EXPECT_TRUE(nlohmann::json::parse(plan_json(report)).at("published_error").is_null());
}

TEST(PlanReport, AFaultWithoutAPriceHasNoFigures) {
  PlanReport report = one();
  report.rows.front().plan->fault =
      FaultCost{.node = "bad.json", .findings = {}, .unpriced = {"NIC7: missing"}};
  const std::string text = written_plan(report, "text", 200);
  EXPECT_NE(text.find("what it costs is not known; none of what differs is priced: NIC7: missing"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("nothing that"), std::string::npos) << text;
  const auto fault = nlohmann::json::parse(plan_json(report)).at("fault");
  for (const char* key : {"step_seconds", "slower", "tokens_lost_per_day", "dollars_lost_per_day"})
    EXPECT_TRUE(fault.at(key).is_null()) << key;
  report.rows.front().plan->fault->unpriced.clear();
  EXPECT_NE(written_plan(report, "text", 200).find("nothing that was compared differs, so it has no price"),
            std::string::npos);
}

TEST(PlanReport, WhatMayNotFitIsMarkedInEveryFormat) {
  PlanReport report = one();
  EXPECT_EQ(written_plan(report, "text", 80).find("MAY NOT FIT"), std::string::npos);
  report.rows.front().plan->memory_capacity_bytes = 0.9 * report.rows.front().plan->memory.sum();
  EXPECT_NE(written_plan(report, "text", 80).find("MAY NOT FIT: the estimate is 1.11"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(plan_json(report))["may_not_fit"], true);
  EXPECT_NE(plan_csv(report).find(",true,\"TP, PP, CP; H100, BF16\",27,"), std::string::npos)
      << plan_csv(report);
  report.rows.front().plan->memory_capacity_bytes /= 2;
  EXPECT_NE(written_plan(report, "text", 80).find("planned, for"), std::string::npos)
      << "beyond what is refused";
  report.title = "Plans";
  EXPECT_NE(written_plan(report, "text", 80).find("MAY NOT FIT"), std::string::npos);
}

TEST(PlanJson, HasTheFiguresOfTheModel) {
  const TrainingPlan plan = plan_of_70b();
  const auto json = nlohmann::json::parse(plan_json(one()));
  EXPECT_EQ(json["step_seconds"], plan.step_seconds);
  EXPECT_EQ(json["tokens_per_second_per_gpu"], plan.tokens_per_second_per_gpu);
  EXPECT_EQ(json["memory_bytes"], plan.memory.sum());
  EXPECT_EQ(json["terms"].size(), plan.step.terms.size());
  EXPECT_TRUE(json["run"]["dollars"].is_null());
  EXPECT_EQ(nlohmann::json::parse(plan_json(table()))["plans"][1]["refused"],
            "it does not fit, it is too large");
}

TEST(PlanCsv, EveryLineHasTheColumnsOfTheHead) {
  const std::vector<std::string> lines = lines_of(plan_csv(table()));
  ASSERT_EQ(lines.size(), 3U);
  const auto commas = std::count(lines[0].begin(), lines[0].end(), ',');
  // The kind of published steps has three commas, in quotes.
  EXPECT_EQ(std::count(lines[1].begin(), lines[1].end(), ','), commas + 3);
  // The refusal's own comma stands in quotes.
  EXPECT_EQ(std::count(lines[2].begin(), lines[2].end(), ','), commas + 1);
}

TEST(PlanReport, FormatsAreThoseOfTheTable) {
  EXPECT_EQ(plan_formats(), (std::vector<std::string>{"text", "md", "html", "csv", "json"}));
  EXPECT_EQ(written_plan(one(), "md", 120).substr(0, 15), "# Training plan");
  EXPECT_THROW((void)written_plan(one(), "slurm", 120), Error);
}

TEST(PlanTables, OfASearchAndOfScalingFitAndSayWhatIsNotKnown) {
  PlanRequest request;
  request.model = find_model("llama-3.1-8b").shape;
  request.topology = "hgx-h100";
  request.global_batch = 512;
  request.n_gpus = 64;
  const GpuCluster node = cluster_of("hgx-h100", 1);
  const PlanReport search = search_report(fastest_splits(request, node, 10), request);
  const PlanReport scale = scaling_report(scaling(request, node, {8, 64, 8192}), request);
  for (const int columns : {80, 120}) {
    for (const PlanReport& report : {search, scale}) {
      for (const std::string& line : lines_of(written_plan(report, "text", columns)))
        EXPECT_LE(display_width(line), columns) << line;
    }
  }
  const std::string best = written_plan(search, "text", 120);
  EXPECT_TRUE(best.starts_with("--tp ")) << best;
  const PublishedError& published = *search.rows.front().plan->published;
  EXPECT_NE(
      best.find(fmt::format("are off by up to {:.0f} % (nine of ten; half of them", 100 * published.p90)),
      std::string::npos)
      << best;
  const std::string table = written_plan(scale, "text", 120);
  EXPECT_TRUE(table.starts_with("llama-3.1-8b on hgx-h100: strong scaling pays up to 64 GPUs (each "))
      << table;
  EXPECT_NE(scale.title.find("weak scaling still pays at 8192 GPUs, the most planned (each "),
            std::string::npos)
      << scale.title;
  const PlanReport alone = scaling_report(scaling(request, node, {64}), request);
  EXPECT_NE(alone.title.find("is not known: fewer than two sizes could be planned"), std::string::npos)
      << alone.title;
  EXPECT_NE(table.find("Strong scaling: It stops paying at 64 GPUs"), std::string::npos) << table;
  EXPECT_NE(table.find("is not known, and nobody measured these"), std::string::npos) << table;
  EXPECT_NE(table.find("Weak scaling: as many samples per GPU"), std::string::npos) << table;
  ASSERT_EQ(scale.charts.size(), 1U);
  EXPECT_EQ(scale.charts.front().series.front().points.size(), 3U);
  const std::string page = plan_html(scale);
  EXPECT_NE(page.find("thousand tokens/s"), std::string::npos);
  EXPECT_NE(plan_html(one()).find("Timeline"), std::string::npos);
  // "weak" rows are those of a group of their own, also for programs.
  EXPECT_NE(plan_csv(scale).find(",Weak scaling: as many samples per GPU,1"), std::string::npos);
}

}  // namespace
}  // namespace collbench::analysis::plan_report_test
