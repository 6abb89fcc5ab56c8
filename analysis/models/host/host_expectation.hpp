#pragma once
#include <string_view>

#include "base/record/calibration.hpp"
#include "base/record/identities.hpp"
#include "base/record/measurement.hpp"
#include "base/record/traffic_matrix.hpp"

namespace collbench::analysis {

/// What a row on host memory should take (docs/model.md): by the ring and, for AllReduce, by NCCL's trees;
/// and by the formula of the algorithm that ran, or with "auto" (not known) the cheapest of the operation's
/// algorithms. `traffic` is what AllToAllv moves. Empty for one rank, for an algorithm without a formula, and
/// where the calibration lacks something.
[[nodiscard]] Expectation expect_on_host_memory(const RowKey& key, std::string_view algorithm_ran,
                                                const Calibration& calibration, const Identities& identities,
                                                const TrafficMatrix& traffic);

}  // namespace collbench::analysis
