#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/record/states.hpp"
#include "collectives/nccl/call_issuer.hpp"
#include "collectives/nccl/cuda_handles.hpp"
#include "collectives/nccl/gpu_session.hpp"
#include "collectives/nccl/launch_pace.hpp"
#include "launch/collective_wait.hpp"

namespace collbench::collectives {

/// Whether NCCL's calls may return before they are done.
enum class NcclCalls { blocking, non_blocking };

/// A communicator of all ranks. It is destroyed, or aborted after a failure. What creates, uses and destroys
/// one is collective.
///
/// Rows are measured on blocking ones. NCCL starts a thread for every group of calls on a non-blocking
/// communicator (2.30.7, src/group.cc, ncclGroupEndInternal), and a small operation's time would be that
/// thread's. A blocking one cannot be given up while it is made: that is what try_nccl is for.
class NcclCommunicator {
 public:
  /// `ctas`: as many for each call; 0: left to NCCL. Throws the same AgreedError on all ranks when NCCL
  /// cannot make it.
  NcclCommunicator(const GpuSession& gpu, const launch::CollectiveWait& waiter, NcclCalls calls,
                   int ctas = 0);
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;
  ~NcclCommunicator();

  /// Calls `issue`, which puts operations on the stream, and waits until they are done on all ranks. When
  /// some rank fails or the time is up, aborts the communicator and throws the same AgreedError on all;
  /// `what` names it. `release` comes before the abort: it destroys the CUDA graphs that hold calls on this
  /// communicator, for which ncclCommAbort would wait for ever (NCCL 2.30, src/init.cc, commDestroySync). One
  /// that is running is freed by CUDA when the abort has ended it. `progress` is as in CollectiveWait::wait.
  void run(const std::string& what, const std::function<void()>& issue,
           const std::function<void()>& release = nullptr);

  /// Likewise of many calls, which the thread of this rank puts on the stream with those of its other ranks
  /// (CallIssuer). While the stream's queue has no room for more (LaunchPace), and after 0.2 s of putting
  /// them there in any case, this rank learns of what happens on the others, as it does while it waits.
  void run_calls(const std::string& what, const CallQueue& queue,
                 const std::function<void()>& release = nullptr,
                 const std::function<std::size_t()>& progress = nullptr);

  /// Registers both buffers with NCCL as `how` says, unless it has done so already. They are deregistered by
  /// deregister_buffers or the end of the communicator, and have to outlive that; an abort drops them. Of
  /// symmetric ones each has the same size on all ranks. Throws as run() does, and AgreedError (not_here)
  /// where NCCL takes a buffer and does not register it.
  void register_buffers(BufferRegistration how, const DeviceBuffer& send, const DeviceBuffer& receive);

  [[nodiscard]] bool has_buffers() const { return has_buffers_; }

  /// On this rank, once nothing that was issued on it runs any more on any. Throws Error (rank_lost).
  void deregister_buffers();

  /// Calls `issue` between ncclGroupStart and ncclGroupEnd. The group ends also when `issue` throws: an open
  /// one would put off every later call of this thread for ever, ncclCommAbort among them.
  void grouped(const std::function<void()>& issue) const;

  /// Throws Error unless NCCL took the call, or goes on with it if it may: not_here where it refuses the
  /// call, else rank_lost.
  void check(NcclResult result, const char* call) const;

  /// A non-blocking communicator wants this before it is destroyed. Collective; throws as run() does.
  void finalize();

  [[nodiscard]] NcclHandle get() const { return handle_; }
  /// It was aborted.
  [[nodiscard]] bool failed() const { return handle_ == nullptr; }
  /// What making it took on the slowest rank.
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  /// One buffer, of which NCCL gives one of the two; neither where it has registered nothing.
  struct Registered {
    void* local = nullptr;
    NcclWindowHandle window = nullptr;
  };

  void make(NcclUniqueId id, NcclCalls calls, int ctas);
  [[nodiscard]] NcclResult deregister(const Registered& buffer) const;
  [[nodiscard]] bool settled() const;
  void wait_for(const std::string& what, CallIssuer& issuer, int rank, const CallQueue& queue,
                const std::function<void()>& release, const std::function<std::size_t()>& progress);
  void give_up() noexcept;

  const GpuSession& gpu_;
  const launch::CollectiveWait& waiter_;
  LaunchPace pace_;
  NcclHandle handle_ = nullptr;
  ExitStatus failure_ = ExitStatus::not_here;  // while it is made; rank_lost afterwards
  double seconds_ = 0;
  bool has_buffers_ = false;
  std::vector<Registered> registered_;  // in place while NCCL may still write to it
};

/// Makes a non-blocking communicator, registers a buffer with it as `registration` says, runs one small
/// AllReduce on it and destroys it: what keeps NCCL from working between these ranks shows here, where it can
/// be given up, and not as a hang. Collective. Throws the same AgreedError on all ranks. Returns what making
/// the communicator took, NCCL's own set-up included, on the slowest rank, in seconds.
double try_nccl(const GpuSession& gpu, const launch::CollectiveWait& waiter, BufferRegistration registration);

/// Memory that buffers of this registration are made of: of cudaMalloc, or of ncclMemAlloc where they are
/// registered. Throws as DeviceBuffer does.
[[nodiscard]] DeviceBuffer allocate_buffer(const GpuSession& gpu, BufferRegistration registration,
                                           std::uint64_t bytes);

}  // namespace collbench::collectives
