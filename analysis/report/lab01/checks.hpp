#pragma once
#include <optional>
#include <vector>

#include "analysis/report/lab01/page.hpp"
#include "base/record/run.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::analysis {

/// Is the network up at its rate, is it RDMA or sockets, does the NIC reach GPU memory itself, are the
/// NVLinks even, was the data checked; on host memory: has every rank a core. By the log's own lines and by
/// `host`.
[[nodiscard]] std::vector<PrecedingCheck> lab01_checks(const Run& run,
                                                       const std::optional<topology::Host>& host);

}  // namespace collbench::analysis
