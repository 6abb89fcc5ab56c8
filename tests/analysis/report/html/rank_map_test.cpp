#include "analysis/report/html/markup.hpp"

#include <gmock/gmock.h>

namespace collbench::analysis::rank_map_test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// One size; rank 1 of `ranks` has the shortest calls.
Run run_with_a_late_rank(int ranks) {
  Run run;
  Row row;
  row.measurement.key.size_bytes = 1024;
  row.measurement.seconds = 1e-3;
  for (int rank = 0; rank < ranks; ++rank) {
    run.ranks.push_back({rank, "n" + std::to_string(rank), rank, 0});
    row.measurement.ranks.push_back({rank, rank == 1 ? 4e-4 : 1e-3, 1e-3});
  }
  run.rows.push_back(row);
  return run;
}

TEST(RankMap, AShortCallIsThatOfALateRank) {
  const std::string body = html_body({"Ranks", rank_map(run_with_a_late_rank(3))});
  EXPECT_THAT(body, HasSubstr("<th scope=\"row\">1 n1</th><td class=\"late3\">0.40</td>"));
  EXPECT_THAT(body, HasSubstr("<th scope=\"row\">0 n0</th><td>1.00</td>"));
}

// The leaves of a binomial tree leave a Gather early: their calls are short, and nobody was late.
TEST(RankMap, OfOperationsWithARootNobodyIsCalledLate) {
  auto run = run_with_a_late_rank(4);
  for (const OperationId id :
       {OperationId::gather, OperationId::scatter, OperationId::broadcast, OperationId::reduce}) {
    run.rows[0].measurement.key.operation = id;
    const std::string body = html_body({"Ranks", rank_map(run)});
    EXPECT_THAT(body, Not(HasSubstr("late3")));
    EXPECT_THAT(body, HasSubstr("<p>No table of " + std::string(operation(id).name) + ":"));
    EXPECT_THAT(body, Not(HasSubstr("are the shortest")));
  }
}

TEST(RankMap, OfManyRanksThoseThatDifferAreShown) {
  const std::string body = html_body({"Ranks", rank_map(run_with_a_late_rank(100))});
  EXPECT_THAT(body, HasSubstr("the 48 of 100 ranks that differ most"));
  EXPECT_THAT(body, HasSubstr("1 n1</th><td class=\"late3\">"));
  EXPECT_THAT(body, Not(HasSubstr("99 n99")));
}

TEST(RankMap, IsEmptyWithoutTimesOfTwoRanks) {
  EXPECT_TRUE(rank_map(run_with_a_late_rank(1)).empty());
  EXPECT_TRUE(rank_map(collbench::Run{}).empty());
}

TEST(RankMap, TheLatestRankOfTheProbesComesFirst) {
  auto run = run_with_a_late_rank(2);
  run.rows.clear();
  run.rank_probe = RankProbe{};
  run.rank_probe->ranks = {{0, 1e-6, 2e-6, 0}, {1, 50e-6, 1e-6, 0}};
  const std::string body = html_body({"Ranks", rank_map(run)});
  EXPECT_LT(body.find("1 n1"), body.find("0 n0"));
  EXPECT_THAT(body, HasSubstr("<td>50.00 µs</td>"));
}

}  // namespace
}  // namespace collbench::analysis::rank_map_test
