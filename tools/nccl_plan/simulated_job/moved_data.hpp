#pragma once
#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

#include "collectives/nccl/on_host/hub.hpp"

// The data of a real libnccl's operations over simulated GPUs, whose kernels do not run: once NCCL's own call
// has succeeded, the ranks' data meet in a hub (collectives/nccl/on_host/hub.hpp), on the stream where NCCL's
// kernel would have run.

namespace collbench::collectives {

/// What a communicator of NCCL is to the hub. Joined when its first operation runs.
class DataCommunicator {
 public:
  DataCommunicator(std::string hub, int rank, int ranks) : hub_(std::move(hub)), rank_(rank), ranks_(ranks) {}
  DataCommunicator(const DataCommunicator&) = delete;
  DataCommunicator& operator=(const DataCommunicator&) = delete;
  DataCommunicator(DataCommunicator&&) = delete;
  DataCommunicator& operator=(DataCommunicator&&) = delete;
  ~DataCommunicator();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(ranks_); }

  /// The hub's socket; -1 when there is none, or after abort.
  [[nodiscard]] int joined_socket();

  /// Ends what waits for other ranks, as NCCL's abort flag ends a kernel.
  void abort();
  /// Until abort: what has lost a peer stays on its stream, as a kernel does.
  void wait_for_abort() const { aborted_.wait(false); }

 private:
  std::string hub_;
  int rank_;
  int ranks_;
  std::atomic<int> socket_{-1};
  std::atomic<bool> aborted_{false};
};

/// Carries the operation out; returns when this rank has what it receives, or after abort.
void move_data(DataCommunicator& communicator, DataOperation operation);

}  // namespace collbench::collectives
