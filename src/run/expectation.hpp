#pragma once
#include <functional>
#include <vector>

#include "base/record/run.hpp"
#include "collectives/mpi/mpi_backend.hpp"
#include "launch/mpi_session.hpp"

namespace collbench::program {

/// Measures the machine for at most `seconds` and fits it into `run.calibration`. A machine too noisy to be
/// fitted is still measured: the run's notes then say what is missing. `before_point` is called before each
/// of its points. Collective.
void calibrate(Run& run, const launch::MpiSession& session, const collectives::MpiBackend& backend,
               const std::vector<RowKey>& rows, double seconds, const std::function<void()>& before_point);

/// What every row should take by the run's calibration: worked out once, since nothing else but the row's key
/// goes into it.
[[nodiscard]] std::vector<Expectation> expectations(const std::vector<RowKey>& rows,
                                                    const collectives::Backend& backend, const Run& run,
                                                    const TrafficMatrix& traffic);

}  // namespace collbench::program
