#pragma once
#include <barrier>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "base/record/process_shape.hpp"
#include "collectives/nccl/algorithm_override.hpp"
#include "collectives/nccl/call_issuer.hpp"
#include "collectives/nccl/nccl_network.hpp"
#include "collectives/nccl/nccl_observer.hpp"

namespace collbench::collectives {

/// What the ranks of one process have in common, be they one or several: NCCL's log and plugin slots, the
/// environment that NCCL reads, and the threads that put calls on streams. Whoever comes first makes each.
class NcclProcess {
 public:
  explicit NcclProcess(const ProcessShape& shape);

  [[nodiscard]] int ranks() const { return shape_.gpus; }
  [[nodiscard]] int ranks_of_thread() const { return shape_.gpus_per_thread(); }
  /// That of a rank of this process, from 0.
  [[nodiscard]] CallIssuer& issuer(int rank) {
    return issuers_[static_cast<std::size_t>(rank / ranks_of_thread())];
  }

  /// Until all ranks of this process have come.
  void meet() { barrier_.arrive_and_wait(); }

  /// Before NCCL's first call.
  void open_log(int version);
  /// For the first rank alone: what it reads is gone. After open_log().
  [[nodiscard]] NcclNetworkLog& log() { return *log_; }
  /// Before the first communicator; and names the plugins that NCCL shall load, or keep.
  [[nodiscard]] const NcclObserver& observer(int version, const NcclConfigValues& settings);

  /// NCCL's variables for `choice`, until the last rank gives them up. All ranks of the process ask for the
  /// same, and meet before they ask for another one.
  [[nodiscard]] std::shared_ptr<ScopedEnvironment> environment(const AlgorithmOverride& choice);

 private:
  ProcessShape shape_;
  std::barrier<> barrier_;
  std::deque<CallIssuer> issuers_;  // by thread
  std::mutex mutex_;                // of all that follows
  std::optional<NcclNetworkLog> log_;
  std::optional<NcclObserver> observer_;
  std::weak_ptr<ScopedEnvironment> environment_;
};

}  // namespace collbench::collectives
