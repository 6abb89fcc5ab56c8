#include "base/record/incident.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace collbench::incident_test {
namespace {

const Incident kHang{.kind = IncidentKind::hang,
                     .sentence = "AllReduce 8 B: timed out",
                     .ranks = {{2, "node1"}, {3, "node1"}},
                     .step = "AllReduce 8 B",
                     .pass = 7,
                     .call = 412,
                     .time = "2026-11-23T11:37:52Z",
                     .exit_status = 4};

TEST(Incident, IsReadBackAsItWas) {
  for (std::size_t kind = 0; kind < kWords<IncidentKind>.size(); ++kind) {
    Incident incident = kHang;
    incident.kind = static_cast<IncidentKind>(kind);
    const nlohmann::json json = nlohmann::json::parse(json_line(record_to_json(incident)));
    EXPECT_EQ(json["kind"], kWords<IncidentKind>.at(kind));
    EXPECT_EQ(record_from_json<Incident>(JsonReader(json, "run.json")), incident);
  }
}

TEST(Incident, OfAnotherKindIsRefusedWhereItStands) {
  nlohmann::json json = nlohmann::json::parse(json_line(record_to_json(kHang)));
  json["kind"] = "bad luck";
  try {
    static_cast<void>(record_from_json<Incident>(JsonReader(json, "run.json")));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(describe(error).find("kind"), std::string::npos) << describe(error);
    EXPECT_NE(describe(error).find("\"rank lost\""), std::string::npos) << describe(error);
  }
}

TEST(Incident, OfADamagedLineIsNone) {
  const std::string line = json_line(record_to_json(kHang));
  EXPECT_EQ(incident_from_line(line), kHang);
  for (std::size_t length = 0; length + 1 < line.size(); ++length)
    EXPECT_FALSE(incident_from_line(line.substr(0, length))) << length;
}

TEST(RankPause, IsReadBackAsItWas) {
  const RankPause pause{.rank = 2, .host = "node1", .step = "AllReduce 8 B", .pass = 7, .seconds = 3.125};
  const nlohmann::json json = nlohmann::json::parse(json_line(record_to_json(pause)));
  EXPECT_EQ(record_from_json<RankPause>(JsonReader(json, "run.json")), pause);
}

}  // namespace
}  // namespace collbench::incident_test
