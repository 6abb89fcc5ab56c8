#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "launch/flight/flight_page.hpp"
#include "launch/ranks.hpp"

namespace collbench::launch {

/// All ranks of MPI_COMM_WORLD, over a communicator of their own, so that the harness's messages never meet
/// the measured ones. No call gives a rank more messages than a few times log2 of the ranks
/// (docs/notes/benchmarks.md has them counted). Collective; between MPI_Init and MPI_Finalize. Its calls are
/// counted in `exchanges`, which must outlive it.
[[nodiscard]] std::unique_ptr<Ranks> make_mpi_ranks(CallCounter& exchanges);

/// Likewise those ranks of MPI_COMM_WORLD that give the same `group`, in the same order. Collective over all.
[[nodiscard]] std::unique_ptr<Ranks> make_mpi_ranks(CallCounter& exchanges, int group);

/// Throws Error (rank_lost) with MPI's own words when `code` is not MPI_SUCCESS. `call` names what was
/// called.
void check_mpi(int code, std::string_view call);

/// MPI from Init to Finalize, and what the harness needs of it. One per process.
class MpiSession {
 public:
  /// `exchanges` counts the harness's calls between ranks, MPI_Init among them.
  MpiSession(int* argc, char*** argv, CallCounter& exchanges);
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  MpiSession(MpiSession&&) = delete;
  MpiSession& operator=(MpiSession&&) = delete;
  ~MpiSession();

  [[nodiscard]] Ranks& ranks() const;
  /// MPI_Wtime: real time, or SimGrid's simulated time.
  [[nodiscard]] const Clock& clock() const;
  /// MPI_Get_processor_name, as records have it (legal_host_name).
  [[nodiscard]] std::string host() const;
  /// The lowest rank among those that share memory with this one: what tells nodes apart, whatever they are
  /// called.
  [[nodiscard]] int shared_memory_leader() const;
  /// MPI_Get_library_version up to its first comma or line end. Needs no session.
  [[nodiscard]] static std::string library_version();
  /// Ends all ranks at once with `status`: for a failure that cannot be agreed on any more.
  [[noreturn]] static void abort(int status);

 private:
  class MpiClock;
  std::unique_ptr<Ranks> ranks_;
  std::unique_ptr<MpiClock> clock_;
};

}  // namespace collbench::launch
