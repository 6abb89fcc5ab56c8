#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/import/log_readers.hpp"

namespace collbench::analysis::command_line_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(CommandLine, BeginsBehindWhatAShellOrALauncherWrites) {
  const auto command = ElementsAre("mpirun", "-np", "8", "./build/all_reduce_perf", "-b", "8");
  for (const char* before : {"", "$ ", "+ ", "[user@n1 ~]$ ", "2026-11-20T01:02:03.5Z stdout F + "})
    EXPECT_THAT(nccl_tests_command(std::string(before) + "mpirun -np 8 ./build/all_reduce_perf -b 8"),
                command);
  EXPECT_THAT(nccl_tests_command("NCCL_ALGO=Ring ./all_reduce_perf"),
              ElementsAre("NCCL_ALGO=Ring", "./all_reduce_perf"));
  EXPECT_THAT(nccl_tests_command("# Collective test starting: all_reduce_perf"), IsEmpty());
  EXPECT_THAT(nccl_tests_command("$ ./other -b 8"), IsEmpty());
}

TEST(CommandLine, SetsVariablesInTheWordsOfEachLauncher) {
  const auto settings = [](const char* line) { return nccl_settings(nccl_tests_command(line)); };
  const auto disabled = ElementsAre(Pair("NCCL_IB_DISABLE", "1"));
  for (const char* line :
       {"mpirun -x NCCL_IB_DISABLE=1 -x NCCL_DEBUG ./all_reduce_perf", "NCCL_IB_DISABLE=1 ./all_reduce_perf",
        "mpiexec -genv NCCL_IB_DISABLE 1 ./all_reduce_perf",
        "mpiexec -env NCCL_IB_DISABLE 1 ./all_reduce_perf",
        "srun --export=ALL,NCCL_IB_DISABLE=1 ./all_reduce_perf",
        "srun --export=NCCL_IB_DISABLE=1,HOME all_reduce_perf"})
    EXPECT_THAT(settings(line), disabled) << line;
  EXPECT_THAT(settings("mpirun -x NCCL_IB_HCA=mlx5_0,mlx5_1 -x NCCL_ALGO=Ring ./all_reduce_perf"),
              ElementsAre(Pair("NCCL_ALGO", "Ring"), Pair("NCCL_IB_HCA", "mlx5_0,mlx5_1")));
  EXPECT_THAT(settings("srun --export=ALL,NCCL_IB_HCA='mlx5_0,mlx5_1',HOME=/x ./all_reduce_perf"),
              ElementsAre(Pair("NCCL_IB_HCA", "mlx5_0,mlx5_1")));
  EXPECT_THAT(settings("mpirun -x NCCL_IB_HCA=\"^mlx5_0:1\" ./all_reduce_perf"),
              ElementsAre(Pair("NCCL_IB_HCA", "^mlx5_0:1")));
  EXPECT_THAT(settings("mpirun -x NCCL_DEBUG ./all_reduce_perf"), IsEmpty());
}

TEST(CommandLine, HoldsNoSecret) {
  EXPECT_THAT(nccl_tests_command("HF_TOKEN=abc ./all_reduce_perf"),
              ElementsAre("HF_TOKEN=(set, not recorded)", "./all_reduce_perf"));
}

TEST(CommandLine, AmountsDoNotTellInvocationsApart) {
  EXPECT_THAT(without_amounts({"all_reduce_perf", "-b", "8", "--maxbytes=1G", "-n", "20", "-g", "8", "-f"}),
              ElementsAre("all_reduce_perf", "-g", "8"));
}

}  // namespace
}  // namespace collbench::analysis::command_line_test
