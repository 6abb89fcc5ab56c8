#include "topology/doctor/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "topology/doctor/log_line.hpp"
#include "topology/doctor/look.hpp"
#include "topology/doctor/nccl_messages.hpp"

namespace collbench::topology {

std::string_view doctor_severity_name(DoctorSeverity severity) {
  constexpr std::array<std::string_view, 3> kNames{"broken", "slow", "risk"};
  return kNames.at(static_cast<std::size_t>(severity));
}

std::vector<DoctorCheck> doctor_checks() {
  std::vector<DoctorCheck> all;
  for (const std::span<const DoctorCheck> theme :
       {pcie_checks(), kernel_checks(), gpu_checks(), kernel_log_checks(), network_checks(),
        network_setup_checks(), setting_checks(), version_checks(), log_checks(), rank_checks(),
        log_message_checks()})
    all.insert(all.end(), theme.begin(), theme.end());
  return all;
}

namespace {

DoctorVerdict verdict_of(const DoctorCheck& check, const Evidence& evidence, const LogMessages& log) {
  if (check.look != nullptr) return check.look(evidence);
  if (const auto said = log.said.find(check.code); said != log.said.end()) return said->second;
  return healthy_if(evidence.whole.contains("nccl-log"));
}

std::string fix_of(const DoctorCheck& check, const Evidence& evidence) {
  const std::string here = check.fix_here != nullptr ? check.fix_here(evidence) : "";
  return here.empty() ? std::string(check.fix) : here;
}

/// Files that name no communicator may be of several jobs, of which each would clear the others.
bool may_be_of_several_jobs(const std::vector<EvidenceLine>& log) {
  const auto file_of = [](const EvidenceLine& line) {
    return std::string_view(line.location).substr(0, line.location.rfind(':'));
  };
  return !log.empty() && file_of(log.front()) != file_of(log.back()) &&
         std::ranges::none_of(log,
                              [](const EvidenceLine& line) { return !communicator_of(line.text).empty(); });
}

/// What a reader of a log's findings should know of that log.
std::vector<std::string> log_notes(const Evidence& evidence) {
  const std::vector<EvidenceLine>& log = evidence.of("nccl-log");
  const auto has = [&log](std::string_view part) { return any_line_has(log, part); };
  std::vector<std::string> notes;
  const auto version = nccl_version(evidence);
  if (version && (version->code < kFirstKnownNccl || version->code > kLastKnownNccl)) {
    notes.emplace_back(
        "this NCCL is not of 2.18 to 2.31, whose messages are known: what its log does not say clears "
        "nothing");
  } else if (!version && has("RCCL version")) {
    notes.emplace_back(
        "the log is of RCCL, which has wordings of its own: what it does not say clears nothing");
  } else if (!version && has("NCCL INFO")) {
    notes.emplace_back("the log does not name NCCL's version: what it does not say clears nothing");
  }
  if (may_be_of_several_jobs(log))
    notes.emplace_back(
        "these logs name no communicator, so they may be of several jobs: what they do not say clears "
        "nothing; give the logs of each job separately");
  if (const auto ranks = ranks_heard(log); ranks && ranks->heard < ranks->all)
    notes.push_back(fmt::format(
        "of {} ranks {} wrote nothing of NCCL's start here: what the log does not say clears nothing",
        ranks->all, ranks->all - ranks->heard));
  const LocalConnections local = local_connections(evidence);
  if (local.by_memory > 1 && local.peer_to_peer == 0 && !local.expects_nvlink)
    notes.emplace_back(
        "GPUs of one host speak through host memory (SHM): usual where they have no NVLink and no P2P over "
        "PCIe (nvidia-smi topo -p2p r)");
  if (has("# nThread") && has("Init COMPLETE") && !goes_beyond_start(log))
    notes.emplace_back(
        "the log ends after NCCL's start, without a row: a hang in the first collective, or a log that is "
        "cut");
  if (has("out-of-place"))
    notes.emplace_back("the log has a table of nccl-tests: collbench judge says what it means");
  return notes;
}

}  // namespace

Diagnosis diagnose(const Evidence& evidence) {
  const LogMessages log = read_log_messages(evidence);
  Diagnosis diagnosis;
  diagnosis.has_gpus = has_gpus(evidence);
  diagnosis.unknown_lines = log.unknown_lines;
  diagnosis.notes = log_notes(evidence);
  const auto ranks = ranks_heard(evidence.of("nccl-log"));
  const bool clears =
      !may_be_of_several_jobs(evidence.of("nccl-log")) && (!ranks || ranks->heard >= ranks->all);
  std::array<std::vector<DoctorFinding>, 3> by_severity;
  for (const DoctorCheck& check : doctor_checks()) {
    DoctorVerdict verdict = verdict_of(check, evidence, log);
    const bool by_log = check.needs.starts_with("a log");
    if (!verdict || (verdict->empty() && ((check.by_wording && !log.is_understood) || (by_log && !clears)))) {
      diagnosis.not_known.push_back(check);
    } else if (verdict->empty()) {
      diagnosis.healthy.push_back(check);
    } else {
      by_severity.at(static_cast<std::size_t>(check.severity))
          .push_back({check, fix_of(check, evidence), std::move(*verdict)});
    }
  }
  for (std::vector<DoctorFinding>& findings : by_severity)
    diagnosis.findings.insert(diagnosis.findings.end(), findings.begin(), findings.end());
  return diagnosis;
}

}  // namespace collbench::topology
