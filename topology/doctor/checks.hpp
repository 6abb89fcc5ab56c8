#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/doctor/evidence.hpp"

namespace collbench::topology {

/// What happens when nothing is done, the worst first.
enum class DoctorSeverity {
  broken,  ///< jobs fail or hang
  slow,    ///< jobs lose bandwidth or latency
  risk,    ///< either may happen, depending on what the evidence does not show
};

/// "broken", "slow", "risk".
[[nodiscard]] std::string_view doctor_severity_name(DoctorSeverity severity);

/// What a check saw.
struct DoctorObservation {
  std::string what;      ///< "mlx5_3 port 1: INIT", or the line itself in quotes
  std::string location;  ///< "FILE:LINE"; empty where it was combined from several
};

/// Nothing where the evidence that the check needs is not there: neither healthy nor a finding.
using DoctorVerdict = std::optional<std::vector<DoctorObservation>>;

/// One thing that costs bandwidth or breaks jobs, and how to tell from text.
struct DoctorCheck {
  std::string_view code;  ///< never renamed: scripts go by it
  DoctorSeverity severity;
  std::string_view reason;                          ///< what it does to a job, a sentence
  std::string_view needs;                           ///< the evidence, for a person: "lspci -vvv (as root)"
  std::string_view confirm;                         ///< a command for the machine
  std::string_view fix;                             ///< what to do
  std::string_view source;                          ///< where this is known from
  DoctorVerdict (*look)(const Evidence& evidence);  ///< none: of log_message_checks()
  /// Whether it goes by what NCCL says: a log of a version whose wordings are not known clears nothing.
  bool by_wording = false;
  /// What to do on this machine, where that depends on it; none, or an empty answer: `fix`.
  std::string (*fix_here)(const Evidence& evidence) = nullptr;
};

/// All of them, by theme, as docs/notes/doctor-checks.md lists them.
[[nodiscard]] std::vector<DoctorCheck> doctor_checks();

// The checks by theme; each is defined in the file of its name.
[[nodiscard]] std::span<const DoctorCheck> pcie_checks();
[[nodiscard]] std::span<const DoctorCheck> kernel_checks();
[[nodiscard]] std::span<const DoctorCheck> gpu_checks();
[[nodiscard]] std::span<const DoctorCheck> network_checks();
[[nodiscard]] std::span<const DoctorCheck> network_setup_checks();
[[nodiscard]] std::span<const DoctorCheck> setting_checks();
[[nodiscard]] std::span<const DoctorCheck> version_checks();
[[nodiscard]] std::span<const DoctorCheck> log_checks();
[[nodiscard]] std::span<const DoctorCheck> rank_checks();
[[nodiscard]] std::span<const DoctorCheck> log_message_checks();
[[nodiscard]] std::span<const DoctorCheck> kernel_log_checks();

/// What all checks say of one machine.
struct DoctorFinding {
  DoctorCheck check;
  std::string fix;                              ///< for this machine
  std::vector<DoctorObservation> observations;  ///< at least one
};
struct Diagnosis {
  std::vector<DoctorFinding> findings;  ///< the worst first
  std::vector<DoctorCheck> healthy;
  std::vector<DoctorCheck> not_known;  ///< the evidence is missing
  std::optional<bool> has_gpus;        ///< none where nothing says
  std::size_t unknown_lines = 0;       ///< of a job's log, which warn and which no check knows
  std::vector<std::string> notes;      ///< what else a log has, or why it clears nothing
};
[[nodiscard]] Diagnosis diagnose(const Evidence& evidence);

}  // namespace collbench::topology
