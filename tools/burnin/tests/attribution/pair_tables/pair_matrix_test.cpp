#include "tools/burnin/attribution/pair_tables/pair_columns.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace collbench::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(PairMatrix, IsOneWhereItsNamesHeadRowsAsWell) {
  EXPECT_TRUE(is_pair_matrix(clean_lines("GB/s,n0,n1,n2\nn0,,1,1\nn1,1,,1\nn2,1,1,\n")));
  EXPECT_TRUE(is_pair_matrix(clean_lines("n0 n1 n2\nn0 1 1\nn1 1 1\nn2 1 1\n")));
  EXPECT_TRUE(is_pair_matrix(clean_lines("rail 1, GB/s\n")));
  EXPECT_FALSE(is_pair_matrix(clean_lines("a,b,busbw\na,b,48\nb,a,48\n")));
  EXPECT_FALSE(is_pair_matrix(clean_lines("from,to,busbw\nn0,n1,48\n")));
}

TEST(PairMatrix, HalfOfItCountsBothWaysAndThatIsSaid) {
  const BurninRecord record =
      burnin_from_matrix(clean_lines(",n0,n1,n2,n3\nn0,,48,48,48\nn1,,,48,48\nn2,,,,48\nn3,,,,\n"), "f");
  EXPECT_THAT(record.table.times, SizeIs(12));
  EXPECT_THAT(record.source, HasSubstr("one half of it, taken for both directions"));
}

TEST(PairMatrix, TheCellAboveTheRowsMayNameTheUnit) {
  const std::string rows = ",n0,n1,n2,n3\nn0,,48,48,48\nn1,48,,48,48\nn2,48,48,,48\nn3,48,48,48,\n";
  EXPECT_DOUBLE_EQ(burnin_from_matrix(clean_lines(rows), "f").table.times.front().seconds, 1 / 48.0);
  EXPECT_DOUBLE_EQ(burnin_from_matrix(clean_lines("from" + rows), "f").table.times.front().seconds, 1 / 48.0);
  const BurninRecord bits = burnin_from_matrix(clean_lines("Gb/s" + rows), "f");
  EXPECT_DOUBLE_EQ(bits.table.times.front().seconds, 8 / 48.0);
  EXPECT_THAT(bits.source, HasSubstr("a matrix taken as Gb/s from row"));
}

TEST(PairMatrix, AMissingCellIsNoShift) {
  EXPECT_THROW((void)burnin_from_matrix(clean_lines(",n0,n1,n2\nn0,0,1,1\nn1,1,0\nn2,1,1,0\n"), "f"), Error);
}

}  // namespace
}  // namespace collbench::analysis
