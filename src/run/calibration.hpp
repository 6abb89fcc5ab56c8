#pragma once
#include <string>
#include <vector>

#include "base/record/run.hpp"
#include "collectives/engine/backend.hpp"
#include "collectives/mpi/calibration.hpp"
#include "launch/flight/flight_recorder.hpp"
#include "launch/session.hpp"

namespace collbench::program {

/// Measures the machine for at most `seconds` and fits it into `run.calibration`. A machine too noisy to be
/// fitted is still measured: the run's notes then say what is missing. Each of its points is a step of
/// `flight`; behind points the state of the machine is probed, for 1.5 % of the time. `backend` can be
/// calibrated. Collective.
void calibrate(Run& run, const launch::Session& session, collectives::Backend& backend,
               const std::vector<RowKey>& rows, double seconds, launch::FlightRecorder& flight);

/// Fits what was measured into `run.calibration`. Where it does not fit itself, cannot be fitted or was cut
/// off too early, that has the points only, so that no row has an expectation, and the run's notes say why.
void take_calibration(Run& run, collectives::MeasuredCalibration measured,
                      const collectives::EagerLimits& eager);

/// Puts the calibration of the record `then`, which is from `file`, into `run`, and a note that says so.
/// Throws Error (usage) where it has none, was measured by another backend or MPI library or on other ranks
/// or hosts, or lacks what `rows` need.
void take_saved_calibration(Run& run, const Run& then, const std::vector<RowKey>& rows,
                            const std::string& file);

}  // namespace collbench::program
