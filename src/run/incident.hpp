#pragma once
#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/record/incident.hpp"
#include "base/record/rank_activity.hpp"
#include "launch/ranks.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

/// Now, as records have it: "2026-10-01T12:00:00Z".
[[nodiscard]] std::string utc_now();

/// What cut this run short, and the files that say so: its record with the CSV beside it, and its stream. Any
/// rank may be the one that tells, from any thread: rank 0 may be the one that is gone. Files are found by
/// their names, so that a rank of another host reaches them where their folder is shared.
class IncidentLog {
 public:
  /// `options` must outlive it. `flight_folder` is where the ranks of this host meet; empty: nowhere.
  IncidentLog(const RunOptions& options, std::filesystem::path flight_folder);

  /// The files are there, of a run that `started` then: of any other run they are left alone. `root_host` is
  /// where they were written.
  void begin(std::string started, std::string root_host);
  [[nodiscard]] bool has_begun() const { return has_begun_; }

  /// What to do next: where the measurements are, or how to keep them next time.
  [[nodiscard]] std::string next_step() const;

  /// Whether no other rank of this host has told of one yet. The first one's is what counts.
  [[nodiscard]] bool claim(const Incident& incident);
  /// What a rank of this host told, this one included.
  [[nodiscard]] std::optional<Incident> known() const;
  /// Writes it into the files, unless they know of one already. What cannot be written is left as it is: the
  /// user was told, and nothing else can be done.
  void write(const Incident& incident);

  /// For the time of a write of the record on rank 0.
  [[nodiscard]] std::unique_lock<std::timed_mutex> lock_files();

 private:
  void write_record(const Incident& incident) const;
  void write_stream(const Incident& incident) const;

  const RunOptions& options_;
  std::filesystem::path flight_folder_;
  std::atomic<bool> has_begun_ = false;
  std::string started_;  // this and the next two are set before has_begun_
  std::string root_host_;
  bool sees_files_ = true;
  std::timed_mutex files_;
  mutable std::mutex claimed_mutex_;
  std::optional<Incident> claimed_;
};

/// What all ranks saw of each other, on rank 0; empty elsewhere. Collective.
[[nodiscard]] std::vector<RankPause> gather_pauses(launch::Ranks& ranks, const std::vector<RankPause>& seen);

/// An incident of those of `ranks` that are to blame. Where nobody is, step and call are those of `own`.
[[nodiscard]] Incident incident_of(IncidentKind kind, std::string sentence, ExitStatus status,
                                   const std::vector<RankActivity>& blamed, const RankActivity& own);

}  // namespace collbench::program
