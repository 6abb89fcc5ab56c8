#pragma once
#include "tests/topology/fixture.hpp"
#include "topology/graph/merge.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {

/// The machine of the fixtures as all of them tell it: a graph with something in every list.
inline Host whole_fixture() {
  return merge_hosts({read_nvidia_smi_query(fixture("query.xml"), "query.xml"),
                      read_hwloc_xml(fixture("hwloc2.xml"), "hwloc2.xml"),
                      read_nvidia_smi_topo(fixture("topo_m.txt"), "topo_m.txt"),
                      read_nvidia_smi_p2p(fixture("topo_p2p.txt"), "topo_p2p.txt"),
                      read_nvidia_smi_nvlink(fixture("nvlink_s.txt"), "nvlink_s.txt"),
                      read_nccl_topology_xml(fixture("nccl_topology.xml"), "nccl_topology.xml"),
                      read_nccl_graph_xml(fixture("nccl_graph.xml"), "nccl_graph.xml")});
}

}  // namespace collbench::topology
