#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/criteria.hpp"
#include "analysis/report/exposition.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/sections.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/text_sinks.hpp"

// JUnit's XML as Jenkins and GitLab read it (github.com/jenkinsci/xunit-plugin, junit-10.xsd; GitLab, "Unit
// test reports"): a test case for each row, so that a pipeline names the row that failed.

namespace collbench::analysis {
namespace {

struct JunitCounts {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t skipped = 0;
};

/// All that is wrong in one element, since readers take one of a case.
std::string junit_failure(const std::vector<std::string>& texts, JunitCounts& counts) {
  if (texts.empty()) return "";
  ++counts.failures;
  std::string body;
  for (const std::string& text : texts) body += (body.empty() ? "" : "\n") + xml_text(text);
  return fmt::format("      <failure message=\"{}\">{}</failure>\n", xml_text(texts.front()), body);
}

std::string junit_skipped(const std::string& why, JunitCounts& counts) {
  ++counts.skipped;
  return fmt::format("      <skipped message=\"{}\"/>\n", xml_text(why));
}

std::string junit_row(const Run& run, std::size_t index, const RunCheck& check, JunitCounts& counts) {
  const Measurement& measured = run.rows[index].measurement;
  std::vector<std::string> texts;
  for (const RunFailure& failure : check.failures) {
    if (failure.is_verdict) continue;
    if (std::ranges::find(failure.rows, index) != failure.rows.end()) texts.push_back(failure.text);
  }
  std::string content = junit_failure(texts, counts);
  if (content.empty() && !measured.unavailable.empty()) {
    content = junit_skipped("not available: " + measured.unavailable, counts);
  } else if (content.empty() && !(measured.seconds > 0)) {
    content = junit_skipped("not measured: the run ended before this row", counts);
  }
  ++counts.tests;
  return junit_case(std::string(operation(measured.key.operation).name), format_row(measured.key),
                    measured.seconds, content);
}

/// A case for the verdict of each series, which no row has by itself, and one for the machine. What is
/// neither SOUND nor a failure is skipped.
std::string junit_verdicts(const Run& run, const RunCheck& check, bool accept, JunitCounts& counts) {
  std::string cases;
  const auto add = [&](const std::string& name, VerdictWord word, const std::vector<std::string>& failures,
                       const std::string& why) {
    std::string content = junit_failure(failures, counts);
    if (content.empty() && word != VerdictWord::sound) content = junit_skipped(why, counts);
    ++counts.tests;
    cases += junit_case("verdict", name, 0, content);
  };
  std::vector<std::string> all;
  for (const RunFailure& failure : check.failures)
    if (failure.is_verdict && failure.rows.empty()) all.push_back(failure.text);
  if (!is_judged(run)) {
    if (accept)
      add("the machine", VerdictWord::none, {"there is nothing to judge: no row has a verdict"}, "");
    return cases;
  }
  for (const SizeSeries& series : verdict_series_of(run.rows)) {
    const Row& last = *series.back();
    std::vector<std::string> failures;
    for (const RunFailure& failure : check.failures)
      if (failure.is_verdict && !failure.rows.empty() && in_series(run.rows[failure.rows.front()], series))
        failures.push_back(failure.text);
    all.insert(all.end(), failures.begin(), failures.end());
    const RowKey& key = last.measurement.key;
    add(fmt::format("{} {}", operation(key.operation).name, traits(key.type).name), last.verdict.word,
        failures, fmt::format("{}: {}", name(last.verdict.word), last.verdict.explanation));
  }
  const ReportLines headline = verdict_headline(run);
  add("the machine", machine_word(run), all, headline.empty() ? "" : headline.front().text);
  return cases;
}

/// What is no row's: stragglers, nodes, a minimum that nothing was measured for, a run that was cut short.
std::string junit_run(const Run& run, const RunCheck& check, JunitCounts& counts) {
  std::vector<std::string> texts;
  for (const RunFailure& failure : check.failures) {
    if (failure.rows.empty() && !failure.is_verdict) texts.push_back(failure.text);
  }
  if (run.incident) {
    texts.push_back(run.incident->sentence);
  } else if (!run.complete) {
    texts.emplace_back("the run was cut short, or is still going: its record is not complete");
  }
  ++counts.tests;
  return junit_case("run", "the whole run", run.wall_seconds, junit_failure(texts, counts));
}

std::string junit_property(std::string_view name, std::string_view value) {
  return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, xml_text(value));
}

}  // namespace

std::string junit_case(const std::string& group, const std::string& name, double seconds,
                       const std::string& content) {
  const std::string time = seconds > 0 ? fmt::format(R"( time="{}")", seconds) : "";
  const std::string head = fmt::format(R"(    <testcase classname="collbench.{}" name="{}"{})",
                                       xml_text(group), xml_text(name), time);
  return content.empty() ? head + "/>\n" : fmt::format("{}>\n{}    </testcase>\n", head, content);
}

std::string report_junit(const Run& run, const TextOptions& options) {
  const RunCheck check = check_run(run, options.criteria);
  JunitCounts counts;
  std::string cases;
  for (std::size_t i = 0; i < run.rows.size(); ++i) cases += junit_row(run, i, check, counts);
  cases += junit_verdicts(run, check, options.criteria.accept, counts) + junit_run(run, check, counts);
  std::string properties = junit_property("collbench", run.versions.collbench) +
                           junit_property("label", run.label) + junit_property("backend", name(run.backend)) +
                           junit_property("ranks", fmt::to_string(run.ranks.size())) +
                           junit_property("schema_version", fmt::to_string(run.schema_version));
  if (run.gpus_simulated) properties += junit_property("gpus_simulated", kSimulatedGpus);
  if (!run.versions.nccl.empty()) properties += junit_property("nccl", run.versions.nccl);
  for (const std::string& each : check.not_known) properties += junit_property("not known", each);
  const std::string suite = run.label.empty() ? "collbench" : "collbench " + run.label;
  const std::string started =
      run.started.ends_with('Z') ? run.started.substr(0, run.started.size() - 1) : run.started;
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{}\" "
      "timestamp=\"{}\" hostname=\"{}\">\n    <properties>\n{}    </properties>\n{}  "
      "</testsuite>\n</testsuites>\n",
      xml_text(suite), counts.tests, counts.failures, counts.skipped, run.wall_seconds, xml_text(started),
      run.ranks.empty() ? "" : xml_text(run.ranks.front().host), properties, cases);
}

}  // namespace collbench::analysis
