#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/exposition.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "tools/burnin/attribution/blame_words.hpp"
#include "tools/burnin/attribution/burnin_text.hpp"
#include "tools/burnin/report/burnin_report.hpp"
#include "tools/burnin/report/direction_rates.hpp"

// A burn-in for what runs it: JUnit's XML and Prometheus' text.

namespace collbench::analysis {
namespace {

std::string case_of(std::string_view group, const std::string& name, const std::string& content) {
  return junit_case(fmt::format("burnin.{}", group), name, 0, content);
}

std::string problem(std::string_view element, const std::string& message) {
  return fmt::format("      <{} message=\"{}\"/>\n", element, xml_text(message));
}

std::string matrix_cell(const std::optional<DirectionRate>& rate) {
  if (!rate) return "-";
  return rate->bytes_per_second > 0 ? fmt::format("{:.4g}", rate->bytes_per_second / kGigabyte) : "x";
}

}  // namespace

std::string burnin_junit(const BurninRecord& record) {
  const Attribution found = attribute(record);
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::vector<std::string> held_back;  // what cannot clear them is one failure, of the whole
  std::string cases;
  for (const NodeVerdict& node : found.nodes) {
    const bool is_error = node.bucket == Bucket::not_tested && !node.held_back;
    const bool is_failure = !is_error && node.bucket != Bucket::good && !node.held_back;
    const char* const element = is_error ? "error" : is_failure ? "failure" : "skipped";
    cases += case_of("host", record.table.nodes[slot_of(node.node)],
                     node.bucket == Bucket::good
                         ? ""
                         : problem(element, fmt::format("{}: {}", name(node.bucket), node.why)));
    ++tests;
    failures += is_failure ? 1 : 0;
    errors += is_error ? 1 : 0;
    if (node.held_back) held_back.push_back(node.why);
  }
  std::size_t number = 0;
  for (const Blame& blame : found.blames) {
    if (blame.nodes.size() == 1) continue;
    cases += case_of("finding",
                     fmt::format("{} {} {}", ++number, name(blame.kind),
                                 fmt::join(names_of(record, blame.nodes), " and ")),
                     problem("failure", fmt::format("{}: {}", measure_words(blame), blame.evidence)));
    ++tests;
    ++failures;
  }
  ReportLines missing = missing_lines(record, found);
  std::erase_if(missing, [](const ReportLine& line) { return line.tone == Tone::plain; });
  if (!held_back.empty()) {
    cases += case_of("whole", "times that can clear a host",
                     problem("failure", fmt::format("{} cannot be cleared: {}",
                                                    counted(held_back.size(), "host"), held_back.front())));
    ++tests;
    ++failures;
  }
  cases += case_of("whole", "all that was planned",
                   missing.empty() ? "" : problem("failure", missing.front().text));
  ++tests;
  failures += missing.empty() ? 0 : 1;
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"collbench burnin\" "
      "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}  </testsuite>\n</testsuites>\n",
      tests, failures, errors, held_back.size(), cases);
}

std::string burnin_prometheus(const BurninRecord& record) {
  const Attribution found = attribute(record);
  std::string text = metric_head("collbench_burnin_hosts", "Hosts of the burn-in by bucket.");
  for (const Bucket bucket : {Bucket::good, Bucket::suspect, Bucket::bad, Bucket::not_tested})
    text += fmt::format("collbench_burnin_hosts{{bucket=\"{}\"}} {}\n", name(bucket),
                        names_of(record, found, bucket).size());
  text += metric_head("collbench_burnin_host_bucket", "The bucket of a host, as a label; always 1.");
  for (const NodeVerdict& node : found.nodes)
    text += fmt::format("collbench_burnin_host_bucket{{host=\"{}\",bucket=\"{}\"}} 1\n",
                        label_value(record.table.nodes[slot_of(node.node)]), name(node.bucket));
  std::set<std::string> written;  // a series stands once in a file
  std::string findings;
  std::string ratios;
  for (const Blame& blame : found.blames) {
    const std::string labels =
        fmt::format(R"(kind="{}",hosts="{}",rail="{}",confirmed="{}",against="{}")", name(blame.kind),
                    label_value(fmt::format("{}", fmt::join(names_of(record, blame.nodes), ","))),
                    blame.rail ? fmt::to_string(*blame.rail) : "", blame.confirmed ? 1 : 0,
                    blame.against_expected ? "expected" : "its like");
    if (!written.insert(labels).second) continue;
    findings += fmt::format("collbench_burnin_finding{{{}}} 1\n", labels);
    // What was found by other than times (lost packets, other work on the cores) has no ratio.
    if (blame.measure.empty() && std::isfinite(blame.times_slower))
      ratios += fmt::format("collbench_burnin_finding_slowdown_ratio{{{}}} {}\n", labels, blame.times_slower);
  }
  if (!findings.empty())
    text += metric_head("collbench_burnin_finding", "What was found, as labels; always 1.") + findings;
  if (!ratios.empty())
    text += metric_head("collbench_burnin_finding_slowdown_ratio",
                        "Time over that of its like (or, where against is expected, of what is expected).") +
            ratios;
  const DirectionRates rates = direction_rates(record);
  std::string medians;
  for (int rail = 0; rail < record.table.rails; ++rail) {
    if (const double rate = median_rate(rates, rail); rate > 0)
      medians += fmt::format("collbench_burnin_rail_median_bytes_per_second{{rail=\"{}\"}} {}\n", rail, rate);
  }
  if (!medians.empty())
    text += metric_head("collbench_burnin_rail_median_bytes_per_second",
                        "Median rate of a message one way between two hosts on a rail.") +
            medians;
  if (std::isfinite(found.blind_below) && !record.table.times.empty())
    text += one_metric("collbench_burnin_unseen_below_ratio",
                       "Time over that of its like below which a loss passes unseen.", "",
                       std::exp(found.blind_below));
  const auto count = [&text](const char* what, const char* help, auto value) {
    text += one_metric(fmt::format("collbench_burnin_{}", what), help, "", static_cast<double>(value));
  };
  count("pairs_without_time", "Pairs and rails whose launches gave no time.", record.failures.size());
  count("hosts_not_reached", "Hosts of which no launch gave anything.", nodes_not_reached(record).size());
  count("hosts_without_counters", "Hosts whose error counters were not read.",
        record.without_counters.size());
  count("launcher_errors", "Phases that ended because ranks ran on other hosts.",
        record.launcher_errors.size());
  count("left_out", "Pairs and retests that were left out for want of time.",
        record.left_out + record.retests_left_out);
  return text;
}

std::string burnin_matrix(const BurninRecord& record) {
  const DirectionRates rates = direction_rates(record);
  const int hosts = static_cast<int>(record.table.nodes.size());
  std::size_t width = 6;
  for (const std::string& host : record.table.nodes) width = std::max(width, one_line(host).size());
  std::string text;
  for (int rail = 0; rail < record.table.rails; ++rail) {
    text +=
        fmt::format("{}rail {}, GB/s from each row to each column (-: not measured, x: gave no time)\n{:>{}}",
                    rail > 0 ? "\n" : "", rail, "", width);
    for (const std::string& host : record.table.nodes) text += fmt::format(" {:>{}}", one_line(host), width);
    text += '\n';
    const auto matrix = rate_matrix(rates, hosts, rail);
    for (int from = 0; from < hosts; ++from) {
      text += fmt::format("{:>{}}", one_line(record.table.nodes[slot_of(from)]), width);
      for (int to = 0; to < hosts; ++to) {
        const auto& rate = matrix[slot_of(from) * slot_of(hosts) + slot_of(to)];
        text += fmt::format(" {:>{}}", from == to ? "" : matrix_cell(rate), width);
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace collbench::analysis
