#include "analysis/history/machine_kind.hpp"

#include <gmock/gmock.h>

#include "tests/analysis/example_run.hpp"

namespace collbench::analysis::machine_kind_test {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;

TEST(MachineKind, IsTheNameOfAFolder) {
  auto run = example_run();
  EXPECT_EQ(machine_kind(run), "mpi-4ranks-2nodes-max");
  run.backend = BackendId::nccl;
  run.buffers.walk_bytes = 0;
  EXPECT_EQ(machine_kind(run), "nccl-4ranks-2nodes-max-hot");
  run.buffers.walk_bytes = 1;
  EXPECT_EQ(machine_kind(run), "nccl-4ranks-2nodes-max");
  run.log.emplace();
  run.log->gpu = {"NVIDIA H100 80GB HBM3/../x", 1};
  run.log->nodes = {2, 1};
  EXPECT_EQ(machine_kind(run), "nccl-4ranks-2nodes-nvidia-h100-80gb-hbm3-x-max");
  run.log->nodes.reset();
  EXPECT_EQ(machine_kind(run), "nccl-4ranks-nvidia-h100-80gb-hbm3-x-max") << "a log may not say";
}

TEST(MachineKind, ForgetsWhatAMachineIsCalledAndWhatIsInstalled) {
  auto other = example_run();
  for (Identity& rank : other.ranks) rank.host += "x";
  other.versions.mpi = "another";
  EXPECT_EQ(machine_kind(other), machine_kind(example_run()));
  other.simulated = true;
  EXPECT_NE(machine_kind(other), machine_kind(example_run()));
  other.simulated = false;
  other.gpus_simulated = true;
  EXPECT_NE(machine_kind(other), machine_kind(example_run()));
}

TEST(MachineKind, HostsAreNamedOnce) {
  EXPECT_THAT(hosts_of(example_run()), ElementsAre("node01", "node02"));
}

TEST(RecordFileName, IsOfItsTimeHostAndContent) {
  const auto run = example_run();
  EXPECT_THAT(record_file_name(run, "text"), MatchesRegex("20261001T120000Z-node01-[0-9a-f]{16}\\.json"));
  EXPECT_EQ(record_file_name(run, "a"), record_file_name(run, "a"));
  EXPECT_NE(record_file_name(run, "a"), record_file_name(run, "b"));
  auto hostile = run;
  hostile.started = "../../etc";
  for (Identity& rank : hostile.ranks) rank.host = "/../";
  EXPECT_EQ(record_file_name(hostile, "").find('/'), std::string::npos);
}

}  // namespace
}  // namespace collbench::analysis::machine_kind_test
