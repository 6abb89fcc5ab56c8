#include "base/record/nccl_selection.hpp"

#include <algorithm>

#include "base/record/measurement.hpp"

namespace collbench {

std::optional<double> nccl_expected_seconds(const NcclSelection& selection) {
  const auto& all = selection.expected;
  auto found = selection.algorithm.empty()
                   ? std::min_element(all.begin(), all.end(),
                                      [](const auto& a, const auto& b) { return a.seconds < b.seconds; })
                   : std::find_if(all.begin(), all.end(), [&](const NcclExpectation& each) {
                       return each.algorithm == selection.algorithm && each.protocol == selection.protocol;
                     });
  if (found == all.end()) return std::nullopt;
  return found->seconds;
}

std::string algorithm_ran(const std::string& asked, const NcclSelection& selection) {
  if (selection.protocol.empty()) return asked;
  const std::size_t slash = asked.find('/');
  const std::string algorithm = asked.substr(0, slash);
  const std::string protocol = slash == std::string::npos ? "" : asked.substr(slash + 1);
  const bool as_asked = asked != kLibraryChoice &&
                        (algorithm == kLibraryChoice || algorithm == selection.algorithm) &&
                        (protocol.empty() || protocol == selection.protocol);
  return as_asked ? asked : selection.algorithm + "/" + selection.protocol;
}

Json nccl_selection_to_json(const std::optional<NcclSelection>& selection) {
  if (!selection) return nullptr;
  Json expected = {{"algorithm", Json::array()}, {"protocol", Json::array()}, {"seconds", Json::array()}};
  for (const NcclExpectation& each : selection->expected) {
    expected["algorithm"].push_back(each.algorithm);
    expected["protocol"].push_back(each.protocol);
    expected["seconds"].push_back(each.seconds);
  }
  return {{"algorithm", selection->algorithm},
          {"protocol", selection->protocol},
          {"channels", selection->channels},
          {"expected", expected}};
}

Json nccl_observer_status_to_json(const NcclObserverStatus& status) {
  return {{"use", status.use}, {"expectation", status.expectation}};
}

Json nccl_networks_to_json(const NcclNetworks& networks) {
  return {{"used", networks.used}, {"unknown_reason", networks.unknown_reason}};
}

std::optional<NcclSelection> nccl_selection_in(const JsonReader& row) {
  const auto json = row.find("nccl");
  if (!json) return std::nullopt;
  NcclSelection selection{.algorithm = json->at("algorithm").text(),
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
    selection.expected.push_back({algorithms[i].text(), protocols[i].text(), seconds[i].number(kQuantity)});
  }
  return selection;
}

NcclObserverStatus nccl_observer_status_in(const JsonReader& run) {
  const auto json = run.find("nccl_untold");
  if (!json) return {};
  return {json->at("use").text(), json->at("expectation").text()};
}

NcclNetworks nccl_networks_in(const JsonReader& run) {
  NcclNetworks networks;
  const auto json = run.find("nccl_networks");
  if (!json) return networks;
  networks.used = texts_from_json(json->at("used"));
  networks.unknown_reason = json->at("unknown_reason").text();
  return networks;
}

}  // namespace collbench
