#include "tools/nccl_plan/command/nccl_plan.hpp"

#include <gmock/gmock.h>

namespace collbench::program::simulated_job_test {
namespace {

using testing::ElementsAre;
using testing::EndsWith;

TEST(JobWords, ARunOfCollbenchGetsItsRanks) {
  EXPECT_THAT(job_words({"/x/collbench", "--sizes", "8"}, 2, 8),
              ElementsAre("/x/collbench", "--backend", "nccl", "-g", "16", "--node-map", "0-7,8-15",
                          "--no-telemetry", "--sizes", "8"));
  EXPECT_THAT(job_words({"/x/collbench"}, 1, 4),
              ElementsAre("/x/collbench", "--backend", "nccl", "-g", "4", "--no-telemetry"));
}

TEST(JobWords, WhatIsGivenStays) {
  EXPECT_THAT(job_words({"/x/collbench", "-g4", "--backend=nccl", "--no-telemetry"}, 2, 8),
              ElementsAre("/x/collbench", "-g4", "--backend=nccl", "--no-telemetry"));
  EXPECT_THAT(job_words({"mpirun", "-np", "2", "collbench"}, 2, 8),
              ElementsAre("mpirun", "-np", "2", "collbench"));
  EXPECT_THAT(job_words({"/x/collbench", "report", "run.json"}, 1, 8),
              ElementsAre("/x/collbench", "report", "run.json"));
}

TEST(JobWords, CollbenchIsTheOneBesideThisProgram) {
  EXPECT_THAT(job_words({"collbench", "report"}, 1, 1).front(), EndsWith("/collbench"));
  EXPECT_THAT(job_words({}, 1, 1).front(), EndsWith("/collbench"));
}

}  // namespace
}  // namespace collbench::program::simulated_job_test
