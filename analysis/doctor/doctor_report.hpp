#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/doctor/fleet_check.hpp"
#include "analysis/report/report.hpp"
#include "topology/doctor/checks.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::analysis {

/// A machine or one of its jobs, what the checks say of it, and what could not be read.
struct DoctorPage {
  std::string machine;  ///< as it was named: a folder, a host; of a job where its log is
  topology::Diagnosis diagnosis;
  std::vector<std::string> notes;
  std::map<std::string, std::string, std::less<>>
      prices{};  ///< by code, of what a model knows (doctor_price)
  bool is_job = false;
};

/// A page for the machine, where the evidence says anything of it, and one for each of its jobs with what
/// its log adds; one page for all where there is one job at most.
[[nodiscard]] std::vector<DoctorPage> doctor_pages(topology::Evidence evidence, const std::string& machine);

/// "text", "md" and "json".
[[nodiscard]] std::vector<std::string> doctor_formats();

/// The findings with their evidence, the worst first; then how many checks were healthy, and which had no
/// evidence. Throws std::out_of_range for a format that doctor_formats() does not list.
[[nodiscard]] std::string report(const DoctorPage& page, std::string_view format, const TextOptions& options);

/// Of several machines: a line each, those with the worst findings first, then the findings of each. Formats
/// and exceptions as report(); JSON has their pages as "machines". Before them, or as "fleet", what a fleet
/// file was compared with, else the machines whose evidence could not be read ("not_read").
[[nodiscard]] std::string fleet_report(const std::vector<DoctorPage>& pages,
                                       const std::optional<FleetComparison>& fleet,
                                       const std::vector<Error>& not_read, std::string_view format,
                                       const TextOptions& options);

/// "3 machines: 1 with something broken, 0 slow, 1 at risk, 1 without a finding".
[[nodiscard]] std::string fleet_summary(const std::vector<DoctorPage>& pages);

[[nodiscard]] std::string findings_text(const DoctorPage& page, const TextOptions& options);

/// "2 findings (1 broken), 9 healthy, 22 not known".
[[nodiscard]] std::string doctor_summary(const topology::Diagnosis& diagnosis);

/// All checks: what each looks at, and where it is known from. "md" is the table of
/// docs/notes/doctor-checks.md.
[[nodiscard]] std::string doctor_catalog(std::string_view format, const TextOptions& options);

}  // namespace collbench::analysis
