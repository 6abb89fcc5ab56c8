#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report.hpp"
#include "base/record/json_fields.hpp"
#include "topology/doctor/evidence.hpp"

namespace collbench::analysis {

/// What a fleet file may expect of a host.
enum class FleetFact { gpus, gpu_model, nvlinks, nvlink_fabric, ecc, driver, nics, nic_firmware };

/// How it is written.
enum class FleetValue { count, text, flag };

struct FleetKey {
  FleetFact fact;
  std::string_view name;  ///< "gpu_model"
  FleetValue value;
  std::string_view needs;  ///< the evidence, for a person
};
/// All of them, in the order of FleetFact.
[[nodiscard]] std::span<const FleetKey> fleet_keys();

/// By fact the values of which any will do, as fleet_value() writes them.
using ExpectedFacts = std::map<FleetFact, std::vector<std::string>>;

struct ExpectedHost {
  std::string name;
  ExpectedFacts facts;
};

/// "8", "on", "off": numbers and flags as they are compared and shown.
[[nodiscard]] std::string fleet_value(int count);
[[nodiscard]] std::string fleet_value(bool flag);

enum class FleetMatch { as_expected, differs, not_known };

/// One fact of a host beside what is expected.
struct HeldFact {
  FleetFact fact;
  FleetMatch match;
  std::vector<std::string> seen;  ///< each value once; empty: nothing is known
};

/// Every device has to have one of the values; where one's is not known, the fact is not known, unless
/// another differs.
[[nodiscard]] std::vector<HeldFact> hold_against(const ExpectedFacts& expected,
                                                 const topology::Evidence& evidence);

/// A host of the file, or evidence of one that is not in it.
struct HeldHost {
  std::string host;
  std::string evidence{};  ///< what was read of it; empty: nothing
  bool is_listed = true;
  ExpectedFacts expected{};
  std::vector<HeldFact> facts{};

  /// The worst of its facts; not known without evidence, or where it is not in the file.
  [[nodiscard]] FleetMatch match() const;
};

struct FleetComparison {
  std::string file;
  std::vector<HeldHost> hosts;  ///< in the order of the file; then those that it lacks

  [[nodiscard]] bool is_as_expected() const;
};

struct MachineEvidence {
  std::string path;
  std::string host;  ///< as the evidence names it, or its file
  topology::Evidence evidence;
};

/// Each host of the file, held against every evidence of it (names count up to the first dot).
[[nodiscard]] FleetComparison compare_with_fleet(std::string file, const std::vector<ExpectedHost>& fleet,
                                                 const std::vector<MachineEvidence>& machines);

/// "fleet.toml: 16 hosts: 13 as expected, 1 otherwise, 1 not known in part, 1 without evidence".
[[nodiscard]] std::string fleet_check_summary(const FleetComparison& comparison);
/// That, then a line a host, those that differ first. "text" or "md".
[[nodiscard]] std::string fleet_check_lines(const FleetComparison& comparison, std::string_view format,
                                            const TextOptions& options);
[[nodiscard]] Json fleet_check_json(const FleetComparison& comparison);

}  // namespace collbench::analysis
