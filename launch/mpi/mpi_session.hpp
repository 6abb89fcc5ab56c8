#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "launch/flight/flight_page.hpp"
#include "launch/ranks.hpp"
#include "launch/session.hpp"

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

/// MPI from Init to Finalize.
class MpiSession : public Session {
 public:
  /// `exchanges` counts the harness's calls between ranks, MPI_Init among them; it must outlive this.
  MpiSession(int* argc, char*** argv, CallCounter& exchanges);
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  ~MpiSession() override;

  [[nodiscard]] Ranks& ranks() const override;
  [[nodiscard]] std::unique_ptr<Ranks> ranks_of(int group) const override;
  /// MPI_Wtime: real time, or SimGrid's simulated time.
  [[nodiscard]] const Clock& clock() const override;
  /// MPI_Get_processor_name.
  [[nodiscard]] std::string host() const override;
  /// By MPI_COMM_TYPE_SHARED.
  [[nodiscard]] int shared_memory_leader() const override;
  [[nodiscard]] bool has_mpi() const override { return true; }
  [[nodiscard]] std::string library() const override { return library_version(); }
  [[noreturn]] void abort(int status) const override;

  /// MPI_Get_library_version up to its first comma or line end. Needs no session.
  [[nodiscard]] static std::string library_version();

 private:
  class MpiClock;
  CallCounter& exchanges_;
  std::unique_ptr<Ranks> ranks_;
  std::unique_ptr<MpiClock> clock_;
};

}  // namespace collbench::launch
