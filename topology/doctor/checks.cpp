#include "topology/doctor/checks.hpp"

#include <array>
#include <utility>

namespace collbench::topology {

std::string_view doctor_severity_name(DoctorSeverity severity) {
  constexpr std::array<std::string_view, 3> kNames{"broken", "slow", "risk"};
  return kNames.at(static_cast<std::size_t>(severity));
}

std::vector<DoctorCheck> doctor_checks() {
  std::vector<DoctorCheck> all;
  for (const std::span<const DoctorCheck> theme :
       {pcie_checks(), kernel_checks(), gpu_checks(), kernel_log_checks(), network_checks(),
        network_setup_checks(), setting_checks(), version_checks(), log_checks(), log_error_checks()})
    all.insert(all.end(), theme.begin(), theme.end());
  return all;
}

Diagnosis diagnose(const Evidence& evidence) {
  Diagnosis diagnosis;
  std::array<std::vector<DoctorFinding>, 3> by_severity;
  for (const DoctorCheck& check : doctor_checks()) {
    DoctorVerdict verdict = check.look(evidence);
    if (!verdict) {
      diagnosis.not_known.push_back(check);
    } else if (verdict->empty()) {
      diagnosis.healthy.push_back(check);
    } else {
      by_severity.at(static_cast<std::size_t>(check.severity)).push_back({check, std::move(*verdict)});
    }
  }
  for (std::vector<DoctorFinding>& findings : by_severity)
    diagnosis.findings.insert(diagnosis.findings.end(), findings.begin(), findings.end());
  return diagnosis;
}

}  // namespace collbench::topology
