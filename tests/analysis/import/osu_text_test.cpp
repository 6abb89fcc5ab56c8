#include "analysis/import/benchmark_logs.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "tests/analysis/import/read_text.hpp"

namespace collbench::analysis::osu_text_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kOsu = R"(+ mpirun -np 4 --hostfile hosts ./osu_allreduce -f
[node7:1234] a warning of the launcher

# OSU MPI Allreduce Latency Test v7.5
# Datatype: MPI_INT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                      10.00              9.00             11.00        1000
1048576              1000.00            900.00           1100.00         100

# OSU MPI Allgather Latency Test v7.5
# Size       Avg Latency(us)
0                       0.10
1024                   20.00
# OSU MPI Bandwidth Test v7.5
# Size      Bandwidth (MB/s)
1024                   20.00
)";

std::string refusal(std::string_view text, const ImportOptions& options = {}) {
  try {
    static_cast<void>(import_log(text, "a.log", options));
  } catch (const Error& error) {
    return describe(error);
  }
  return "taken";
}

ImportOptions given(int nodes, std::optional<int> ranks_per_node) {
  ImportOptions options;
  options.job = {nodes, ranks_per_node};
  return options;
}

TEST(ImportOsu, RowsAreOurOperationsWithOurSizes) {
  const auto run = import_log(kOsu, "a.log", {});
  EXPECT_EQ(run.backend, BackendId::mpi);
  EXPECT_EQ(run.time_reduction, RankAggregate::average);
  EXPECT_EQ(run.ranks.size(), 4U) << "by the command line";
  ASSERT_EQ(run.rows.size(), 3U);
  const Measurement& large = run.rows[1].measurement;
  EXPECT_EQ(large.key, (RowKey{OperationId::all_reduce, 1048576, 262144, DataType::int32, Reduction::sum}));
  EXPECT_DOUBLE_EQ(large.seconds, 1e-3);
  EXPECT_EQ(large.iterations, 100U);
  EXPECT_DOUBLE_EQ(*rates(run.rows[1], 4).bus_bandwidth, 1048576 * 1.5 / 1e-3);
  EXPECT_EQ(run.rows[2].measurement.key,
            (RowKey{OperationId::all_gather, 4096, 1024, DataType::int8, std::nullopt}))
      << "OSU counts what one rank gives";
}

TEST(ImportOsu, WhatIsLeftOutIsCountedWithItsLine) {
  const LogFacts log = *import_log(kOsu, "a.log", {}).log;
  EXPECT_EQ(log.format, "OSU Micro-Benchmarks text");
  EXPECT_EQ(log.version->value, "7.5");
  EXPECT_THAT(log.left_out,
              ElementsAre(LogSkipped{"rows of 0 bytes", 1, 12}, LogSkipped{"tables of Bandwidth", 1, 14}));
}

TEST(ImportOsu, RanksThatNobodySaysAreAskedFor) {
  const std::string text = std::string(kOsu).substr(std::string(kOsu).find('\n'));
  EXPECT_THAT(refusal(text), HasSubstr("a.log: the log does not say how many ranks ran; give --nodes N"));
  const auto run = import_log(text, "a.log", given(2, 3));
  EXPECT_EQ(run.ranks.size(), 6U);
  EXPECT_EQ(node_count(run.ranks), 2);
  EXPECT_THAT(refusal(kOsu, given(3, std::nullopt)), HasSubstr("--nodes: a.log says 4 ranks"));
}

TEST(ImportOsu, MpiOnGpusIsNotNccl) {
  const auto of = [](const std::string& library) {
    return import_log("# OSU " + library + " Latency Test v7.3\n# Size    Latency (us)\n8       0.80\n", "a",
                      {});
  };
  EXPECT_EQ(of("MPI-CUDA").backend, BackendId::mpi);
  EXPECT_EQ(of("MPI-CUDA").buffers.allocator, "cudaMalloc");
  EXPECT_EQ(of("MPI-ROCM").buffers.allocator, "hipMalloc");
  EXPECT_EQ(of("MPI").buffers.allocator, "");
  EXPECT_EQ(of("NCCL-CUDA").backend, BackendId::nccl);
}

TEST(ImportOsu, LatencyIsPingPongOfTwoRanks) {
  const auto run =
      import_log("# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n8       0.80\n", "a", {});
  ASSERT_EQ(run.rows.size(), 1U);
  EXPECT_EQ(run.rows[0].measurement.key.operation, OperationId::ping_pong);
  EXPECT_EQ(run.ranks.size(), 2U);
}

TEST(ImportOsu, ATableOfNoOperationIsNamed) {
  EXPECT_THAT(refusal("# OSU MPI-CUDA Bandwidth Test v7.2\n# Size      Bandwidth (MB/s)\n1         1.01\n"),
              HasSubstr("can be read: left out are tables of Bandwidth"));
}

}  // namespace
}  // namespace collbench::analysis::osu_text_test
