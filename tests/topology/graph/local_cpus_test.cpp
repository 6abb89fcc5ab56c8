#include "topology/graph/cpu_list.hpp"

#include <gmock/gmock.h>

namespace collbench::topology::local_cpus_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LocalCpus, AreTheGpusOwnElseThoseOfItsNumaNode) {
  Host host;
  host.gpus.resize(1);
  const Device gpu{DeviceKind::gpu, 0};
  EXPECT_THAT(local_cpus(host, gpu), IsEmpty());
  host.numa_nodes.resize(1);
  host.numa_nodes[0].index = 1;
  host.numa_nodes[0].cpus.value = "8-9";
  host.gpus[0].numa_affinity.value = "1";
  EXPECT_THAT(local_cpus(host, gpu), ElementsAre(8, 9));
  host.gpus[0].cpu_affinity.value = "0,2";
  EXPECT_THAT(local_cpus(host, gpu), ElementsAre(0, 2));
}

}  // namespace
}  // namespace collbench::topology::local_cpus_test
