#include <fmt/format.h>
#include <gmock/gmock.h>

#include <pugixml.hpp>
#include <string>

#include "tests/base/lines.hpp"
#include "tools/burnin/attribution/burnin_text.hpp"
#include "tools/burnin/report/burnin_report.hpp"
#include "tools/burnin/tests/attribution/made_burnin.hpp"

namespace collbench::analysis::burnin_checks_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// n4 sends at half on rail 1, n2 has no rail 0, n5 gave no time at all, and n0 with n1 is slow on rail 0.
BurninRecord example() {
  BurninRecord record = made_burnin(8, 2, [](int from, int to, int rail) {
    if (rail == 0 && from + to == 1) return 1.5;
    return from == 4 && rail == 1 ? 2.0 : 1;
  });
  lose_rail(record, 2, 0);
  lose_rail(record, 5, 0);
  lose_rail(record, 5, 1);
  return record;
}

TEST(BurninJunit, HasACaseForEachHostAndForWhatIsNoHosts) {
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(burnin_junit(example()).c_str()));
  const pugi::xml_node suite = document.child("testsuites").child("testsuite");
  int cases = 0;
  int failures = 0;
  int errors = 0;
  for (const pugi::xml_node& each : suite.children("testcase")) {
    ++cases;
    failures += each.child("failure") ? 1 : 0;
    errors += each.child("error") ? 1 : 0;
  }
  EXPECT_EQ(suite.attribute("tests").as_int(), cases);
  EXPECT_EQ(suite.attribute("failures").as_int(), failures);
  EXPECT_EQ(suite.attribute("errors").as_int(), errors);
  EXPECT_EQ(errors, 1);
  const auto host = [&suite](const char* name) {
    return suite.find_child_by_attribute("testcase", "name", name);
  };
  EXPECT_FALSE(host("n3").first_child());
  EXPECT_THAT(host("n4").child("failure").attribute("message").as_string(),
              HasSubstr("bad: n4 rail 1: compared with the rail's median it takes 100"));
  EXPECT_THAT(host("n5").child("error").attribute("message").as_string(), HasSubstr("no <active> port"));
  EXPECT_THAT(host("1 path n0 and n1").child("failure").attribute("message").as_string(),
              HasSubstr("1.50 times"));
  EXPECT_TRUE(host("all that was planned").child("failure"));
}

TEST(BurninJunit, OfAHealthyFleetNothingFails) {
  const std::string text = burnin_junit(made_burnin(6, 1, [](int, int, int) { return 1.0; }));
  EXPECT_THAT(text, HasSubstr("tests=\"7\" failures=\"0\" errors=\"0\""));
}

TEST(BurninJunit, OfANoisyFleetOnlyTheWholeFails) {
  const std::string text = burnin_junit(scattered_burnin());
  EXPECT_THAT(text, HasSubstr("tests=\"8\" failures=\"1\" errors=\"0\" skipped=\"6\""));
  EXPECT_THAT(text, HasSubstr("<skipped message=\"suspect: not known: what takes less than"));
  EXPECT_THAT(text, HasSubstr("<failure message=\"6 hosts cannot be cleared: not known: what takes less"));
}

TEST(BurninJunit, WhatAHeldBackHostShowsItselfFailsIt) {
  BurninRecord record = scattered_burnin();
  record.rises = {{"pairs", "n2", "mlx5_0/1 link_downed", 0, 50, 30}};
  const std::string text = burnin_junit(record);
  EXPECT_THAT(text, HasSubstr("skipped=\"5\""));
  EXPECT_THAT(text, HasSubstr("<failure message=\"suspect: its errors went up: n2 mlx5_0/1 link_downed"));
}

TEST(BurninDrain, HasALineForEachBadHostWithItsReason) {
  const std::string lines = drain_lines(example());
  EXPECT_THAT(
      lines_of(lines),
      testing::ElementsAre(
          testing::StartsWith("scontrol update NodeName=n2 State=DRAIN Reason='collbench burnin: 7 of 7"),
          testing::StartsWith("scontrol update NodeName=n4 State=DRAIN Reason='collbench burnin: n4 rail")));
}

TEST(BurninJson, HasAResultForEachHost) {
  const std::string json = burnin_json(example());
  EXPECT_THAT(json, HasSubstr("\"node\": \"n3\",\n      \"result\": \"PASSED\""));
  EXPECT_THAT(json, HasSubstr("\"node\": \"n4\",\n      \"result\": \"FAILED\""));
  EXPECT_THAT(json, HasSubstr("\"node\": \"n5\",\n      \"result\": \"INCOMPLETE\""));
}

TEST(BurninPrometheus, HasBucketsFindingsAndRatesInBaseUnits) {
  const auto lines = lines_of(burnin_prometheus(example()));
  EXPECT_THAT(lines, Contains("# TYPE collbench_burnin_hosts gauge"));
  EXPECT_THAT(lines, Contains("collbench_burnin_hosts{bucket=\"not tested\"} 1"));
  EXPECT_THAT(lines, Contains("collbench_burnin_host_bucket{host=\"n4\",bucket=\"bad\"} 1"));
  EXPECT_THAT(lines,
              Contains(HasSubstr(
                  "collbench_burnin_finding_slowdown_ratio{kind=\"NIC, transmit\",hosts=\"n4\",rail=\"1\","
                  "confirmed=\"1\",against=\"its like\"} ")));
  EXPECT_THAT(lines, Contains(HasSubstr("collbench_burnin_rail_median_bytes_per_second{rail=\"1\"} ")));
  EXPECT_THAT(lines, Contains("collbench_burnin_pairs_without_time 21"));
  EXPECT_THAT(lines, Contains("collbench_burnin_left_out 0"));
  for (const std::string& line : lines) EXPECT_THAT(line, Not(HasSubstr("nan")));
}

TEST(BurninFormats, EachCountsWhoDidNotAnswer) {
  BurninRecord record = made_burnin(6, 1, [](int, int, int) { return 1.0; });
  lose_rail(record, 5, 0);
  record.without_counters = {{"n1", "exit status 255"}, {"n2", "exit status 255"}};
  record.launcher_errors = {{"phase nodes", "--group-launcher: a rank ran on n9"}};
  const char* const words =
      "6 nodes: 5 good, 0 suspect, 0 bad, 1 not tested; 1 not reached; error counters of 2 not read; phase "
      "nodes "
      "ended by its launcher";
  for (const std::string& document : {burnin_text(record, 500), burnin_html(record), burnin_svg(record)})
    EXPECT_THAT(document, HasSubstr(words));
  const std::string json = burnin_json(record);
  EXPECT_THAT(json, HasSubstr(fmt::format("\"summary\": \"{}\"", words)));
  EXPECT_THAT(json, HasSubstr("\"not_reached\": [\n    \"n5\"\n  ]"));
  EXPECT_THAT(burnin_junit(record),
              HasSubstr("message=\"phase nodes ended by --group-launcher: a rank ran on n9\""));
  const auto lines = lines_of(burnin_prometheus(record));
  EXPECT_THAT(lines, Contains("collbench_burnin_hosts_not_reached 1"));
  EXPECT_THAT(lines, Contains("collbench_burnin_hosts_without_counters 2"));
  EXPECT_THAT(lines, Contains("collbench_burnin_launcher_errors 1"));
}

TEST(BurninMatrix, HasARowForEachSender) {
  BurninRecord record = example();
  std::erase_if(record.table.times, [](const RailTime& time) { return time.rail == 1 && time.to == 7; });
  const auto lines = lines_of(burnin_matrix(record));
  ASSERT_EQ(lines.size(), 21U);
  EXPECT_EQ(lines[1], "           n0     n1     n2     n3     n4     n5     n6     n7");
  EXPECT_THAT(lines[2], HasSubstr("    n0        0.6666"));
  EXPECT_THAT(lines[2], HasSubstr("      x "));
  EXPECT_THAT(lines[11], HasSubstr("rail 1, GB/s")) << burnin_matrix(record);
  EXPECT_TRUE(lines[13].ends_with("      -") || lines[14].ends_with("      -"));
}

}  // namespace
}  // namespace collbench::analysis::burnin_checks_test
