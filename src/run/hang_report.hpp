#pragma once
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/record/identities.hpp"
#include "base/record/incident.hpp"
#include "launch/flight/flight_recorder.hpp"
#include "launch/flight/hang_watch.hpp"
#include "launch/host_link.hpp"
#include "launch/ranks.hpp"
#include "launch/watchdog.hpp"
#include "src/run/incident.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

/// The step before MPI_Init is done.
inline constexpr const char* kStartOfMpi = "start of MPI";
/// The measurement is over.
inline constexpr const char* kEndOfRun = "end of the run";

/// Where this rank's flight recorder goes: the folder of its job, and nowhere in simulated time, where ranks
/// are threads, or without a launcher, where nobody else could look. Clears away what old runs left.
[[nodiscard]] std::filesystem::path flight_folder(const launch::FlightIdentity& identity, bool launched);

/// Ends this process when a step makes no progress for --timeout, or when another rank of this host is gone;
/// who the others wait for is said once.
class RunWatch {
 public:
  /// To be made before MPI_Init, which is the first step. All arguments but `incidents` must outlive it.
  /// `last_word`: the process's, held by the rank that says why the process ends until it has said so.
  RunWatch(const RunOptions& options, std::shared_ptr<IncidentLog> incidents,
           const launch::FlightIdentity& identity, launch::FlightRecorder& flight, std::mutex& last_word);
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;
  ~RunWatch();

  /// From now on one rank speaks for all hosts, until then the first that runs of each for its own.
  /// Collective. What keeps it from that is added to `notes`, for the record.
  void join_hosts(launch::Ranks& ranks, const Identities& machines, std::vector<std::string>& notes);

  /// This rank ends on purpose: the others need not say that it is gone.
  void finish();

  /// Which ranks of this host were stopped and went on, as far as this one looks after them.
  [[nodiscard]] std::vector<RankPause> pauses() const;

 private:
  double timeout_seconds_;
  launch::FlightRecorder& flight_;
  std::shared_ptr<launch::HangWatch> watch_;  // none in simulated time
  launch::Watchdog watchdog_;
};

}  // namespace collbench::program
