#include "analysis/doctor/doctor_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "base/document/document.hpp"
#include "base/document/text_layout.hpp"
#include "base/record/json_fields.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

using topology::Diagnosis;
using topology::DoctorCheck;
using topology::DoctorFinding;
using topology::DoctorObservation;

/// Of many equal ones the rest is counted.
constexpr std::size_t kMaxObservations = 4;

std::vector<std::string> seen_of(const DoctorFinding& finding) {
  std::vector<std::string> seen;
  for (const DoctorObservation& each : finding.observations) {
    if (seen.size() == kMaxObservations) {
      seen.push_back(fmt::format("and {} more", finding.observations.size() - kMaxObservations));
      break;
    }
    seen.push_back(each.location.empty() ? each.what : fmt::format("{} ({})", each.what, each.location));
  }
  return seen;
}

std::vector<std::string> notes_of(const DoctorPage& page) {
  std::vector<std::string> notes = page.notes;
  notes.insert(notes.end(), page.diagnosis.notes.begin(), page.diagnosis.notes.end());
  return notes;
}

Tone severity_tone(topology::DoctorSeverity severity) {
  switch (severity) {
    case topology::DoctorSeverity::broken:
      return Tone::alarm;
    case topology::DoctorSeverity::slow:
      return Tone::warning;
    case topology::DoctorSeverity::risk:
      return Tone::plain;
  }
  return Tone::plain;
}

ReportFindings findings_of(const DoctorPage& page) {
  ReportFindings findings;
  for (const DoctorFinding& finding : page.diagnosis.findings) {
    const DoctorCheck& check = finding.check;
    ReportFinding& found =
        findings.emplace_back(ReportFinding{std::string(doctor_severity_name(check.severity)),
                                            severity_tone(check.severity), std::string(check.code)});
    found.lines.emplace_back("", check.reason);
    for (std::string& seen : seen_of(finding)) found.lines.emplace_back("seen", std::move(seen));
    if (const auto price = page.prices.find(check.code); price != page.prices.end())
      found.lines.emplace_back("cost", price->second);
    found.lines.emplace_back("confirm", check.confirm);
    found.lines.emplace_back("fix", finding.fix);
    found.lines.emplace_back("known from", check.source);
  }
  return findings;
}

/// The checks without evidence, by what would be evidence.
std::map<std::string_view, std::vector<std::string_view>> missing_evidence(const Diagnosis& diagnosis) {
  std::map<std::string_view, std::vector<std::string_view>> missing;
  for (const DoctorCheck& check : diagnosis.not_known) missing[check.needs].push_back(check.code);
  return missing;
}

/// What stands below a machine's first line. A machine without a finding has its notes alone there.
std::vector<ReportBlock> blocks_of(const DoctorPage& page, bool with_missing) {
  ReportLines lines;
  if (!page.diagnosis.findings.empty() && !with_missing)
    add(lines, "{} healthy, {} not known for want of evidence (--format json)",
        counted(page.diagnosis.healthy.size(), "check"), page.diagnosis.not_known.size());
  if (with_missing)
    for (const auto& [needs, codes] : missing_evidence(page.diagnosis))
      add(lines, "Not known without {}: {}.", needs, fmt::join(codes, ", "));
  for (const std::string& note : notes_of(page)) add(lines, "note: {}", note);
  return {findings_of(page), std::move(lines)};
}

std::string title_of(const DoctorPage& page) {
  return fmt::format("{}: {}", page.machine, doctor_summary(page.diagnosis));
}

Document document_of(const DoctorPage& page, bool with_missing) {
  Document document{page.machine, {{"", blocks_of(page, with_missing)}}, {}, {title_of(page)}};
  if (page.diagnosis.findings.empty()) {
    document.sections.clear();
    document.lead = std::get<ReportLines>(blocks_of(page, with_missing).back());
  }
  return document;
}

Json json_check(const DoctorCheck& check) {
  return {{"code", check.code},       {"severity", doctor_severity_name(check.severity)},
          {"reason", check.reason},   {"needs", check.needs},
          {"confirm", check.confirm}, {"fix", check.fix},
          {"source", check.source}};
}

Json json_of(const DoctorPage& page) {
  Json json{{"machine", page.machine}, {"findings", Json::array()}};
  for (const DoctorFinding& finding : page.diagnosis.findings) {
    Json each = json_check(finding.check);
    each["fix"] = finding.fix;
    const auto price = page.prices.find(finding.check.code);
    each["price"] = price == page.prices.end() ? "not_modeled" : price->second;
    for (const DoctorObservation& observation : finding.observations)
      each["seen"].push_back(
          {{"what", one_line(observation.what)}, {"location", one_line(observation.location)}});
    json["findings"].push_back(std::move(each));
  }
  json["healthy"] = Json::array();
  for (const DoctorCheck& check : page.diagnosis.healthy) json["healthy"].push_back(check.code);
  json["not_known"] = Json::array();
  for (const DoctorCheck& check : page.diagnosis.not_known)
    json["not_known"].push_back({{"code", check.code}, {"needs", check.needs}});
  json["notes"] = notes_of(page);
  return json;
}

/// 0 is broken, 3 without a finding: findings begin with the worst.
std::size_t badness_rank(const DoctorPage& page) {
  constexpr std::size_t kNoFinding = 3;
  return page.diagnosis.findings.empty()
             ? kNoFinding
             : static_cast<std::size_t>(page.diagnosis.findings.front().check.severity);
}

/// "node7: 2 findings (1 broken), …: gpu-lost, acs-on".
std::string machine_line(const DoctorPage& page) {
  std::vector<std::string_view> codes;
  for (const DoctorFinding& finding : page.diagnosis.findings) codes.push_back(finding.check.code);
  return fmt::format("{}: {}{}{}", page.machine, doctor_summary(page.diagnosis), codes.empty() ? "" : ": ",
                     fmt::join(codes, ", "));
}

}  // namespace

std::vector<std::string> doctor_formats() { return {"text", "md", "json"}; }

std::string report(const DoctorPage& page, std::string_view format, const TextOptions& options) {
  if (format == "text") return text(document_of(page, false), {.columns = options.columns});
  if (format == "md") return markdown(document_of(page, true));
  if (format == "json") return json_document(json_of(page));
  throw std::out_of_range("doctor has no format " + std::string(format));
}

std::string fleet_summary(const std::vector<DoctorPage>& pages) {
  std::array<std::size_t, 4> counts{};
  for (const DoctorPage& page : pages) ++counts.at(badness_rank(page));
  const auto jobs = static_cast<std::size_t>(std::ranges::count_if(pages, &DoctorPage::is_job));
  std::vector<std::string> what;
  if (jobs < pages.size()) what.push_back(counted(pages.size() - jobs, "machine"));
  if (jobs > 0) what.push_back(counted(jobs, "job"));
  return fmt::format("{}: {} with something broken, {} slow, {} at risk, {} without a finding",
                     fmt::join(what, ", "), counts[0], counts[1], counts[2], counts[3]);
}

std::string fleet_report(const std::vector<DoctorPage>& pages, const std::optional<FleetComparison>& fleet,
                         const std::vector<Error>& not_read, std::string_view format,
                         const TextOptions& options) {
  if (format == "json") {
    Json json{{"machines", array_of(pages, json_of)}};
    if (fleet)
      json["fleet"] = fleet_check_json(*fleet);
    else if (!not_read.empty())
      json["not_read"] = array_of(not_read, [](const Error& error) { return one_line(error.where()); });
    return json_document(json);
  }
  const bool is_text = format == "text";
  if (!is_text && format != "md") throw std::out_of_range("doctor has no format " + std::string(format));
  std::vector<const DoctorPage*> worst_first;
  for (const DoctorPage& page : pages) worst_first.push_back(&page);
  std::ranges::sort(worst_first, [](const DoctorPage* a, const DoctorPage* b) {
    return std::pair(badness_rank(*a), a) < std::pair(badness_rank(*b), b);  // equal ones as they came
  });
  Document document{"Doctor", {}};
  ReportLines machines;
  for (const DoctorPage* page : worst_first) machines.push_back({machine_line(*page)});
  if (fleet) {
    document.headline = {fleet_check_summary(*fleet)};
    document.lead = fleet_check_lines(*fleet);
    // Without evidence of any of a fleet's hosts there is nothing more.
    if (!pages.empty()) document.sections.push_back({fleet_summary(pages), {std::move(machines)}});
  } else {
    document.headline = {
        not_read.empty()
            ? fleet_summary(pages)
            : fmt::format("{} not read; {}", counted(not_read.size(), "machine"), fleet_summary(pages))};
    for (const Error& error : not_read)
      add(document.lead, Tone::warning, "not read: {}: {}; {}", error.where(), error.what(),
          error.next_step());
    document.lead.insert(document.lead.end(), machines.begin(), machines.end());
  }
  for (const DoctorPage* page : worst_first)
    if (!page->diagnosis.findings.empty())
      document.sections.push_back({title_of(*page), blocks_of(*page, !is_text)});
  return is_text ? text(document, {.columns = options.columns}) : markdown(document);
}

std::string findings_text(const DoctorPage& page, const TextOptions& options) {
  const std::string title =
      fmt::format("{}: {}", page.machine, counted(page.diagnosis.findings.size(), "finding"));
  return text(Document{title, {{"", {findings_of(page)}}}}, {.columns = options.columns});
}

std::string doctor_summary(const Diagnosis& diagnosis) {
  const auto broken = std::ranges::count_if(diagnosis.findings, [](const DoctorFinding& each) {
    return each.check.severity == topology::DoctorSeverity::broken;
  });
  const std::size_t found = diagnosis.findings.size();
  return fmt::format("{}{} finding{}{}{}, {} of {} checks healthy, {} not known",
                     found + diagnosis.healthy.size() == 0       ? "nothing recognized: "
                     : found == 0 && diagnosis.has_gpus == false ? "no NVIDIA GPU seen: "
                                                                 : "",
                     found, found == 1 ? "" : "s", broken > 0 ? fmt::format(" ({} broken)", broken) : "",
                     diagnosis.unknown_lines > 0 ? fmt::format(", {} that no check knows",
                                                               counted(diagnosis.unknown_lines, "error line"))
                                                 : "",
                     diagnosis.healthy.size(), found + diagnosis.healthy.size() + diagnosis.not_known.size(),
                     diagnosis.not_known.size());
}

std::string doctor_catalog(std::string_view format, const TextOptions& options) {
  std::string text;
  if (format == "md")
    text += "| code | severity | what it does to a job | evidence | fix | known from |\n|-|-|-|-|-|-|\n";
  for (const DoctorCheck& check : topology::doctor_checks()) {
    const std::string_view severity = doctor_severity_name(check.severity);
    text += format == "md" ? fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", check.code, severity,
                                         markdown_text(check.reason), markdown_text(check.needs),
                                         markdown_text(check.fix), markdown_text(check.source))
                           : wrap(check.reason, options.columns,
                                  fmt::format("{:<28}{:<7} ", check.code, severity), std::string(36, ' '));
  }
  return text;
}

}  // namespace collbench::analysis
