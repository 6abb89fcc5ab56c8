#include "base/record/nccl_selection.hpp"

#include <algorithm>

#include "base/record/measurement.hpp"

namespace collbench {

std::optional<double> nccl_expected_seconds(const NcclSelection& told) {
  const auto& all = told.expected;
  auto found = told.algorithm.empty()
                   ? std::min_element(all.begin(), all.end(),
                                      [](const auto& a, const auto& b) { return a.seconds < b.seconds; })
                   : std::find_if(all.begin(), all.end(), [&](const NcclExpectation& each) {
                       return each.algorithm == told.algorithm && each.protocol == told.protocol;
                     });
  if (found == all.end()) return std::nullopt;
  return found->seconds;
}

std::string algorithm_ran(const std::string& asked, const NcclSelection& told) {
  if (told.protocol.empty()) return asked;
  const std::size_t slash = asked.find('/');
  const std::string algorithm = asked.substr(0, slash);
  const std::string protocol = slash == std::string::npos ? "" : asked.substr(slash + 1);
  const bool as_asked = asked != kLibraryChoice &&
                        (algorithm == kLibraryChoice || algorithm == told.algorithm) &&
                        (protocol.empty() || protocol == told.protocol);
  return as_asked ? asked : told.algorithm + "/" + told.protocol;
}

Json nccl_selection_to_json(const std::optional<NcclSelection>& told) {
  if (!told) return nullptr;
  Json expected = {{"algorithm", Json::array()}, {"protocol", Json::array()}, {"seconds", Json::array()}};
  for (const NcclExpectation& each : told->expected) {
    expected["algorithm"].push_back(each.algorithm);
    expected["protocol"].push_back(each.protocol);
    expected["seconds"].push_back(each.seconds);
  }
  return {{"algorithm", told->algorithm},
          {"protocol", told->protocol},
          {"channels", told->channels},
          {"expected", expected}};
}

Json nccl_observer_status_to_json(const NcclObserverStatus& untold) {
  return {{"use", untold.use}, {"expectation", untold.expectation}};
}

std::optional<NcclSelection> nccl_selection_in(const JsonReader& row) {
  const auto json = row.find("nccl");
  if (!json) return std::nullopt;
  NcclSelection told{.algorithm = json->at("algorithm").text(),
                     .protocol = json->at("protocol").text(),
                     .channels = json->at("channels").integer<int>(),
                     .expected = {}};
  const JsonReader expected = json->at("expected");
  const auto algorithms = expected.at("algorithm").items();
  const auto protocols = expected.at("protocol").items();
  const auto seconds = expected.at("seconds").items();
  if (protocols.size() != algorithms.size() || seconds.size() != algorithms.size()) {
    throw expected.expected("three arrays of one length");
  }
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    told.expected.push_back({algorithms[i].text(), protocols[i].text(), seconds[i].number()});
  }
  return told;
}

NcclObserverStatus nccl_observer_status_in(const JsonReader& run) {
  const auto json = run.find("nccl_untold");
  if (!json) return {};
  return {json->at("use").text(), json->at("expectation").text()};
}

}  // namespace collbench
