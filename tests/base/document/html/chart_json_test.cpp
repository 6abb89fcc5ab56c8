#include "base/document/document.hpp"

#include <gtest/gtest.h>

#include "base/record/json_fields.hpp"

namespace collbench {
namespace {

TEST(ChartJson, HoldsEveryNumberAsPeopleReadIt) {
  const Chart chart{.id = "c",
                    .title = "t",
                    .x = {"size", AxisUnit::bytes, true},
                    .y = {"busbw (GB/s)", AxisUnit::gigabytes, false},
                    .series = {{"measured", SeriesKind::measured, {{1024, 46.7, 40.0, 50.0, "ring"}}}},
                    .bands = {{"band", {{1024, 30, 60}}}},
                    .references = {{"limit", 50}}};
  const Json json = Json::parse(chart_json(chart));
  const Json& point = json["series"][0]["points"][0];
  EXPECT_EQ(point["text"], "1 KiB: 46.7 GB/s (95 %: 40.0 GB/s to 50.0 GB/s), ring");
  EXPECT_EQ(point["y"], 46.7);
  EXPECT_EQ(point["interval"], Json({40.0, 50.0}));
  EXPECT_EQ(json["bands"][0]["edges"], Json::parse("[[1024.0, 30.0, 60.0]]"));
  EXPECT_EQ(json["references"][0]["y"], 50);
  EXPECT_EQ(json["y"][0]["log"], false);
  EXPECT_EQ(json["y"][1]["log"], true);
  EXPECT_EQ(json["y"][1]["min"], 10);
}

}  // namespace
}  // namespace collbench
