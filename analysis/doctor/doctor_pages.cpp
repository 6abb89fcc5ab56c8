// doctor_pages() of doctor_report.hpp: which machine or job a finding is of.
#include <algorithm>
#include <utility>

#include "analysis/doctor/doctor_report.hpp"
#include "analysis/verdict/finding_cost.hpp"
#include "topology/doctor/jobs.hpp"

namespace collbench::analysis {
namespace {

DoctorPage page_of(const topology::Evidence& evidence, std::string machine) {
  DoctorPage page;
  page.diagnosis = topology::diagnose(evidence);
  page.machine = std::move(machine);
  page.notes = evidence.notes;
  for (const topology::DoctorFinding& finding : page.diagnosis.findings)
    if (std::string price = doctor_price(evidence.host, finding.check.code); !price.empty())
      page.prices.emplace(finding.check.code, std::move(price));
  return page;
}

}  // namespace

std::vector<DoctorPage> doctor_pages(topology::Evidence evidence, const std::string& machine) {
  std::vector<topology::JobEvidence> jobs = topology::jobs_in(evidence);
  if (jobs.empty()) return {page_of(evidence, machine)};
  evidence.lines.erase("nccl-log");
  evidence.whole.erase("nccl-log");
  std::vector<DoctorPage> pages{page_of(evidence, machine)};
  for (topology::JobEvidence& job : jobs) {
    job.evidence.notes.clear();
    DoctorPage page = page_of(job.evidence, job.name);
    page.is_job = true;
    std::erase_if(page.diagnosis.findings, [&](const topology::DoctorFinding& each) {
      const auto& known = pages.front().diagnosis.findings;
      return std::ranges::any_of(known, [&](const topology::DoctorFinding& of_machine) {
        return of_machine.check.code == each.check.code &&
               of_machine.observations.size() == each.observations.size();
      });
    });
    pages.push_back(std::move(page));
  }
  if (evidence.lines.empty() && evidence.host.sources.empty()) {
    pages[1].notes = std::move(pages.front().notes);
    pages.erase(pages.begin());
  }
  return pages;
}

}  // namespace collbench::analysis
