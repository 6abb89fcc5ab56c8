#include "base/record/straggler_probe.hpp"

#include <algorithm>
#include <utility>

namespace collbench {
namespace {

ProbeFindingKind kind_of(const JsonReader& json) {
  const auto* const found = std::find(kProbeFindingNames.begin(), kProbeFindingNames.end(), json.text());
  if (found == kProbeFindingNames.end()) throw json.expected("the name of a finding");
  return static_cast<ProbeFindingKind>(found - kProbeFindingNames.begin());
}

}  // namespace

Json rank_probe_to_json(const RankProbe& probe) {
  // One array per figure, as of a row's rank times.
  Json ranks = {{"rank", Json::array()},
                {"entry_seconds", Json::array()},
                {"inside_seconds", Json::array()},
                {"message_seconds", Json::array()}};
  for (const RankLateness& rank : probe.ranks) {
    ranks["rank"].push_back(rank.rank);
    ranks["entry_seconds"].push_back(rank.entry_seconds);
    ranks["inside_seconds"].push_back(rank.inside_seconds);
    ranks["message_seconds"].push_back(rank.message_seconds);
  }
  Json findings = Json::array();
  for (const ProbeFinding& finding : probe.findings) {
    findings.push_back({{"code", name(finding.kind)},
                        {"ranks", finding.ranks},
                        {"seconds", finding.seconds},
                        {"ratio", finding.ratio},
                        {"seen", finding.seen},
                        {"probability", finding.probability},
                        {"text", finding.text}});
  }
  return {{"repetitions", probe.repetitions},
          {"seconds", probe.seconds},
          {"clock_uncertainty_seconds", probe.clock_uncertainty_seconds},
          {"ranks", std::move(ranks)},
          {"findings", std::move(findings)}};
}

RankProbe rank_probe_from_json(const JsonReader& json) {
  RankProbe probe;
  probe.repetitions = json.at("repetitions").integer<int>();
  probe.seconds = json.at("seconds").number();
  probe.clock_uncertainty_seconds = json.at("clock_uncertainty_seconds").number();
  const JsonReader columns = json.at("ranks");
  const auto ranks = columns.at("rank").items();
  const auto entries = columns.at("entry_seconds").items();
  const auto inside = columns.at("inside_seconds").items();
  const auto messages = columns.at("message_seconds").items();
  if (entries.size() != ranks.size() || inside.size() != ranks.size() || messages.size() != ranks.size()) {
    throw columns.expected("four arrays of one length");
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    probe.ranks.push_back(
        {ranks[i].integer<int>(), entries[i].number(), inside[i].number(), messages[i].number()});
  }
  for (const JsonReader& finding : json.at("findings").items()) {
    ProbeFinding& found = probe.findings.emplace_back();
    found.kind = kind_of(finding.at("code"));
    for (const JsonReader& rank : finding.at("ranks").items()) found.ranks.push_back(rank.integer<int>());
    found.seconds = finding.at("seconds").number();
    found.ratio = finding.at("ratio").number();
    found.seen = finding.at("seen").integer<int>();
    found.probability = finding.at("probability").number();
    found.text = finding.at("text").text();
  }
  return probe;
}

}  // namespace collbench
