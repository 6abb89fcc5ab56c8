#include "base/record/incident.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/json_reader.hpp"

namespace collbench {
namespace {

IncidentRank rank_from_json(const JsonReader& json) {
  return {json.at("rank").integer<int>(), rank_host_from_json(json.at("host"))};
}

Json rank_to_json(const IncidentRank& each) { return {{"rank", each.rank}, {"host", each.host}}; }

}  // namespace

Json incident_to_json(const Incident& incident) {
  return {{"kind", name(incident.kind)},
          {"sentence", incident.sentence},
          {"ranks", array_of(incident.ranks, rank_to_json)},
          {"step", incident.step},
          {"pass", incident.pass},
          {"call", incident.call},
          {"time", incident.time},
          {"exit_status", incident.exit_status}};
}

Json pause_to_json(const RankPause& pause) {
  return {{"rank", pause.rank},
          {"host", pause.host},
          {"step", pause.step},
          {"pass", pause.pass},
          {"seconds", pause.seconds}};
}

Incident incident_from_json(const JsonReader& json) {
  const std::string kinds = fmt::format("\"{}\"", fmt::join(kIncidentKindNames, "\" or \""));
  return {.kind = word_from_json<IncidentKind>(json.at("kind"), kIncidentKindNames, kinds),
          .sentence = json.at("sentence").text(),
          .ranks = list_from_json(json.at("ranks"), rank_from_json),
          .step = json.at("step").text(),
          .pass = json.at("pass").integer<int>(),
          .call = json.at("call").integer<std::uint64_t>(),
          .time = json.at("time").text(),
          .exit_status = json.at("exit_status").integer<int>()};
}

RankPause pause_from_json(const JsonReader& json) {
  return {.rank = json.at("rank").integer<int>(),
          .host = rank_host_from_json(json.at("host")),
          .step = json.at("step").text(),
          .pass = json.at("pass").integer<int>(),
          .seconds = json.at("seconds").number(kSeconds)};
}

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
