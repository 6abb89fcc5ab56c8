#include "src/run/host_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <list>
#include <span>
#include <string_view>
#include <utility>

#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"
#include "base/text_input.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "src/run/cluster.hpp"
#include "topology/doctor/nccl_messages.hpp"
#include "topology/readers/gather_live.hpp"

namespace collbench::program {
namespace {

constexpr std::size_t kMaxNotes = 2;  // of at most six lines before the tables
constexpr std::size_t kMaxHostsNamed = 4;
constexpr std::size_t kMaxCandidates = 4;

bool is_one_of(std::span<const topology::DoctorCheck> checks, std::string_view code) {
  return std::ranges::any_of(checks,
                             [code](const topology::DoctorCheck& check) { return check.code == code; });
}

/// What slows ranks on host memory as well.
bool concerns_host_memory(std::string_view code) {
  return is_one_of(topology::kernel_checks(), code) || is_one_of(topology::network_checks(), code);
}

std::string hosts_in_words(const std::vector<std::string>& hosts) {
  if (hosts.size() > kMaxHostsNamed) return counted(hosts.size(), "host");
  return fmt::format("{}", fmt::join(hosts, ", "));
}

std::string findings_message(const std::vector<HostFinding>& findings) {
  Json message = Json::array();
  for (const HostFinding& each : findings)
    message.push_back({each.code, static_cast<int>(each.severity), each.seen, each.hosts});
  return json_line(message);
}

void add_finding(std::vector<HostFinding>& all, HostFinding finding) {
  const auto same = std::ranges::find(all, finding.code, &HostFinding::code);
  if (same == all.end()) {
    all.push_back(std::move(finding));
  } else {
    same->hosts.insert(same->hosts.end(), finding.hosts.begin(), finding.hosts.end());
  }
}

/// Of all hosts, the worst first, on rank 0; empty on the others. Collective.
std::vector<HostFinding> gather_findings(launch::Ranks& ranks, const std::vector<HostFinding>& own) {
  std::vector<HostFinding> all;
  for (const std::string& message : ranks.gather(own.empty() ? "" : findings_message(own))) {
    if (message.empty()) continue;
    for (const auto& each : parse_json(message, "doctor"))
      add_finding(
          all, {each.at(0).get<std::string>(), static_cast<topology::DoctorSeverity>(each.at(1).get<int>()),
                each.at(2).get<std::string>(), each.at(3).get<std::vector<std::string>>()});
  }
  std::list<HostFinding> by_severity(all.begin(), all.end());  // whose sort is stable
  by_severity.sort([](const HostFinding& a, const HostFinding& b) { return a.severity < b.severity; });
  return {by_severity.begin(), by_severity.end()};
}

}  // namespace

std::vector<HostFinding> findings_here(const topology::Host& host, const std::string& name, bool on_gpus) {
  topology::Evidence evidence;
  try {
    evidence = topology::live_evidence(host, topology::LiveScope::files);
  } catch (const Error&) {
    return {};  // what is not understood here is no reason to end a run
  }
  std::vector<HostFinding> findings;
  for (const topology::DoctorFinding& each : topology::diagnose(evidence).findings) {
    if (each.check.severity == topology::DoctorSeverity::risk) continue;
    if (!on_gpus && !concerns_host_memory(each.check.code)) continue;
    if (each.check.code == "cpus-far")
      continue;  // a launcher binds this rank; others of the host may be near
    findings.push_back({std::string(each.check.code),
                        each.check.severity,
                        one_line(each.observations.front().what),
                        {name}});
  }
  return findings;
}

ExaminedCluster examine_cluster(launch::Ranks& ranks, const Identities& machines, bool on_gpus) {
  const std::string& name = machines.at(static_cast<std::size_t>(ranks.rank())).host;
  std::vector<HostFinding> own;  // on the first rank of each node
  ExaminedCluster examined;
  examined.cluster = gather_cluster(ranks, machines, [&] {
    topology::Host host = topology::gather_live();
    own = findings_here(host, name, on_gpus);
    return host;
  });
  examined.findings = gather_findings(ranks, own);
  return examined;
}

std::vector<std::string> finding_notes(const std::vector<HostFinding>& findings) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < std::min(kMaxNotes, findings.size()); ++i) {
    const HostFinding& each = findings[i];
    std::string more;
    if (i + 1 == kMaxNotes && findings.size() > kMaxNotes)
      more = fmt::format("; and {} more", findings.size() - kMaxNotes);
    notes.push_back(fmt::format("{} on {} ({}): {}{}; see collbench doctor there", each.code,
                                hosts_in_words(each.hosts), doctor_severity_name(each.severity),
                                excerpt(each.seen, 80), more));
  }
  return notes;
}

std::string finding_candidates(const std::vector<HostFinding>& findings) {
  if (findings.empty()) return {};
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(kMaxCandidates, findings.size()); ++i)
    words.push_back(fmt::format("{} on {}", findings[i].code, hosts_in_words(findings[i].hosts)));
  if (findings.size() > kMaxCandidates)
    words.push_back(fmt::format("{} more", findings.size() - kMaxCandidates));
  return fmt::format("Also seen (collbench doctor), whether or not it is the cause: {}.",
                     fmt::join(words, ", "));
}

std::string note_findings(const std::vector<HostFinding>& findings, std::vector<std::string>& notes) {
  for (std::string& note : finding_notes(findings)) notes.push_back(std::move(note));
  return finding_candidates(findings);
}

Error with_doctors_advice(const Error& error) {
  if (error.where() != "NCCL") return error;
  // A line for each warning, as in a log.
  std::string log = error.what();
  constexpr std::string_view kBetween = "; NCCL WARN";
  for (std::size_t at = log.find(kBetween); at != std::string::npos; at = log.find(kBetween, at))
    log.replace(at, 2, "\n");
  topology::Evidence evidence;
  static_cast<void>(topology::add_evidence(evidence, log, "NCCL", "nccl-log"));
  const topology::LogMessages messages = topology::read_log_messages(evidence);
  for (const topology::DoctorCheck& check : topology::log_message_checks()) {
    const bool is_cause = check.code != "log-cause-unknown" && !check.code.starts_with("log-unknown-");
    if (!is_cause || !messages.said.contains(check.code)) continue;
    return {error.status(), error.where(), error.what(),
            fmt::format("{} ({}, as collbench doctor calls it: {}); {}", check.fix, check.code, check.reason,
                        error.next_step())};
  }
  return error;
}

}  // namespace collbench::program
