#include "analysis/import/import_log.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace collbench::analysis::time_and_hosts_test {
namespace {

using testing::HasSubstr;

/// An imported run of four ranks on two nodes, which says neither when nor where.
collbench::Run imported_run() {
  collbench::Run run;
  run.ranks = {{0, "", 0, 0}, {1, "", 0, 1}, {2, "", 1, 0}, {3, "", 1, 1}};
  run.log = LogFacts{};
  run.log->file = "a.log";
  return run;
}

std::string refused(collbench::Run run, const std::string& started, const std::vector<std::string>& hosts) {
  try {
    set_time_and_hosts(run, started, hosts);
  } catch (const Error& error) {
    return describe(error);
  }
  return "taken";
}

TEST(UtcTime, IsAsPeopleWriteIt) {
  for (const char* const text :
       {"2026-11-20T02:00:00Z", "2026-11-20 02:00", "2026-11-20T02:00", "2026-11-20T02:00:00"})
    EXPECT_EQ(utc_time(text), "2026-11-20T02:00:00Z") << text;
  EXPECT_EQ(utc_time("2026-11-20"), "2026-11-20T00:00:00Z");
  EXPECT_EQ(utc_time("2024-02-29"), "2024-02-29T00:00:00Z");
  for (const char* const text :
       {"", "Z", "today", "2026-02-30", "2026-13-01", "2026-11-20T24:00", "2026-11-20T02:00:00+01:00",
        "20.11.2026", "2026-11-2", "2026-11-20x02:00", "-026-11-20"})
    EXPECT_EQ(utc_time(text), std::nullopt) << text;
}

TEST(TimeAndHosts, AreTakenWhereTheLogSaysNothing) {
  collbench::Run run = imported_run();
  set_time_and_hosts(run, "2026-11-20T02:00:00Z", {"n1", "n2"});
  EXPECT_EQ(run.started, "2026-11-20T02:00:00Z");
  EXPECT_EQ(run.ranks[1].host, "n1");
  EXPECT_EQ(run.ranks[2].host, "n2");
  EXPECT_EQ(run.log->hosts->value, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(run.log->hosts->line, 0) << "given, not read";
  EXPECT_EQ(refused(run, "2026-11-20T02:00:00Z", {"n1", "n2"}), "taken") << "the same again";
  EXPECT_THAT(refused(run, "2026-11-21T02:00:00Z", {}),
              HasSubstr("--date: a.log says that it began at 2026-11-20T02:00:00Z; leave --date out"));
  EXPECT_THAT(refused(run, "", {"n1", "n3"}),
              HasSubstr("--host: a.log names its hosts: n1, n2; leave --host out"));
  run = imported_run();
  for (Identity& rank : run.ranks) rank = {rank.rank, "localhost", 0, rank.rank};
  set_time_and_hosts(run, "", {"n7"});
  EXPECT_EQ(run.ranks[3].host, "n7");
  EXPECT_THAT(run.log->notes, testing::ElementsAre("it calls its host localhost; n7 is given"));
  EXPECT_THAT(refused(imported_run(), "", {"n1"}),
              HasSubstr("--host: 1 host given, and a.log ran on 2 nodes"));
}

}  // namespace
}  // namespace collbench::analysis::time_and_hosts_test
