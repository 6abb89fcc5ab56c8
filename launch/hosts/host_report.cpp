#include "launch/hosts/host_report.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/error.hpp"

namespace collbench::launch {
namespace {

constexpr std::string_view kWhere = "a host's report";

}  // namespace

std::string report_line(const HostReport& report) {
  Json json{{"node", report.node}, {"ranks", Json::array()}};
  for (const RankActivity& rank : report.ranks) json["ranks"].push_back(rank_activity_to_json(rank));
  return json_line(json);
}

std::string reply_line(const HostReply& reply) {
  return fmt::format("{} {}", reply.changes, reply.is_said ? "said" : "watching");
}

std::optional<HostReport> report_from_line(std::string_view line) {
  try {
    const nlohmann::json document = parse_json_line(line, kWhere);
    const JsonReader json(document, kWhere);
    HostReport report{.node = json.at("node").integer<int>(), .ranks = {}};
    for (const JsonReader& rank : json.at("ranks").items())
      report.ranks.push_back(rank_activity_from_json(rank));
    return report;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<HostReply> reply_from_line(std::string_view line) {
  HostReply reply;
  const auto [end, failure] = std::from_chars(line.data(), line.data() + line.size(), reply.changes);
  if (failure != std::errc()) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(line.data() + line.size() - end));
  if (rest != " said" && rest != " watching") return std::nullopt;
  reply.is_said = rest == " said";
  return reply;
}

}  // namespace collbench::launch
