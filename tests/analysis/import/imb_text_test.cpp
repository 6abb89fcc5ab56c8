#include "analysis/import/benchmark_logs.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "tests/analysis/import/read_text.hpp"

namespace collbench::analysis::imb_text_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kImb = R"(#----------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
#----------------------------------------------------------------
# Benchmarking PingPong
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.30         0.00
         1024         1000         1.00      1024.00
# Benchmarking Allreduce
# #processes = 2
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            4         1000         4.50        18.50        11.69
# Benchmarking Alltoall
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1024          640         4.50        20.00        11.69
# Benchmarking Barrier
# #processes = 4
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         4.50        20.00        11.69
)";

std::string refusal(std::string_view text, const ImportOptions& options = {}) {
  try {
    static_cast<void>(import_log(text, "a.log", options));
  } catch (const Error& error) {
    return describe(error);
  }
  return "taken";
}

ImportOptions run_number(int number) {
  ImportOptions options;
  options.run = number;
  return options;
}

TEST(ImportImb, TakesTheSlowestRankAndAsksWhichNumberOfRanks) {
  EXPECT_THAT(refusal(kImb), HasSubstr("holds 2 runs (1: 2 ranks; 2: 4 ranks); choose one with --run N"));
  const auto two = import_log(kImb, "a.log", run_number(1));
  EXPECT_EQ(two.time_reduction, RankAggregate::maximum);
  ASSERT_EQ(two.rows.size(), 2U);
  EXPECT_EQ(two.rows[0].measurement.key,
            (RowKey{OperationId::ping_pong, 1024, 1024, DataType::uint8, std::nullopt}));
  EXPECT_DOUBLE_EQ(two.rows[0].measurement.seconds, 1e-6);
  EXPECT_DOUBLE_EQ(two.rows[1].measurement.seconds, 18.5e-6);
  const auto four = import_log(kImb, "a.log", run_number(2));
  ASSERT_EQ(four.rows.size(), 1U);
  EXPECT_EQ(four.rows[0].measurement.key,
            (RowKey{OperationId::all_to_all, 4096, 1024, DataType::uint8, std::nullopt}));
  EXPECT_THAT(four.log->left_out,
              ElementsAre(LogSkipped{"rows of 0 bytes", 1, 9}, LogSkipped{"tables of Barrier", 1, 19}));
}

TEST(ImportImb, ATableWithoutRowsIsAnError) {
  EXPECT_THAT(refusal("# Intel(R) MPI Benchmarks 2021.3\n# Benchmarking Allreduce\n"),
              HasSubstr("has no row of Intel MPI Benchmarks text that can be read"));
}

}  // namespace
}  // namespace collbench::analysis::imb_text_test
