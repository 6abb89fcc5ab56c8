#include "analysis/doctor/doctor_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

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
constexpr int kIndent = 10;

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

/// What is said of a finding, as label and words.
std::vector<std::pair<std::string_view, std::string>> finding_lines(const DoctorPage& page,
                                                                    const DoctorFinding& finding) {
  std::vector<std::pair<std::string_view, std::string>> lines;
  lines.emplace_back("", finding.check.reason);
  for (std::string& seen : seen_of(finding)) lines.emplace_back("seen: ", std::move(seen));
  if (const auto price = page.prices.find(finding.check.code); price != page.prices.end())
    lines.emplace_back("cost: ", price->second);
  lines.emplace_back("confirm: ", finding.check.confirm);
  lines.emplace_back("fix: ", finding.fix);
  lines.emplace_back("known from: ", finding.check.source);
  return lines;
}

/// The checks without evidence, by what would be evidence.
std::map<std::string_view, std::vector<std::string_view>> missing_evidence(const Diagnosis& diagnosis) {
  std::map<std::string_view, std::vector<std::string_view>> missing;
  for (const DoctorCheck& check : diagnosis.not_known) missing[check.needs].push_back(check.code);
  return missing;
}

std::string findings_only(const DoctorPage& page, int width) {
  std::string text;
  const std::string indent(kIndent, ' ');
  for (const DoctorFinding& finding : page.diagnosis.findings) {
    text += fmt::format("\n{:<{}}{}\n", doctor_severity_name(finding.check.severity), kIndent,
                        finding.check.code);
    for (const auto& [label, words] : finding_lines(page, finding))
      text += wrap(words, width, indent + std::string(label), indent + "  ");
  }
  return text;
}

std::string text_page(const DoctorPage& page, const TextOptions& options) {
  const int width = options.columns;
  std::string text =
      fmt::format("{}: {}\n", page.machine, doctor_summary(page.diagnosis)) + findings_only(page, width);
  // A machine without a finding is one line.
  if (!page.diagnosis.findings.empty())
    text += fmt::format("\n{} healthy, {} not known for want of evidence (--format json)\n",
                        counted(page.diagnosis.healthy.size(), "check"), page.diagnosis.not_known.size());
  for (const std::string& note : notes_of(page)) text += wrap(note, width, "note: ", "  ");
  return page_text(text);
}

std::string markdown_page(const DoctorPage& page) {
  std::string text =
      fmt::format("**{}**: {}\n\n", markdown_text(page.machine), doctor_summary(page.diagnosis));
  if (!page.diagnosis.findings.empty()) text += "| severity | finding | seen | fix |\n|-|-|-|-|\n";
  for (const DoctorFinding& finding : page.diagnosis.findings) {
    std::vector<std::string> seen = seen_of(finding);
    for (std::string& each : seen) each = markdown_text(each);
    text += fmt::format("| {} | {}: {} | {} | {} |\n", doctor_severity_name(finding.check.severity),
                        finding.check.code, markdown_text(finding.check.reason), fmt::join(seen, "; "),
                        markdown_text(finding.fix));
  }
  for (const auto& [needs, codes] : missing_evidence(page.diagnosis))
    text += fmt::format("\nNot known without {}: {}.\n", markdown_text(needs), fmt::join(codes, ", "));
  for (const std::string& note : notes_of(page)) text += fmt::format("\nNote: {}\n", markdown_text(note));
  return text;
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
  if (format == "text") return text_page(page, options);
  if (format == "md") return markdown_page(page);
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
                         std::string_view format, const TextOptions& options) {
  if (format == "json") {
    Json json{{"machines", array_of(pages, json_of)}};
    if (fleet) json["fleet"] = fleet_check_json(*fleet);
    return json_document(json);
  }
  std::vector<const DoctorPage*> worst_first;
  for (const DoctorPage& page : pages) worst_first.push_back(&page);
  std::ranges::sort(worst_first, [](const DoctorPage* a, const DoctorPage* b) {
    return std::pair(badness_rank(*a), a) < std::pair(badness_rank(*b), b);  // equal ones as they came
  });
  const bool text = format == "text";
  std::string lines = fleet ? fleet_check_lines(*fleet, format, options) : "";
  if (pages.empty()) return text ? page_text(lines) : lines;  // no evidence of a fleet's hosts was read
  lines += text ? fleet_summary(pages) + "\n" : fmt::format("**{}**\n\n", fleet_summary(pages));
  std::string details;
  for (const DoctorPage* page : worst_first) {
    lines += text ? wrap(machine_line(*page), options.columns, "", "  ")
                  : fmt::format("- {}\n", markdown_text(machine_line(*page)));
    if (page->diagnosis.findings.empty()) continue;
    details += "\n" + report(*page, format, options);
  }
  return text ? page_text(lines) + details : lines + details;
}

std::string findings_text(const DoctorPage& page, const TextOptions& options) {
  return page_text(fmt::format("{}: {}\n", page.machine, counted(page.diagnosis.findings.size(), "finding")) +
                   findings_only(page, options.columns));
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
