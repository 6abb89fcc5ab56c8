#include "base/record/incident.hpp"

#include "base/error.hpp"
#include "base/json_reader.hpp"
#include "base/record/fields.hpp"

namespace collbench {
static void each_field(auto& visit, Either<IncidentRank> auto& each) {
  visit("rank", each.rank);
  visit("host", each.host, RankHost{});
}

static void each_field(auto& visit, Either<Incident> auto& incident) {
  visit("kind", incident.kind, WordOf{kIncidentKindNames});
  visit("sentence", incident.sentence);
  visit("ranks", incident.ranks);
  visit("step", incident.step);
  visit("pass", incident.pass);
  visit("call", incident.call);
  visit("time", incident.time);
  visit("exit_status", incident.exit_status);
}

static void each_field(auto& visit, Either<RankPause> auto& pause) {
  visit("rank", pause.rank);
  visit("host", pause.host, RankHost{});
  visit("step", pause.step);
  visit("pass", pause.pass);
  visit("seconds", pause.seconds, kSeconds);
}

Json incident_to_json(const Incident& incident) { return record_to_json(incident); }

Json pause_to_json(const RankPause& pause) { return record_to_json(pause); }

Incident incident_from_json(const JsonReader& json) { return record_from_json<Incident>(json); }

RankPause pause_from_json(const JsonReader& json) { return record_from_json<RankPause>(json); }

std::optional<Incident> incident_from_line(std::string_view line) {
  if (line.empty()) return std::nullopt;
  try {
    const nlohmann::json document = parse_json_line(line, "incident");
    return incident_from_json(JsonReader(document, "incident"));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace collbench
