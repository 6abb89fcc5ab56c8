#include "topology/summarize_host.hpp"

#include <gtest/gtest.h>

#include "tests/topology/fixture.hpp"
#include "topology/nvidia_smi_topo.hpp"
#include "topology/reference_machines.hpp"

namespace collbench::summarize_host_test {
namespace {

TEST(SummarizeHost, CountsWhatThereIs) {
  Host host = reference_host(*find_reference_machine("hgx-h100"));
  EXPECT_EQ(summarize_host(host),
            "8 × NVIDIA H100 80GB HBM3, 18 NVLinks each through 4 NVSwitches, 8 NICs (3200 Gb/s together), "
            "2 NUMA nodes");
  host.gpus[7].model.value = "NVIDIA A100";
  EXPECT_EQ(summarize_host(host).substr(0, 48), "1 × NVIDIA A100, 7 × NVIDIA H100 80GB HBM3, 18");
}

TEST(SummarizeHost, SaysLittleWhereLittleIsKnown) {
  EXPECT_EQ(summarize_host({}), "no GPU, 0 NICs");
  EXPECT_EQ(summarize_host(read_nvidia_smi_topo(fixture("topo_m.txt"), "topo_m.txt")),
            "2 × GPU, 18 NVLinks each, 4 NICs");
  Host host;
  host.gpus.resize(1);
  host.gpus[0].sm.value = 90;
  host.nics.resize(1);
  host.numa_nodes.resize(1);
  EXPECT_EQ(summarize_host(host), "1 × GPU (sm 90), 1 NIC, 1 NUMA node");
}

}  // namespace
}  // namespace collbench::summarize_host_test
