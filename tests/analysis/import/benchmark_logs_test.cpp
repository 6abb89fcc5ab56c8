#include "analysis/import/benchmark_logs.hpp"
#include "tests/analysis/import/read_text.hpp"

#include <gmock/gmock.h>

namespace collbench::analysis::benchmark_logs_test {
namespace {

TEST(ImportBenchmarks, ImpossibleNumbersAreNoRows) {
  const auto run = import_log(
      "mpirun -np 4 osu_allreduce\n# OSU MPI Allreduce Latency Test v7.5\n4 -1\n4 nan\n-4 1\n9e99 1\n4 "
      "1e999\n4 0\n8 2.5\n8 2.5\n",
      "a", {});
  ASSERT_EQ(run.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(run.rows[0].measurement.seconds, 2.5e-6);
}

TEST(ImportBenchmarks, NcclTestsAreStillReadAsSuch) {
  EXPECT_EQ(find_benchmark_reader("# nThread 1 nGpus 8 minBytes 8\n#       size  count"), nullptr);
}

}  // namespace
}  // namespace collbench::analysis::benchmark_logs_test
