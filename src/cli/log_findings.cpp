#include "src/cli/log_findings.hpp"

#include <fmt/format.h>

#include <fstream>

#include "analysis/doctor/doctor_report.hpp"
#include "base/error.hpp"
#include "topology/doctor/checks.hpp"

namespace collbench::program {
namespace {

/// A record, or what nccl-tests wrote with -J: no log.
bool is_json(const std::string& file) {
  std::ifstream input(file);
  char first = ' ';
  input >> first;
  return first == '{' || first == '[';
}

/// Of a file that no check can use, nothing. What a log also says of its machine is not asked here.
std::vector<topology::DoctorFinding> findings_in(const std::string& file) {
  try {
    std::vector<topology::DoctorFinding> findings =
        topology::diagnose(topology::read_evidence(file)).findings;
    std::erase_if(findings,
                  [](const topology::DoctorFinding& each) { return !each.check.needs.starts_with("a log"); });
    return findings;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

void append_log_findings(const std::vector<std::string>& files, bool for_a_person, std::string& text,
                         std::vector<std::string>& notes) {
  for (const std::string& file : files) {
    if (file == "-" || is_json(file)) continue;
    analysis::DoctorPage page;
    page.machine = "collbench doctor, of " + file;
    page.diagnosis.findings = findings_in(file);
    if (page.diagnosis.findings.empty()) continue;
    if (for_a_person) {
      text += "\n" + analysis::findings_text(page, {});
    } else {
      for (const topology::DoctorFinding& each : page.diagnosis.findings)
        notes.push_back(fmt::format("{}: {} ({}): {}", file, each.check.code,
                                    doctor_severity_name(each.check.severity), each.check.reason));
    }
  }
}

}  // namespace collbench::program
