#include "tools/launch/launch_command.hpp"

#include <gmock/gmock.h>

namespace collbench::program::job_files_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(JobFiles, TheBatchScriptAsksInItsHead) {
  const auto files = job_files(
      {.kind = LauncherKind::slurm, .nodes = 3, .gpus_per_node = 4, .ranks_per_node = 4, .minutes = 7});
  ASSERT_EQ(files.size(), 1);
  const std::string& text = files[0].text;
  EXPECT_TRUE(text.starts_with("#!/bin/bash\n"));
  for (const char* line :
       {"\n#SBATCH --nodes=3\n", "\n#SBATCH --ntasks-per-node=4\n", "\n#SBATCH --gpus-per-node=4\n",
        "\n#SBATCH --exclusive\n", "\n#SBATCH --time=7\n", "\nset -euo pipefail\n"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text.substr(text.find("\nsrun ")),
              AllOf(HasSubstr("--mpi=pmix"), Not(HasSubstr("--nodes")), Not(HasSubstr("--time"))));
}

TEST(JobFiles, TheMpiJobHasOneArgumentALineAndNoShell) {
  const auto files = job_files({.kind = LauncherKind::kubernetes,
                                .nodes = 2,
                                .gpus_per_node = 8,
                                .ranks_per_node = 8,
                                .container = "a/b:\"1\"",
                                .arguments = {"--label", "two\nlines"}});
  ASSERT_EQ(files.size(), 2);
  for (const char* line : {"apiVersion: kubeflow.org/v2beta1\n", "kind: MPIJob\n", "slotsPerWorker: 8\n",
                           "      replicas: 2\n", "nvidia.com/gpu: 8\n", "image: \"a/b:\\\"1\\\"\"\n",
                           "              command:\n                - \"mpirun\"\n",
                           "                - \"16\"\n", "- \"two\\nlines\"\n", "podAntiAffinity"})
    EXPECT_THAT(files[0].text, HasSubstr(line));
  EXPECT_EQ(files[1].name, "Dockerfile");
  EXPECT_THAT(files[1].text, AllOf(HasSubstr("\nFROM debian:12\n"), HasSubstr("collbench-nccl_*.deb"),
                                   HasSubstr("StrictHostKeyChecking no"), HasSubstr("COLLBENCH_NCCL=")));
}

TEST(JobFiles, AnImageHasTheVersionAsItsTag) {
  const auto files = job_files({.kind = LauncherKind::kubernetes, .version = "1.2.3+5.gabc"});
  EXPECT_THAT(files[0].text, HasSubstr("image: \"REGISTRY/collbench:1.2.3_5.gabc\"\n"));
}

TEST(JobFiles, OfSshAreAHostfileAndAScript) {
  const auto files = job_files({.nodes = 2, .hosts = {"a"}});
  ASSERT_EQ(files.size(), 2);
  EXPECT_EQ(files[0].text, "a slots=2\nNODE2 slots=2\n");
  EXPECT_THAT(files[1].text, AllOf(HasSubstr("--hostfile hostfile"), Not(HasSubstr("--host "))));
}

}  // namespace
}  // namespace collbench::program::job_files_test
