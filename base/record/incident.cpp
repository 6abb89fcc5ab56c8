#include "base/record/incident.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/json_reader.hpp"

namespace collbench {
namespace {

IncidentKind incident_kind_from_json(const JsonReader& json) {
  const auto* const found = std::find(kIncidentKindNames.begin(), kIncidentKindNames.end(), json.text());
  if (found == kIncidentKindNames.end())
    throw json.expected(fmt::format("\"{}\"", fmt::join(kIncidentKindNames, "\" or \"")));
  return static_cast<IncidentKind>(found - kIncidentKindNames.begin());
}

}  // namespace

Json incident_to_json(const Incident& incident) {
  Json ranks = Json::array();
  for (const IncidentRank& each : incident.ranks) ranks.push_back({{"rank", each.rank}, {"host", each.host}});
  return {{"kind", name(incident.kind)}, {"sentence", incident.sentence},
          {"ranks", std::move(ranks)},   {"step", incident.step},
          {"pass", incident.pass},       {"call", incident.call},
          {"time", incident.time},       {"exit_status", incident.exit_status}};
}

Json pause_to_json(const RankPause& pause) {
  return {{"rank", pause.rank},
          {"host", pause.host},
          {"step", pause.step},
          {"pass", pause.pass},
          {"seconds", pause.seconds}};
}

Incident incident_from_json(const JsonReader& json) {
  Incident incident{.kind = incident_kind_from_json(json.at("kind")),
                    .sentence = json.at("sentence").text(),
                    .ranks = {},
                    .step = json.at("step").text(),
                    .pass = json.at("pass").integer<int>(),
                    .call = json.at("call").integer<std::uint64_t>(),
                    .time = json.at("time").text(),
                    .exit_status = json.at("exit_status").integer<int>()};
  for (const JsonReader& each : json.at("ranks").items())
    incident.ranks.push_back({each.at("rank").integer<int>(), rank_host_from_json(each.at("host"))});
  return incident;
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
