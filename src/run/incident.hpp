#pragma once
#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/record/incident.hpp"
#include "base/record/rank_activity.hpp"
#include "launch/agreement.hpp"
#include "launch/ranks.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

/// What cut this run short, and the files that say so: its record with the CSV beside it, and its stream. Any
/// rank may be the one that tells, from any thread: rank 0 may be the one that is gone. Files are found by
/// their names, so that a rank of another host reaches them where their folder is shared.
class IncidentLog {
 public:
  /// `flight_folder` is where the ranks of this host meet; empty: nowhere.
  IncidentLog(RunOptions options, std::filesystem::path flight_folder);

  /// The files are there, of a run that `started` then: of any other run they are left alone. Where they were
  /// written is `other_host`, empty: here; `is_kept`: that could be done.
  void begin(std::string started, std::string other_host, bool is_kept);
  [[nodiscard]] bool has_begun() const { return has_begun_; }
  /// The files have all that was asked for: what happens from now on cuts nothing short.
  void complete() { is_complete_ = true; }

  /// What to do next: where the measurements are, or how to keep them next time.
  [[nodiscard]] std::string next_step() const;

  /// Whether no other rank of this host has told of one yet. The first one's is what counts.
  [[nodiscard]] bool claim(const Incident& incident);
  /// What a rank of this host told, this one included.
  [[nodiscard]] std::optional<Incident> known() const;
  /// What a rank of another host has written into the record, where the hosts share its folder; it is known
  /// from then on.
  [[nodiscard]] bool learn_from_record();
  /// Writes it into the files, unless they know of one already. What cannot be written is left as it is: the
  /// user was told, and nothing else can be done.
  void write(const Incident& incident);
  /// Of a run that may still come to its end: only into the record, which is then written again.
  void write_for_now(const Incident& incident);

  /// Takes away the locks that this process has of the run's files; for an end without destructors.
  void remove_locks() const;

  /// For the time of a write of the record, against other threads and the other ranks of this host.
  struct FileLock {
    std::unique_lock<std::timed_mutex> thread;
    FileDescriptor folder;
  };
  [[nodiscard]] FileLock lock_files();

 private:
  void write_record(const Incident& incident) const;
  void write_stream(const Incident& incident) const;
  using Part = void (IncidentLog::*)(const Incident& incident) const;
  void write_parts(const std::vector<Part>& parts, const Incident& incident);

  RunOptions options_;  // its own: a thread that writes may outlast the run
  std::filesystem::path flight_folder_;
  std::atomic<bool> has_begun_ = false;
  std::atomic<bool> is_complete_ = false;
  std::string started_;  // this and the next two are set before has_begun_
  std::string other_host_;
  bool is_kept_ = true;
  std::timed_mutex files_;
  mutable std::mutex claimed_mutex_;
  std::optional<Incident> claimed_;
};

/// What all ranks saw of each other, on rank 0; empty elsewhere. Collective.
[[nodiscard]] std::vector<RankPause> gather_pauses(launch::Ranks& ranks, const std::vector<RankPause>& seen);

/// An incident of those of `ranks` that are to blame. Where nobody is, step and call are those of `own`.
[[nodiscard]] Incident incident_of(IncidentKind kind, std::string sentence, ExitStatus status,
                                   const std::vector<RankActivity>& blamed, const RankActivity& own);
/// What all ranks agreed on, at what `own` does.
[[nodiscard]] Incident agreed_incident(const launch::AgreedError& error, const RankActivity& own);

}  // namespace collbench::program
