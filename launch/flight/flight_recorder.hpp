#pragma once
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/record/rank_activity.hpp"
#include "launch/flight/flight_page.hpp"

namespace collbench::launch {

/// Who a recorder is of, as far as it is known before MPI begins.
struct FlightIdentity {
  int rank = 0;
  int ranks = 0;        ///< 0: unknown
  int local_ranks = 0;  ///< 0: unknown
  std::string host;
  std::string gpu;
  std::string meeting{};  ///< what names a job that no launcher does; empty: its launcher's name does
};

/// What this rank is doing, in a small file in memory that outlives the process if that is killed, so that
/// others can say where it was. Where no file can be made, nobody else sees it, and the run goes on.
class FlightRecorder {
 public:
  /// In `folder`, as the file rank-N; an empty path: only in this process.
  FlightRecorder(const FlightIdentity& identity, const std::filesystem::path& folder);
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;
  /// Removes the file, and the folder behind the last one. The page of a file stays mapped: a signal handler
  /// of another thread may be about to write is_over().
  ~FlightRecorder();

  /// The last step is over and this one begins.
  void step(std::string_view name) { begin(name, true); }
  /// The same, of a step that may take any time.
  void step_without_limit(std::string_view name) { begin(name, false); }
  /// The step goes on, on a GPU: no call is seen there, and for the watchdog it is progress all the same.
  void begin_again() { begin(step_name(), step_has_limit()); }
  void pass(int number);
  /// What this rank works with, for a person: "GPU3, mlx5_2".
  void device(std::string_view name);
  /// This rank ends on purpose: nobody needs to say that it is gone.
  void finish();
  /// What finish() sets, for a signal handler.
  [[nodiscard]] std::atomic<std::uint8_t>& is_over() { return page().is_over; }

  /// This rank ends because it was ordered to: the file goes now, since a launcher may kill what it ordered
  /// to end. Others no longer see this rank.
  void withdraw();

  /// For the calls of the measured operation, and for collbench's own between ranks.
  [[nodiscard]] CallCounter& calls() { return page().calls; }
  [[nodiscard]] CallCounter& exchanges() { return page().exchanges; }
  [[nodiscard]] CallCounters counters() { return {calls(), exchanges()}; }

  /// A number that changes with every step and every call of the operation. Not with collbench's own
  /// exchanges, by which ranks also ask each other again and again whether they are done.
  [[nodiscard]] std::uint64_t progress() const;
  [[nodiscard]] bool step_has_limit() const {
    return page().step_has_limit.load(std::memory_order_relaxed) != 0;
  }
  /// The step's name as it is now; for a thread that does not write it.
  [[nodiscard]] std::string step_name() const;
  /// As others see it.
  [[nodiscard]] RankActivity activity() const;
  /// Writes down that there was progress; the watchdog's thread calls it.
  void mark_progress();
  /// Writes down what another host does not acknowledge, until there is progress; likewise.
  void mark_unacknowledged(Unacknowledged bytes);
  /// Writes down, for the other ranks of this host, that ranks of other hosts go on; likewise.
  void mark_heard();

  /// Empty where there is no file.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  void begin(std::string_view name, bool has_limit);
  [[nodiscard]] FlightPage& page() { return *page_; }
  [[nodiscard]] const FlightPage& page() const { return *page_; }

  std::filesystem::path folder_;
  std::filesystem::path file_;
  std::unique_ptr<FlightPage> private_page_;  // where there is no file
  FlightPage* page_ = nullptr;
};

}  // namespace collbench::launch
