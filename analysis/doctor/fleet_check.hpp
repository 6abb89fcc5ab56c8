#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "base/record/json_fields.hpp"
#include "topology/doctor/evidence.hpp"

namespace collbench::analysis {

/// What a fleet file may expect of a host, and how it is written.
enum class FleetFact { gpus, gpu_model, nvlinks, nvlink_fabric, ecc, driver, nics, nic_firmware };
enum class FleetValue { count, text, flag };
struct FleetKey {
  std::string_view name;  ///< "gpu_model"
  FleetValue value;
  std::string_view needs;  ///< the evidence, for a person
};
/// In the order of FleetFact.
[[nodiscard]] std::span<const FleetKey> fleet_keys();

/// By fact the values of which any will do: "8", "on", "off", or the text.
using ExpectedFacts = std::map<FleetFact, std::set<std::string>>;
struct ExpectedHost {
  std::string name;
  ExpectedFacts facts;
};

/// What the evidence of a host says of a fact.
struct SeenFact {
  std::set<std::string> values{};  ///< of its devices
  bool is_whole = false;           ///< each device has one, and how many devices there are is known
  bool is_disputed = false;        ///< sources do not agree: nothing is known
};
using SeenFacts = std::map<FleetFact, SeenFact>;

/// How many GPUs there are is known where a source that gives a total (`nvidia-smi -q`, topo -m) is there and
/// all that list GPUs have as many; NICs likewise, by /sys or topo -m. Nothing is known of two machines.
[[nodiscard]] SeenFacts seen_facts(const topology::Evidence& evidence);

/// Of a host, or of one of its facts; the worst first.
enum class FleetMatch { differs, not_known, no_evidence, not_read, not_in_file, as_expected };

struct HeldFact {
  FleetMatch match = FleetMatch::not_known;
  SeenFact seen{};
  std::set<std::string> expected{};
};
using HeldFacts = std::map<FleetFact, HeldFact>;
[[nodiscard]] HeldFacts hold_against(const ExpectedFacts& expected, const SeenFacts& seen);

/// One evidence of a host.
struct HostEvidence {
  std::string host;            ///< as the evidence names it, or its file
  std::string path;            ///< what was read
  std::string why_not_read{};  ///< empty: it was
  SeenFacts facts{};
};
struct HeldHost {
  std::string host;
  std::string note{};  ///< where its evidence is, or why it was not read
  HeldFacts facts{};
};
struct FleetComparison {
  std::string file;
  std::multimap<FleetMatch, HeldHost> hosts{};  ///< each once; equal ones as the file has them

  [[nodiscard]] bool is_as_expected() const { return hosts.count(FleetMatch::as_expected) == hosts.size(); }
};

/// Each host of the file beside its evidence; names count up to the first dot, in any case. A host with
/// several evidences is not known: one of them may be of another time, or machine.
[[nodiscard]] FleetComparison compare_with_fleet(const std::string& file,
                                                 const std::vector<ExpectedHost>& fleet,
                                                 const std::vector<HostEvidence>& evidence);

/// "12 of 16 hosts are as fleet.toml expects: 2 differ, 1 not known, 1 without evidence".
[[nodiscard]] std::string fleet_check_summary(const FleetComparison& comparison);
/// A line for each host, those first that differ.
[[nodiscard]] ReportLines fleet_check_lines(const FleetComparison& comparison);
[[nodiscard]] Json fleet_check_json(const FleetComparison& comparison);

}  // namespace collbench::analysis
