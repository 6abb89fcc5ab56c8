#include "base/record/nccl_selection.hpp"

#include <algorithm>

#include "base/record/fields.hpp"
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

static void each_field(auto& visit, Either<NcclExpectation> auto& expected) {
  visit("algorithm", expected.algorithm);
  visit("protocol", expected.protocol);
  visit("seconds", expected.seconds);
}

static void each_field(auto& visit, Either<NcclSelection> auto& selection) {
  visit("algorithm", selection.algorithm);
  visit("protocol", selection.protocol);
  visit("channels", selection.channels);
  visit("expected", selection.expected, Columns{"three arrays of one length"});
}

static void each_field(auto& visit, Either<NcclObserverStatus> auto& status) {
  visit("use", status.use);
  visit("expectation", status.expectation);
}

static void each_field(auto& visit, Either<NcclNetworks> auto& networks) {
  visit("used", networks.used);
  visit("unknown_reason", networks.unknown_reason);
}

namespace {

/// Nothing is said where the record has no such key.
template <class Record>
Record found_in(const JsonReader& json, std::string_view key) {
  const auto found = json.find(key);
  return found ? record_from_json<Record>(*found) : Record{};
}

}  // namespace

Json nccl_selection_to_json(const std::optional<NcclSelection>& selection) {
  return selection ? record_to_json(*selection) : Json(nullptr);
}

Json nccl_observer_status_to_json(const NcclObserverStatus& status) { return record_to_json(status); }

Json nccl_networks_to_json(const NcclNetworks& networks) { return record_to_json(networks); }

std::optional<NcclSelection> nccl_selection_in(const JsonReader& row) {
  if (!row.find("nccl")) return std::nullopt;
  return found_in<NcclSelection>(row, "nccl");
}

NcclObserverStatus nccl_observer_status_in(const JsonReader& run) {
  return found_in<NcclObserverStatus>(run, "nccl_untold");
}

NcclNetworks nccl_networks_in(const JsonReader& run) { return found_in<NcclNetworks>(run, "nccl_networks"); }

}  // namespace collbench
