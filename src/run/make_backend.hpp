#pragma once
#include <memory>

#include "base/record/traffic_matrix.hpp"
#include "collectives/engine/backend.hpp"
#include "launch/collective_wait.hpp"
#include "launch/mpi_session.hpp"
#include "src/run/context.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

/// What measures. Collective. On GPUs, memory is theirs from here on: `place` learns how much there is and
/// which GPUs. Throws the same Error on all ranks where GPUs are asked for and cannot be used.
[[nodiscard]] std::unique_ptr<collectives::Backend> make_backend(const RunOptions& options,
                                                                 const launch::MpiSession& session,
                                                                 const launch::CollectiveWait& waiter,
                                                                 RunContext& place,
                                                                 const TrafficMatrix& traffic);

}  // namespace collbench::program
