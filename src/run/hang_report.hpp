#pragma once
#include <atomic>
#include <filesystem>

#include "launch/flight/flight_recorder.hpp"
#include "launch/watchdog.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

/// The step before MPI_Init is done.
inline constexpr const char* kStartOfMpi = "start of MPI";

/// Where this rank's flight recorder goes: the folder of its job, and nowhere in simulated time, where ranks
/// are threads, or without a launcher, where nobody else could look. Clears away what old runs left.
[[nodiscard]] std::filesystem::path flight_folder(const launch::FlightIdentity& identity);

/// Ends this process when a step makes no progress for --timeout, or when another rank of this host is gone;
/// the first rank of the host that lives says which rank the others wait for, once. To be made before
/// MPI_Init, which is the first step. All arguments must outlive it.
[[nodiscard]] launch::Watchdog watch_for_hangs(const RunOptions& options, const std::atomic<bool>& begun,
                                               const launch::FlightIdentity& identity,
                                               launch::FlightRecorder& flight);

}  // namespace collbench::program
