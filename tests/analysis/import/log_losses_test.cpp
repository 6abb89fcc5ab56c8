#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/import/import_log.hpp"
#include "base/record/run.hpp"
#include "tests/analysis/import/logs.hpp"
#include "tests/analysis/import/read_text.hpp"

namespace collbench::analysis::log_losses_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> losses(const std::string& nccl, const std::string& log = whole_log()) {
  return import_log(nccl + log, "a.log", {}).log->losses;
}

TEST(LogLosses, HostsThatAreAlikeHaveNone) {
  EXPECT_THAT(losses(""), IsEmpty());
  EXPECT_THAT(losses("n1:1:2 [0] NCCL INFO NET/IB : Using [0]a:1/IB [1]b:1/IB; OOB eth0:1<0>\n"
                     "n2:1:2 [0] NCCL INFO NET/IB : Using [0]a:1/IB [1]b:1/IB; OOB eth0:1<0>\n"
                     "n1:1:2 [0] NCCL INFO NET/IB: [0] a:uverbs0:1/IB provider=Mlx5 speed=400000 context=0\n"
                     "n1:1:2 [0] NCCL INFO NET/IB: [1] b:uverbs1:1/IB provider=Mlx5 speed=100000 context=0\n"
                     "n2:1:2 [0] NCCL INFO NET/IB: [1] b:uverbs1:1/IB provider=Mlx5 speed=100000 context=0\n"
                     "n1:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 2[0] [send] via NET/IB/0\n"
                     "n2:1:2 [0] NCCL INFO Channel 00/0 : 2[0] -> 0[0] [send] via NET/IB/0\n"),
              IsEmpty())
      << "b is slower everywhere, and GPUDirect off everywhere";
}

TEST(LogLosses, FewerAndSlowerNicsOfAHost) {
  EXPECT_THAT(losses("n1:1:2 [0] NCCL INFO NET/IB : Using [0]a:1/IB [1]b:1/IB; OOB eth0:1<0>\n"
                     "n2:1:2 [0] NCCL INFO NET/IB : Using [0]a:1/IB; OOB eth0:1<0>\n"),
              ElementsAre("1 NIC on n2 (line 2), 2 on n1 (line 1)"));
  EXPECT_THAT(losses("n1:1:2 [0] NCCL INFO NET/Socket : Using [0]eth0:1<0> [1]eth1:1<0>\n"
                     "n2:1:2 [0] NCCL INFO NET/Socket : Using [0]eth0:1<0>\n"),
              IsEmpty());
  EXPECT_THAT(
      losses("n1:1:2 [0] NCCL INFO NET/IB: [0] a:uverbs0:1/IB provider=Mlx5 speed=400000 context=0\n"
             "n2:1:2 [0] NCCL INFO NET/IB: [0] a:uverbs0:1/IB provider=Mlx5 speed=100000 context=0\n"),
      ElementsAre("a of n2 at 100 Gb/s (line 2), on other hosts at 400"));
}

TEST(LogLosses, ConnectionsThatAreWorseThanOthers) {
  const std::string good = "n1:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 2[0] [send] via NET/IB/0/GDRDMA\n";
  EXPECT_THAT(losses(good + "n2:1:2 [0] NCCL INFO Channel 00/0 : 2[0] -> 0[0] [send] via NET/IB/0\n"),
              ElementsAre("1 of 2 network connections without GPUDirect RDMA (line 2, on n2)"));
  const std::string mixed =
      good + "n2:1:2 [0] NCCL INFO Channel 00/0 : 2[0] -> 0[0] [send] via NET/Socket/0\n";
  EXPECT_THAT(losses(mixed), ElementsAre("1 of 2 network connections over sockets (line 2, on n2)"));
  EXPECT_TRUE(import_log(mixed + whole_log(), "a.log", {}).log->gpu_direct->value)
      << "of those over InfiniBand";
}

TEST(LogLosses, AGpuUnlikeTheOthers) {
  std::string log = whole_log();
  log.replace(log.rfind("NVIDIA H100"), 11, "NVIDIA H200");
  EXPECT_THAT(losses("", log),
              ElementsAre(HasSubstr("another GPU, NVIDIA H200 80GB HBM3, of rank 3 on node02 (line ")));
}

}  // namespace
}  // namespace collbench::analysis::log_losses_test
