#include "analysis/models/nccl/cluster_of_run.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "tests/analysis/models/nccl/clusters.hpp"
#include "topology/machines/resolve.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::analysis::cluster_of_run_test {
namespace {

GpuCluster with_log(const LogFacts& log, const GpuCluster& cluster = cluster_of("hgx-h100", 2)) {
  collbench::Run run;
  run.log = log;
  return with_run_facts(cluster, run, false);
}

Transport transport_in_log(const char* network, const char* machine = "hgx-h100") {
  LogFacts log;
  log.network = {network, 1};
  return with_log(log, cluster_of(machine, 2)).transport;
}

TEST(RunFacts, TheNetworkOfTheLogIsTheTransport) {
  EXPECT_EQ(transport_in_log("Socket"), Transport::sockets);
  EXPECT_EQ(transport_in_log("IB"), Transport::infiniband);
  EXPECT_EQ(transport_in_log("AWS Libfabric"), Transport::efa_rdma);
  EXPECT_EQ(transport_in_log("AWS Libfabric", "alps"), Transport::plugin);  // over Slingshot, not EFA
  EXPECT_EQ(transport_in_log("FasTrak"), Transport::tcpxo);
  EXPECT_EQ(transport_in_log("SomebodysPlugin"), Transport::plugin);
  LogFacts log;
  log.network = {"IB", 1};
  log.link_layer = {"RoCE", 2};
  EXPECT_EQ(with_log(log).transport, Transport::roce);
  log.network = {"NCCL RDMA Plugin v6", 1};  // NVIDIA's own, over the same NICs
  EXPECT_EQ(with_log(log).transport, Transport::roce);
  log.network = {"IB", 1};
  log.gpu_direct = {false, 3};
  EXPECT_EQ(with_log(log).transport, Transport::staged);
  EXPECT_EQ(with_log(log).run.network, "IB (RoCE) without GPUDirect RDMA");
  // Within a node the network that NCCL names carries nothing.
  EXPECT_EQ(with_log(log, cluster_of("hgx-h100", 1)).transport, Transport::infiniband);
  EXPECT_EQ(with_log(log, cluster_of("hgx-h100", 1)).run.network, "");
}

TEST(RunFacts, NicsWithoutGpuDirectAreNotRdmaAndABridgeIsNamed) {
  LogFacts log;
  log.gpu_direct = {false, 3};  // "GPU Direct RDMA Disabled for HCA 0", and no "Using network"
  EXPECT_EQ(with_log(log).transport, Transport::staged);
  EXPECT_EQ(with_log(log).run.logged, Transport::staged);
  EXPECT_EQ(with_log(log).run.network, "RDMA without GPUDirect RDMA");
  LogFacts bridge;
  bridge.network = {"Socket", 1};
  bridge.nics = {{"virbr0"}, 2};
  EXPECT_EQ(with_log(bridge).run.network, "Socket over virbr0, a virtual bridge");
  bridge.nics = {{"ens5"}, 2};
  EXPECT_EQ(with_log(bridge).run.network, "Socket over ens5");
  EXPECT_EQ(with_log(LogFacts()).run.logged, Transport::unknown);
}

// A container with one GPU and one NIC of a DGX: the other seven NICs are not the job's.
TEST(RunFacts, AJobOnSomeGpusHasTheNicsThatItsLogLists) {
  collbench::Run run;
  run.backend = BackendId::nccl;
  run.log = LogFacts{};
  run.log->nodes = {2, 1};
  run.log->nics = {{"mlx5_0"}, 2};
  run.ranks = {{0, "a", 0, 0}, {1, "b", 1, 0}};
  const topology::ResolvedMachine machine = topology::resolve_machine("dgx-a100");
  EXPECT_EQ(cluster_of_run(run, machine, "log", false).nics, 1);
  run.log->network = {"Socket", 1};  // then it lists interfaces
  EXPECT_EQ(cluster_of_run(run, machine, "log", false).nics, 8);
  run.log->network.reset();
  run.ranks.clear();
  for (int rank = 0; rank < 16; ++rank) run.ranks.push_back({rank, rank < 8 ? "a" : "b", rank / 8, rank % 8});
  EXPECT_EQ(cluster_of_run(run, machine, "log", false).nics, 8);  // a finding, not a smaller machine
}

TEST(RunFacts, NvlsNeedsItsVersionAndALossOfItIsNoOtherMachine) {
  collbench::Run run;
  const auto facts = [&](const char* machine = "hgx-h100") {
    return with_run_facts(cluster_of(machine, 1), run, false).run;
  };
  EXPECT_FALSE(facts().no_nvls);  // nothing said
  run.versions.nccl = "2.16.5+cuda12.0";
  EXPECT_TRUE(facts().no_nvls);
  run.versions.nccl = "2.17.1";
  EXPECT_FALSE(facts().no_nvls);
  EXPECT_TRUE(facts().no_nvls_tree);
  run.versions.nccl = "2.27.6+cuda12.9";
  EXPECT_FALSE(facts().no_nvls_tree);
  EXPECT_EQ(facts().lost_nvls, "");
  run.environment["NCCL_NVLS_ENABLE"] = "0";
  EXPECT_FALSE(facts().no_nvls);
  EXPECT_EQ(facts().lost_nvls, "NCCL_NVLS_ENABLE=0 is set");
  run.environment.clear();
  run.log.emplace();
  run.log->nvls_channels = {0, 9};  // "24 coll channels, 0 nvls channels"
  EXPECT_FALSE(facts().no_nvls);
  EXPECT_EQ(facts().lost_nvls, "NCCL set up no NVLS channels (line 9)");
  EXPECT_EQ(facts("hgx-a100").lost_nvls, "") << "it has none";
  run.versions.nccl = "2.16.5";
  EXPECT_EQ(facts().lost_nvls, "") << "nor has this version";
}

TEST(RunFacts, ThreadsAndProcesses) {
  LogFacts log;
  log.gpus_per_process = {8, 1};
  EXPECT_EQ(with_log(log).run.gpus_per_process, 8);
  EXPECT_FALSE(with_log(log).run.a_thread_per_gpu);
  log.threads_per_process = {8, 1};
  EXPECT_TRUE(with_log(log).run.a_thread_per_gpu);
  log.threads_per_process = {2, 1};
  EXPECT_FALSE(with_log(log).run.a_thread_per_gpu) << "four GPUs of each thread";
  collbench::Run own;
  own.process = {.gpus = 4, .threads = 1};
  EXPECT_EQ(with_run_facts(cluster_of("hgx-h100", 1), own, false).run.gpus_per_process, 4);
}

TEST(RunFacts, TheOwnFloorIsTheQuickestOfAtMostOneKibibyte) {
  collbench::Run run;
  for (const double microseconds : {983.2, 36.5, 41.0, 12.0}) {  // a cold first row; 12 µs are of 2 KiB
    Row row;
    row.measurement.key.size_bytes = microseconds == 983.2 ? 8 : microseconds == 12.0 ? 2 * kKiB : kKiB;
    row.measurement.seconds = microseconds * 1e-6;
    run.rows.push_back(row);
  }
  EXPECT_EQ(with_run_facts(cluster_of("ndv4", 2), run, false).run.min_microseconds, std::nullopt);
  EXPECT_NEAR(*with_run_facts(cluster_of("ndv4", 2), run, true).run.min_microseconds, 36.5, 1e-9);
  for (Row& row : run.rows) row.measurement.key.size_bytes = kMiB;
  EXPECT_EQ(with_run_facts(cluster_of("ndv4", 2), run, true).run.min_microseconds, std::nullopt);
}

collbench::Run run_on(int nodes, int ranks) {
  collbench::Run run;
  run.backend = BackendId::nccl;
  for (int rank = 0; rank < ranks; ++rank) run.ranks.push_back({rank, "", rank % nodes, rank / nodes});
  return run;
}

TEST(ClusterOfRun, TakesNodesAndRanksFromTheRun) {
  const GpuCluster cluster =
      cluster_of_run(run_on(2, 8), topology::resolve_machine("hgx-h100"), "run.json", false);
  GpuCluster expected = cluster_of("hgx-h100", 2, 4);
  expected.run.gpus_per_process = 1;  // as a run knows of its own processes
  EXPECT_EQ(cluster, expected);
}

TEST(ClusterOfRun, GuessesNothing) {
  EXPECT_THROW((void)cluster_of_run(run_on(2, 7), topology::resolve_machine("hgx-h100"), "run.json", false),
               Error);
  collbench::Run host_memory = run_on(1, 2);
  host_memory.backend = BackendId::mpi;
  EXPECT_THROW((void)cluster_of_run(host_memory, topology::resolve_machine("hgx-h100"), "run.json", false),
               Error);
  collbench::Run log = run_on(1, 8);
  log.log = LogFacts();
  EXPECT_THROW((void)cluster_of_run(log, topology::resolve_machine("hgx-h100"), "run.json", false), Error);
  log.log->nodes = {1, 3};
  EXPECT_NO_THROW((void)cluster_of_run(log, topology::resolve_machine("hgx-h100"), "run.json", false));
}

TEST(ClusterOfRun, TheLogNamesTheGpusOfAMachineWhoseTextsDoNot) {
  topology::ResolvedMachine machine;
  machine.argument = "topo.txt";
  machine.topology.hosts.push_back(topology::read_nvidia_smi_topo(
      "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-3\nGPU1\tNV18\t X \t0-3\n", "topo.txt"));
  collbench::Run run = run_on(1, 2);
  run.log.emplace();
  run.log->nodes = {1, 3};
  EXPECT_THROW((void)cluster_of_run(run, machine, "log", false), Error);
  run.log->gpu = {"NVIDIA H200", 3};
  EXPECT_EQ(cluster_of_run(run, machine, "log", false).gpu, "H200 SXM");
  machine.topology.hosts[0].gpus[0].model.value = "NVIDIA H100 80GB HBM3";  // what the machine says stands
  EXPECT_EQ(cluster_of_run(run, machine, "log", false).gpu, "H100 SXM");
}

}  // namespace
}  // namespace collbench::analysis::cluster_of_run_test
