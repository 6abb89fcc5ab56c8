#include "analysis/verdict/fitting_machines.hpp"

#include <gmock/gmock.h>

#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"
#include "tests/analysis/verdict/judged_rows.hpp"

namespace collbench::analysis::fitting_machines_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

LogFacts log_on(const char* gpu, int ranks_per_node) {
  LogFacts log;
  log.gpu = {gpu, 7};
  log.nodes = {2, 7};
  log.ranks_per_node = {ranks_per_node, 7};
  return log;
}

TEST(FittingMachines, HaveTheLogsGpusAndItsNetworkWhereItSaysOne) {
  LogFacts log = log_on("NVIDIA H100 80GB HBM3", 8);
  EXPECT_THAT(fitting_machines(log), ElementsAre("hgx-h100", "p5", "a3-mega", "oci-h100", "ndv5"));
  log.network = {"AWS Libfabric", 9};
  EXPECT_THAT(fitting_machines(log), ElementsAre("p5"));
  EXPECT_THAT(fitting_machines(log_on("NVIDIA H100 80GB HBM3", 16)), IsEmpty());
  EXPECT_THAT(fitting_machines(LogFacts{}), IsEmpty());
}

TEST(FittingMachines, AreNamedInASentence) {
  EXPECT_EQ(fitting_words({}), "");
  EXPECT_EQ(fitting_words({"p5"}), "--topology p5 fits");
  EXPECT_EQ(fitting_words({"p5", "ndv5"}), "--topology p5 fits (so does ndv5)");
  EXPECT_EQ(suggested_topology(log_on("NVIDIA Quantum 9000", 8)),
            "the log's GPUs are NVIDIA Quantum 9000, 8 per node, and no reference machine has them: " +
                std::string(kHowToSaveMachine) + ".");
  LogFacts pcie = log_on("NVIDIA A100-PCIE-40GB", 1);
  pcie.nodes = {2, 3};
  EXPECT_THAT(
      suggested_topology(pcie),
      HasSubstr("and no reference machine has them with such a network (a100-pcie has them without it)"));
}

/// A provider's network is on its own machines alone; what joins the ranks of one node does not matter.
TEST(FittingMachines, OfAProvidersNetworkAreTheProviders) {
  LogFacts log = log_on("Tesla V100-SXM2-32GB", 8);
  log.network = {"AWS Libfabric", 9};
  log.nodes = {2, 3};
  EXPECT_THAT(fitting_machines(log), IsEmpty());
  log.nodes = {1, 3};
  EXPECT_THAT(fitting_machines(log), ElementsAre("dgx-1v"));
  log = log_on("NVIDIA A100-SXM4-40GB", 4);
  log.network = {"AWS Libfabric", 9};  // of EFA or of Slingshot
  EXPECT_THAT(fitting_machines(log), ElementsAre("p4de", "polaris"));
}

TEST(FittingMachines, APartOfANodeFitsOnlyIfTheNodeIsThatMachine) {
  EXPECT_THAT(suggested_topology(log_on("Tesla V100-SXM2-16GB", 2)),
              HasSubstr("--topology dgx-1v fits, if a node has 8 of them"));
  EXPECT_THAT(suggested_topology(log_on("Tesla V100-SXM2-16GB", 8)), HasSubstr("--topology dgx-1v fits"));
  EXPECT_THAT(suggested_topology(log_on("Tesla V100-SXM2-16GB", 8)), testing::Not(HasSubstr("if a node")));
  EXPECT_THAT(suggested_topology(log_on("NVIDIA A100-SXM4-40GB", 4)),
              HasSubstr("--topology polaris fits; hgx-a100, dgx-a100, p4de, ndv4, if a node has 8 of them"));
}

TEST(FittingMachines, AreWhatAVerdictAboutOtherGpusSaysFirst) {
  const GpuCluster cluster = cluster_of("ndv4", 2);
  collbench::Run run = run_from_expectation(cluster, 1 / 2.4);
  run.log = log_on("NVIDIA H100 80GB HBM3", 8);
  run = judged_on_gpus(run, cluster);
  const std::string said =
      "the log's GPUs are NVIDIA H100 80GB HBM3 (line 7), but it is judged as a machine with A100 SXM: "
      "--topology hgx-h100 fits (so do p5, a3-mega, oci-h100, ndv5)";
  EXPECT_THAT(run.log->notes, ElementsAre(said));
  EXPECT_EQ(run.rows.back().verdict.word, VerdictWord::unclear);
  EXPECT_EQ(run.rows.back().verdict.explanation, said + ".");
  run = judged_on_gpus(run_from_expectation(cluster, 1), cluster);
  run.log = log_on("NVIDIA H100 80GB HBM3", 8);
  run = judged_on_gpus(run, cluster);
  EXPECT_THAT(run.rows.back().verdict.explanation, StartsWith(said + ". "));
  EXPECT_THAT(run.rows.back().verdict.explanation, HasSubstr("GB/s at"));
}

/// Two nodes of eight H100, `times` as long as a sound hgx-h100 takes.
collbench::Run run_that_takes(double times) {
  collbench::Run run = run_from_expectation(cluster_of("hgx-h100", 2), times);
  run.log = log_on("NVIDIA H100 80GB HBM3", 8);
  return run;
}

TEST(FittingMachines, ARunThatIsSlowByEachIsJudgedBelowWhicheverItIs) {
  const std::optional<collbench::Run> judged = judged_whichever_fits(run_that_takes(100), "a.log");
  ASSERT_TRUE(judged);
  EXPECT_EQ(machine_word(*judged), VerdictWord::below) << "how far is not known";
  ASSERT_TRUE(judged->yardstick);
  EXPECT_EQ(judged->yardstick->kind, YardstickKind::slowest);
  EXPECT_THAT(
      judged->rows.back().verdict.explanation,
      HasSubstr("The machine was not given; expected is what p5 gives, the slowest of the reference machines "
                "with these GPUs (hgx-h100, p5, a3-mega, oci-h100, ndv5), each also taken with 4, 2 and 1 of "
                "its NICs and one of 100 Gb/s."));
}

TEST(FittingMachines, ARunThatOneOfThemMayGiveIsNotJudged) {
  EXPECT_FALSE(judged_whichever_fits(run_that_takes(1), "a.log"));
  EXPECT_FALSE(judged_whichever_fits(run_that_takes(8), "a.log"));  // what one NIC of 400 Gb/s gives
}

TEST(FittingMachines, ALogWithoutAMachineIsUnclearWhereOneCouldBeGiven) {
  EXPECT_TRUE(is_machine_unknown(unclear_without_machine(run_that_takes(1))));
  collbench::Run run = run_that_takes(1);
  run.log->gpu.reset();
  EXPECT_TRUE(is_machine_unknown(unclear_without_machine(run)));
  run.log->gpu = {"AMD Instinct MI300X", 5};
  EXPECT_FALSE(is_machine_unknown(unclear_without_machine(run)));
  run = run_that_takes(1);
  run.ranks.resize(1);
  EXPECT_FALSE(is_machine_unknown(unclear_without_machine(run))) << "one rank";
  run = run_that_takes(1);
  run.backend = BackendId::mpi;
  EXPECT_FALSE(is_machine_unknown(unclear_without_machine(run))) << "host memory";
  run = run_that_takes(1);
  for (Row& row : run.rows) row.measurement.wrong_elements = 1;
  EXPECT_FALSE(is_machine_unknown(unclear_without_machine(run))) << "nothing to judge by any machine";
  run = run_that_takes(1);
  run.log.reset();
  EXPECT_FALSE(is_machine_unknown(unclear_without_machine(run))) << "its record says what was found";
  run = judged_on_gpus(run_that_takes(1), cluster_of("hgx-h100", 2));
  EXPECT_FALSE(is_machine_unknown(unclear_without_machine(run)));
}

TEST(FittingMachines, WithoutTheNodesOrTheRanksOfEachNothingIsJudged) {
  collbench::Run run = run_that_takes(100);
  run.log->nodes.reset();
  EXPECT_FALSE(judged_whichever_fits(run, "a.log"));
  run = run_that_takes(100);
  run.log->ranks_per_node.reset();
  EXPECT_FALSE(judged_whichever_fits(run, "a.log"));
  run.log.reset();
  EXPECT_FALSE(judged_whichever_fits(run, "a.log"));
}

TEST(FittingMachines, ServersWithoutNvSwitchDifferTooMuchForIt) {
  collbench::Run run = run_from_expectation(cluster_of("dgx-1v", 1), 50);
  run.log = log_on("Tesla V100-SXM2-32GB", 8);
  run.log->nodes = {1, 7};
  EXPECT_FALSE(judged_whichever_fits(run, "a.log"));
}

TEST(FittingMachines, APartOfAMachineASliceOfAGpuOrARackIsNotJudged) {
  const auto is_judged = [](const char* gpu, int ranks_per_node) {
    collbench::Run run = run_that_takes(100);
    run.log = log_on(gpu, ranks_per_node);
    return judged_whichever_fits(run, "a.log").has_value();
  };
  EXPECT_TRUE(is_judged("NVIDIA H100 80GB HBM3", 8));
  EXPECT_FALSE(is_judged("NVIDIA H100 80GB HBM3", 4)) << "boards of four have no NVSwitch";
  EXPECT_FALSE(is_judged("NVIDIA H100 80GB HBM3 MIG 3g.40gb", 8));
  EXPECT_FALSE(is_judged("NVIDIA H100 NVL", 8));
  EXPECT_FALSE(is_judged("NVIDIA GB200", 4)) << "the log does not say which trays share NVLinks";
}

TEST(FittingMachines, OnOneNodeNoNicsAreTakenAway) {
  collbench::Run run = run_from_expectation(cluster_of("hgx-h100", 1), 2);
  run.log = log_on("NVIDIA H100 80GB HBM3", 8);
  run.log->nodes = {1, 7};
  const std::optional<collbench::Run> judged = judged_whichever_fits(run, "a.log");
  ASSERT_TRUE(judged);
  EXPECT_EQ(machine_word(*judged), VerdictWord::below);
  EXPECT_THAT(judged->rows.back().verdict.explanation, testing::Not(HasSubstr("NIC")));
}

TEST(ClusterWithNics, IsTheMachineOfTheLogsGpusWithTheNicsThatWereStated) {
  const collbench::Run run = run_that_takes(1);
  const GpuCluster same = cluster_with_nics(run, {8, 400}, "the log", false);
  EXPECT_TRUE(same.planned);
  EXPECT_EQ(same.machine, "") << "no provider's limits are for what was stated";
  EXPECT_EQ(words(same, {8, 400}), "8 × H100 SXM with 8 NICs of 400 Gb/s");
  const auto word = [&run](const StatedNics& stated) {
    return judged_on_gpus(run, cluster_with_nics(run, stated, "the log", false)).rows.back().verdict.word;
  };
  EXPECT_EQ(word({8, 400}), VerdictWord::sound);
  EXPECT_EQ(word({16, 200}), VerdictWord::sound);
  EXPECT_EQ(word({4, 400}), VerdictWord::unclear) << "more than they can give";
  EXPECT_TRUE(cluster_with_nics(run, {16, 200}, "the log", false).planned) << "as oci-h100 has them";
  EXPECT_EQ(cluster_with_nics(run, {32, 100}, "the log", false).transport, same.transport)
      << "EFA, by which p5 has them, was not stated";
  const collbench::Run half = run_that_takes(2);
  EXPECT_EQ(judged_on_gpus(half, same).rows.back().verdict.word, VerdictWord::below);
}

TEST(ClusterWithNics, AsksForWhatTheLogDoesNotSay) {
  collbench::Run run = run_that_takes(1);
  run.log->nodes.reset();
  EXPECT_THROW((void)cluster_with_nics(run, {8, 400}, "the log", false), Error);
  run.log = log_on("NVIDIA A100-PCIE-40GB", 8);
  EXPECT_THROW((void)cluster_with_nics(run, {8, 400}, "the log", false), Error);
  run.log->gpu.reset();
  EXPECT_THROW((void)cluster_with_nics(run, {8, 400}, "the log", false), Error);
  run.log.reset();
  EXPECT_THROW((void)cluster_with_nics(run, {8, 400}, "the log", false), Error);
}

}  // namespace
}  // namespace collbench::analysis::fitting_machines_test
