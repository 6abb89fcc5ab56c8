#include "tools/launch/launch_command.hpp"

#include <gmock/gmock.h>

namespace collbench::program::launch_command_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string command_of(const LaunchRequest& request) { return command_text(launch_command(request), 1000); }

TEST(LaunchCommand, OverSshNamesHostsAndHandsOnWhatRanksNeed) {
  LaunchRequest request{.nodes = 2, .hosts = {"a", "b"}, .arguments = {"--label", "it's 2 nodes"}};
  EXPECT_EQ(command_of(request),
            "mpirun -np 4 --host a:2,b:2 --map-by ppr:2:node --bind-to core -x PATH collbench "
            "--label 'it'\\''s 2 nodes'\n");
  request.hosts.pop_back();
  EXPECT_THAT(command_of(request), HasSubstr("--host a:2,NODE2:2 "));
  EXPECT_THAT(launch_notes(request).front(), HasSubstr("names of the nodes"));
}

TEST(LaunchCommand, OnGpusARankSeesAllOfThemAndIsNotBoundToACore) {
  LaunchRequest request{.kind = LauncherKind::slurm, .nodes = 2, .gpus_per_node = 8, .ranks_per_node = 8};
  EXPECT_THAT(
      command_of(request),
      AllOf(HasSubstr("srun --mpi=pmix --nodes=2 --ntasks-per-node=8 --gpus-per-node=8 "),
            HasSubstr("--gpu-bind=none"), HasSubstr("--cpu-bind=none"), Not(HasSubstr("gpus-per-task"))));
  request.kind = LauncherKind::ssh;
  EXPECT_THAT(command_of(request),
              AllOf(HasSubstr("--bind-to none"), HasSubstr("-x NCCL_SOCKET_IFNAME=NETWORK")));
  EXPECT_THAT(launch_notes(request)[1], HasSubstr("for NETWORK"));
  request.interface = "=ens3";
  request.variables = {"NCCL_DEBUG"};
  EXPECT_THAT(command_of(request),
              AllOf(HasSubstr("-x NCCL_SOCKET_IFNAME==ens3"), HasSubstr("-x NCCL_DEBUG ")));
  EXPECT_THAT(launch_notes(request)[1], HasSubstr("is assumed"));
  request.kind = LauncherKind::kubernetes;
  EXPECT_THAT(command_of(request), AllOf(Not(HasSubstr("NCCL_SOCKET")), Not(HasSubstr("--host"))));
}

TEST(LaunchCommand, InsideAnAllocationAsksForNothingThatTheJobHas) {
  LaunchRequest request{.kind = LauncherKind::slurm, .nodes = 2, .hosts = {"a", "b"}};
  EXPECT_THAT(command_of(request),
              AllOf(HasSubstr("--exclusive"), HasSubstr("--time=10"), HasSubstr("--nodelist=a,b")));
  request.in_allocation = true;
  EXPECT_THAT(command_of(request),
              AllOf(Not(HasSubstr("--exclusive")), Not(HasSubstr("--time")), HasSubstr("--nodelist=a,b")));
}

TEST(LaunchCommand, EveryWordButTheProgramsHasAReason) {
  for (const LauncherKind kind : {LauncherKind::ssh, LauncherKind::slurm, LauncherKind::kubernetes}) {
    for (const int gpus : {0, 8}) {
      const auto words = launch_command({.kind = kind, .gpus_per_node = gpus, .container = "cb.sif"});
      for (std::size_t at = 1; at + 1 < words.size(); ++at) EXPECT_NE(words[at].reason, "") << words[at].text;
    }
  }
}

TEST(LaunchCommand, ImagesOfARegistryGetAScheme) {
  const auto image = [](const std::string& container) {
    return command_of({.kind = LauncherKind::ssh, .gpus_per_node = 8, .container = container});
  };
  EXPECT_THAT(image("nvcr.io/nvidia/pytorch:25.01-py3"),
              HasSubstr("apptainer exec --nv docker://nvcr.io/nvidia/pytorch:25.01-py3 "));
  EXPECT_THAT(image("nvcr.io#nvidia/pytorch:1"), HasSubstr("--nv docker://nvcr.io/nvidia/pytorch:1 "))
      << "enroot's";
  EXPECT_THAT(image("ubuntu:22.04"), HasSubstr("docker://ubuntu:22.04 "));
  EXPECT_THAT(image("localhost/a"), HasSubstr("docker://localhost/a "));
  for (const std::string as_it_is :
       {"cb.sif", "images/cb.sif", "/images/pytorch", "./sandbox", "sandbox", "images/sandbox", "my/img.sqsh",
        "oras://a/b:1", "docker-archive://a.tar"})
    EXPECT_THAT(image(as_it_is), HasSubstr("apptainer exec --nv " + as_it_is + " ")) << as_it_is;
}

TEST(LaunchCommand, IsBrokenBetweenWords) {
  const std::string text = command_text({{"mpirun", ""}, {"-np 16", "r"}, {"collbench", ""}}, 16);
  EXPECT_EQ(text, "mpirun -np 16 \\\n  collbench\n");
  const std::string reasons = reasons_text({{"a", "why"}, {std::string(40, 'b'), "because"}}, 60);
  EXPECT_EQ(reasons, "a  why\n" + std::string(40, 'b') + "\n   because\n");
}

}  // namespace
}  // namespace collbench::program::launch_command_test
