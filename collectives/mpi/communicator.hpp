#pragma once
#include <mpi.h>

#include <utility>

#include "launch/mpi/mpi_session.hpp"

namespace collbench::collectives {

/// A communicator that is freed. Its calls return errors instead of ending the job.
class Communicator {
 public:
  Communicator() = default;
  /// Takes over `handle`.
  explicit Communicator(MPI_Comm handle) : handle_(handle) {
    if (handle_ != MPI_COMM_NULL) MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN);
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  Communicator(Communicator&& other) noexcept : handle_(std::exchange(other.handle_, MPI_COMM_NULL)) {}
  Communicator& operator=(Communicator&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Communicator() {
    if (handle_ != MPI_COMM_NULL) MPI_Comm_free(&handle_);
  }

  [[nodiscard]] MPI_Comm get() const { return handle_; }

  /// A duplicate of `parent`. Collective.
  [[nodiscard]] static Communicator duplicate(MPI_Comm parent) {
    MPI_Comm handle = MPI_COMM_NULL;
    launch::check_mpi(MPI_Comm_dup(parent, &handle), "MPI_Comm_dup");
    return Communicator(handle);
  }

  /// The ranks of `parent` with the same color, in their order; null for MPI_UNDEFINED. Collective.
  [[nodiscard]] static Communicator split(MPI_Comm parent, int color) {
    MPI_Comm handle = MPI_COMM_NULL;
    launch::check_mpi(MPI_Comm_split(parent, color, 0, &handle), "MPI_Comm_split");
    return Communicator(handle);
  }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

}  // namespace collbench::collectives
