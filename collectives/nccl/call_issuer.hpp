#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "base/clock.hpp"
#include "collectives/nccl/cuda_handles.hpp"
#include "collectives/nccl/launch_pace.hpp"

namespace collbench::collectives {

/// What a rank has to put on its stream.
struct CallQueue {
  /// Puts the next calls there, and returns how many launches these are; 0: all are there.
  std::function<std::uint64_t()> next;
  /// Then puts what stands behind them, or waits for them; empty: nothing.
  std::function<void()> behind{};
};

/// Puts calls on streams: those of one rank, or of all ranks of a thread, as nccl-tests' -g has it: for each
/// call one thread goes from GPU to GPU, between ncclGroupStart and ncclGroupEnd, and one GPU waits for the
/// launches of the others. The ranks are threads here, too: they hand in what they have, the first of them
/// puts all of it, and nobody meets between two calls.
class CallIssuer {
 public:
  /// What the first rank issues with.
  struct Means {
    const Clock& clock;
    /// Calls `issue` between ncclGroupStart and ncclGroupEnd.
    std::function<void(const std::function<void()>& issue)> grouped;
    /// Asks NCCL for errors, while streams have no room.
    std::function<void()> look;
  };

  explicit CallIssuer(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}

  /// Hands in the calls of rank `rank` of the thread, and returns when the first has put all calls there, or
  /// has tried for so many seconds. `queue`, `pace` and `stream` are in use until all ranks have ended. All
  /// of the thread call it, each in its own thread. Throws what this rank's calls throw.
  void begin(int rank, const CallQueue& queue, LaunchPace& pace, const CudaStream& stream, const Means& means,
             double seconds);

  /// As the first rank: puts more, for so many seconds. Whether all calls are there. Throws likewise.
  [[nodiscard]] bool go_on(int rank, const Means& means, double seconds);

  /// Does `work` while nobody puts calls.
  template <typename Work>
  [[nodiscard]] auto meanwhile(const Work& work) {
    const std::lock_guard lock(mutex_);
    return work();
  }

 private:
  struct Rank {
    const CallQueue* queue = nullptr;
    LaunchPace* pace = nullptr;
    const CudaStream* stream = nullptr;
    std::uint64_t launches{};  // of its last call
    std::exception_ptr failure{};
  };

  void put(const Means& means, double seconds);
  bool has_room();
  void put_next(const Means& means);
  template <typename Step>
  bool for_each_rank(const Step& step);
  void fail(std::size_t rank);
  void throw_failure(int rank);

  std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::vector<Rank> ranks_;
  std::size_t handed_in_ = 0;
  std::uint64_t rounds_ = 0;  // that the first rank has begun
  bool all_put_ = false;
  bool failed_ = false;  // some rank: nothing more is put
};

}  // namespace collbench::collectives
