#include "src/run/hang_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "analysis/hang/hang.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "launch/flight/flight_folder.hpp"
#include "launch/flight/process_stat.hpp"
#include "launch/interruption.hpp"
#include "launch/launcher.hpp"
#include "launch/real_machine.hpp"
#include "src/cli/standard_streams.hpp"

namespace collbench::program {
namespace {

using launch::HangAction;

constexpr double kMaxLooks = 1e9;  // of a timeout
constexpr auto kCheckOfOthers = std::chrono::milliseconds(50);
constexpr int kChecksOfOthers = 40;
constexpr auto kPatience = std::chrono::seconds(2);  // with a file system that does not answer

/// What the user reads, what the files say, and how this process ends.
class HangReport {
 public:
  HangReport(const RunOptions& options, std::shared_ptr<IncidentLog> incidents,
             const launch::FlightIdentity& identity, launch::FlightRecorder& flight, std::mutex& last_word)
      : options_(options),
        incidents_(std::move(incidents)),
        rank_(identity.rank),
        host_(identity.host),
        local_ranks_(identity.local_ranks),
        flight_(flight),
        last_word_(last_word) {}

  /// What the main thread cannot say, being inside a library. To be called at every look of an interrupted
  /// run. Rank 0 ends a run that has nothing to keep; otherwise the main thread does, after the block.
  void act_on_interruption(launch::HangWatch& watch) {
    constexpr int kPatientLooks = 3;  // most blocks end sooner
    if (rank_ != 0) return;
    const std::string cause = "interrupted by " + launch::interrupting_signal();
    if (!incidents_->has_begun()) {
      end_before_rows(watch, {ExitStatus::rank_lost, cause,
                              fmt::format("in {}, before anything was measured", step()), ""});
    }
    // Into the record at once, since mpirun kills a second after its signal, and later once more: meanwhile
    // the main thread may have written it.
    const int looks = ++looks_since_interruption_;
    if ((looks != 1 && looks != kPatientLooks) || step() == kEndOfRun) return;
    if (incidents_->known() || incidents_->learn_from_record())
      return;  // the signal is the launcher's, after what the user was told
    const Error error(ExitStatus::rank_lost, step(), cause + ", which has to wait for this block",
                      "if that is the last one, the run is complete; otherwise, " + incidents_->next_step());
    if (looks == kPatientLooks) print(error);
    if (options_.is_endless()) return;
    incidents_->write_for_now(incident_of(IncidentKind::interrupted,
                                          fmt::format("{}: {}", error.where(), error.what()), error.status(),
                                          {}, flight_.activity()));
  }

  /// mpirun is gone, and whoever read what the ranks say; Open MPI ends them within seconds. The files have
  /// the last word, by the first rank of the host that sees it.
  void act_on_lost_mpirun(launch::HangWatch& watch, int pid) {
    if (step() == kEndOfRun) return;  // the files are being written, with all that there is
    const std::string order =
        launch::interrupted() ? fmt::format("interrupted by {}, and ", launch::interrupting_signal()) : "";
    const Error error(ExitStatus::rank_lost, step(), fmt::format("{}mpirun (process {}) is gone", order, pid),
                      incidents_->next_step());
    tell(IncidentKind::interrupted, error, {}, {});
    end(watch);
  }

  void act(launch::HangWatch& watch, const launch::HangWatch::Look& look) {
    switch (look.action) {
      case HangAction::none:
        return;
      case HangAction::report_gone: {
        const analysis::HangFinding found = analysis::find_hang(look.ranks, local_ranks_);
        tell(IncidentKind::rank_lost, lost(found), found, look);
        return;
      }
      case HangAction::end_gone:
      case HangAction::end_silently:
        end(watch);
        return;
      case HangAction::end_timeout: {
        const analysis::HangFinding found = find_hang(look);
        tell(IncidentKind::hang, timed_out(found), found, look);
        wait_for_others(watch);
        end(watch);
        return;
      }
    }
  }

 private:
  /// On rank 0 of a run that was ordered to end: unless a rank that is gone is why its launcher ended it,
  /// which a rank of this host has said or this one does.
  [[noreturn]] void end_before_rows(launch::HangWatch& watch, const Error& ordered) {
    if (!incidents_->known()) {
      const launch::HangWatch::Look look{HangAction::report_gone, launch::ranks_of(flight_.folder())};
      const analysis::HangFinding found = analysis::find_hang(look.ranks, local_ranks_);
      if (found.cause == analysis::HangCause::rank_gone) {
        tell(IncidentKind::rank_lost, lost(found), found, look);
      } else {
        print(ordered);
        flight_.withdraw();
      }
    }
    end(watch);
  }

  [[nodiscard]] Error lost(const analysis::HangFinding& found) const {
    return {ExitStatus::rank_lost, step(), found.text, next_step(found)};
  }

  [[nodiscard]] analysis::HangFinding find_hang(const launch::HangWatch::Look& look) const {
    if (look.silent_hosts.empty()) return analysis::find_hang(look.ranks, local_ranks_, host_);
    std::vector<analysis::SilentRanks> silent;
    for (const launch::SilentHost& each : look.silent_hosts) silent.push_back({each.host, each.ranks});
    return analysis::find_hang_with_silence(look.ranks, host_, silent, look.closed_strangers);
  }

  /// Until the other hosts were told that they need say nothing.
  static void wait_for_others(const launch::HangWatch& watch) {
    for (int i = 0; i < kChecksOfOthers && !watch.others_know(); ++i)
      std::this_thread::sleep_for(kCheckOfOthers);
  }

  [[nodiscard]] Error timed_out(const analysis::HangFinding& found) const {
    return {ExitStatus::rank_lost, step(),
            fmt::format("timed out after {} without progress: {}", format_seconds(options_.timeout_seconds),
                        found.text),
            next_step(found) + "; -T sets the timeout"};
  }

  [[nodiscard]] std::string step() const { return flight_.step_name(); }

  [[nodiscard]] std::string next_step(const analysis::HangFinding& found) const {
    std::string look;
    if (!flight_.folder().empty())
      look = fmt::format("; collbench flight {} shows all ranks of this host", flight_.folder().string());
    // A connection that fails leaves Open MPI waiting; it says so itself, and no more.
    const bool is_start = step() == kStartOfMpi && found.ranks.empty();
    return (is_start ? "check that the hosts reach each other (Open MPI: --mca btl_tcp_if_include INTERFACE)"
                     : incidents_->next_step()) +
           look;
  }

  /// Unless another rank of this host has told what ended the run. The user first, then the files.
  void tell(IncidentKind kind, const Error& error, const analysis::HangFinding& found,
            const launch::HangWatch::Look& look) {
    const Incident incident = incident_of(kind, fmt::format("{}: {}", error.where(), error.what()),
                                          error.status(), blamed(found, look), flight_.activity());
    const std::lock_guard lock(last_word_);
    if (!incidents_->claim(incident)) return;
    print(error);
    with_files([incident](IncidentLog& incidents) { incidents.write(incident); });
  }

  /// In a thread of its own, since a file system may not answer.
  void with_files(std::function<void(IncidentLog&)> work) {
    const auto done = std::make_shared<std::promise<void>>();
    std::thread([incidents = incidents_, done, work = std::move(work)] {
      work(*incidents);
      done->set_value();
    }).detach();
    done->get_future().wait_for(kPatience);
  }

  static void print(const Error& error) { print_message("\n" + describe(error)); }

  static std::vector<RankActivity> blamed(const analysis::HangFinding& found,
                                          const launch::HangWatch::Look& look) {
    std::vector<RankActivity> ranks;
    for (const int rank : found.ranks) {
      const auto seen = std::ranges::find(look.ranks, rank, &RankActivity::rank);
      RankActivity unseen;
      unseen.rank = rank;
      for (const launch::SilentHost& each : look.silent_hosts) {
        if (std::ranges::find(each.ranks, rank) != each.ranks.end()) unseen.host = each.host;
      }
      ranks.push_back(seen == look.ranks.end() ? unseen : *seen);
    }
    return ranks;
  }

  /// mpirun ends the others. Nothing else may run here: the main thread is inside the library.
  [[noreturn]] void end(launch::HangWatch& watch) {
    watch.finish();
    last_word_.lock();  // another rank of this process may be writing
    if (rank_ < options_.process.gpus) with_files([](IncidentLog& incidents) { incidents.remove_locks(); });
    std::_Exit(static_cast<int>(ExitStatus::rank_lost));
  }

  const RunOptions& options_;
  std::shared_ptr<IncidentLog> incidents_;
  int rank_;
  int looks_since_interruption_ = 0;
  std::string host_;
  int local_ranks_;
  launch::FlightRecorder& flight_;
  std::mutex& last_word_;
};

std::shared_ptr<launch::HangWatch> make_watch(const RunOptions& options,
                                              const launch::FlightIdentity& identity,
                                              launch::FlightRecorder& flight) {
  if (launch::time_is_simulated()) return nullptr;
  const bool sees_all = identity.ranks > 0 && identity.ranks == identity.local_ranks;
  return std::make_shared<launch::HangWatch>(flight, options.timeout_seconds, identity.rank, sees_all);
}

std::function<void()> looks(const std::shared_ptr<launch::HangWatch>& watch, const RunOptions& options,
                            std::shared_ptr<IncidentLog> incidents, const launch::FlightIdentity& identity,
                            launch::FlightRecorder& flight, std::mutex& last_word) {
  if (!watch) return {};
  auto report = std::make_shared<HangReport>(options, std::move(incidents), identity, flight, last_word);
  const auto mpirun = launch::launched_rank() ? launch::find_mpirun() : std::nullopt;
  return [watch, report, mpirun] {
    const ProcessState launcher =
        mpirun ? launch::process_state(mpirun->pid, mpirun->start_ticks) : ProcessState::unknown;
    if (launcher == ProcessState::gone) report->act_on_lost_mpirun(*watch, mpirun->pid);
    const bool interrupted = launch::interrupted();
    const launch::HangWatch::Look look = watch->look(interrupted, launcher == ProcessState::stopped);
    report->act(*watch, look);
    if (interrupted) report->act_on_interruption(*watch);
  };
}

}  // namespace

std::filesystem::path flight_folder(const launch::FlightIdentity& identity, bool launched) {
  if (launch::time_is_simulated() || !launched) return {};
  if (identity.rank == 0) launch::remove_old_flights();
  std::filesystem::path folder = launch::make_flight_folder(identity.meeting);
  if (!folder.empty()) launch::forget_earlier_job(folder, launch::launch_ns());
  return folder;
}

RunWatch::RunWatch(const RunOptions& options, std::shared_ptr<IncidentLog> incidents,
                   const launch::FlightIdentity& identity, launch::FlightRecorder& flight,
                   std::mutex& last_word)
    : timeout_seconds_(options.timeout_seconds),
      flight_(flight),
      watch_(make_watch(options, identity, flight)),
      watchdog_(launch::HangWatch::kLookSeconds,
                looks(watch_, options, std::move(incidents), identity, flight, last_word)) {
  // Only a page that others see, which stays mapped.
  if (watch_ && !flight.folder().empty()) launch::mark_interruption(&flight.is_over());
}

RunWatch::~RunWatch() { launch::mark_interruption(nullptr); }

void RunWatch::join_hosts(launch::Ranks& ranks, const Identities& machines, std::vector<std::string>& notes) {
  if (!watch_ || timeout_seconds_ <= 0) return;
  const double looks = std::ceil(timeout_seconds_ / launch::HangWatch::kLookSeconds);
  const launch::JoinedHosts joined =
      launch::join_hosts(ranks, machines, static_cast<int>(std::min(looks, kMaxLooks)));
  if (joined.link) watch_->join({joined.link, &joined.link->watch()});
  if (!joined.obstacle.empty())
    notes.push_back("of a rank that hangs only its own host can tell: " + joined.obstacle);
}

void RunWatch::finish() { watch_ ? watch_->finish() : flight_.finish(); }

std::vector<RankPause> RunWatch::pauses() const {
  return watch_ ? watch_->pauses() : std::vector<RankPause>{};
}

}  // namespace collbench::program
