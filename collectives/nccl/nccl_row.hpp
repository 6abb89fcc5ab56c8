#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/record/measurement.hpp"
#include "collectives/engine/backend.hpp"
#include "collectives/nccl/algorithm_override.hpp"
#include "collectives/nccl/gpu_session.hpp"
#include "collectives/nccl/loader/nccl_library.hpp"
#include "collectives/nccl/nccl_communicator.hpp"
#include "collectives/nccl/nccl_observer.hpp"
#include "collectives/operations.hpp"

namespace collbench::collectives {

/// Whether this NCCL has a call of its own for `operation`; otherwise it is made of sends and receives.
[[nodiscard]] bool has_call(const NcclLibrary& nccl, OperationId operation);

/// One ncclSend or ncclRecv of this rank. Elements, from the beginning of the send or receive buffer.
struct P2pOp {
  bool sends = false;
  int peer = 0;
  std::uint64_t offset = 0;
  std::uint64_t count = 0;

  bool operator==(const P2pOp&) const = default;
};

/// What this rank sends and receives in an operation that NCCL has no call of its own for in every version:
/// AllToAll, AllToAllv, SendRecv, PingPong, Gather, Scatter. In the order of the calls; nothing of length 0.
[[nodiscard]] std::vector<P2pOp> p2p_schedule(const RowKey& key, const CallContext& call);

/// What a row needs of its backend, which outlives it.
struct NcclRowContext {
  const GpuSession& gpu;
  NcclCommunicator& communicator;
  launch::Ranks& ranks;
  const NcclObserver* observer = nullptr;  ///< of the first rank of a process; none: nobody watches
  std::uint64_t operations_per_group = 1;
  const Clock& clock;
  launch::CallCounter& calls;  ///< counts what is put on the stream
  bool in_graphs = false;      ///< calls are captured in CUDA graphs, which are launched
  CallWait call_wait = CallWait::none;
  bool registered = false;                     ///< its buffers are registered with the communicator
  std::optional<AlgorithmOverride> by_call{};  ///< what each call asks for; none: what the communicator does
};

/// What a row's kernels need in device memory.
struct NcclRowScratch {
  DataPattern::Table own;       ///< of a reduction: what this rank puts in
  DataPattern::Table expected;  ///< and what comes out
  KernelMismatch found;
};

/// How timed calls walk through the buffers, so that what they read and write is not in the GPU's L2 still
/// from the calls before (docs/gpu.md). The n-th call works `stride` × (n modulo `steps`) bytes further on.
struct BufferWalk {
  std::uint64_t stride = 0;
  std::uint64_t steps = 1;  ///< 1: all calls work on the same addresses

  [[nodiscard]] std::uint64_t bytes() const { return stride * steps; }
};

/// `row_bytes`: what a call takes of the larger of its two buffers. It walks as far as `walk_bytes`, by steps
/// that keep the alignment of an allocation.
[[nodiscard]] BufferWalk buffer_walk(std::uint64_t row_bytes, std::uint64_t walk_bytes);

/// The device memory that one row uses. In place, `input` and `result` lie within `output`.
struct NcclRowBuffers {
  std::byte* input = nullptr;   ///< where the operation reads
  std::byte* output = nullptr;  ///< all that it may write
  std::byte* result = nullptr;  ///< the part of `output` that it must write
  std::uint64_t output_bytes = 0;
  std::uint64_t input_offset = 0;   ///< of `input` in its buffer
  std::uint64_t output_offset = 0;  ///< likewise
  BufferWalk walk{};
  NcclRowScratch* scratch = nullptr;
};

/// What recording an event may add to the stream, with room to spare.
inline constexpr double kEventSeconds = 2e-6;

/// Whether a result that is the next call's input again and again stays of the size of data: minima, maxima
/// and averages do after the first call, and integers wrap. Sums of floats run into infinities, and products
/// into those or into slow subnormals.
[[nodiscard]] bool repeats_on_data(DataType type, Reduction reduction);

class NcclRow : public PreparedRow {
 public:
  NcclRow(const RowKey& key, const RowLayout& layout, const NcclRowContext& context,
          const NcclRowBuffers& buffers);

  void fill(std::uint64_t iteration) override;
  void fill_to_repeat() override;
  void run(std::uint64_t iterations) override;
  [[nodiscard]] Block time(std::uint64_t iterations, std::uint64_t iterations_per_sample,
                           const GoesOn& goes_on) override;
  [[nodiscard]] std::optional<double> enqueue_seconds(std::uint64_t calls) override;
  [[nodiscard]] std::optional<Mismatch> check(std::uint64_t iteration) override;
  [[nodiscard]] std::optional<NcclSelection> library_choice() const override { return choice_; }

 private:
  void wait_for(const std::string& what, const std::function<void()>& issue);
  void wait_for_calls(const CallQueue& queue, const std::function<std::size_t()>& progress = nullptr);
  [[nodiscard]] std::uint64_t issue_next(std::uint64_t left);
  void issue(std::uint64_t times);
  void issue();
  void exchange(std::uint64_t shift) const;
  void share_half(Block& round_trips) const;
  [[nodiscard]] std::uint64_t put_next(std::uint64_t left);
  [[nodiscard]] std::uint64_t launches_of(std::uint64_t iterations) const;
  void put_data(std::uint64_t iteration, std::uint64_t input_elements, std::uint64_t output_bytes);
  void capture(std::uint64_t iterations);
  [[nodiscard]] std::vector<double> time_spans(std::span<const BlockSpan> spans);
  [[nodiscard]] double time_waited_calls(std::uint64_t iterations);
  [[nodiscard]] Mismatch described(const KernelMismatch& found, const std::vector<Segment>& segments,
                                   std::uint64_t iteration) const;

  RowKey key_;
  RowLayout layout_;
  NcclRowContext at_;
  NcclRowBuffers buffers_;
  std::vector<P2pOp> transfers_;  // of operations that are made of ncclSend and ncclRecv
  DataPattern pattern_;
  NcclType type_;
  NcclReduction reduction_ = NcclReduction::sum;
  std::optional<NcclSelection> choice_;
  std::vector<CudaEvent> events_;
  std::optional<CudaGraph> graph_;
  std::uint64_t iterations_in_graph_ = 0;
  bool graph_walks_ = false;      // its calls do, as far as it has several
  double iteration_seconds_ = 0;  // as last timed; 0: not known yet
  bool walks_ = false;            // only what is timed does: data are made and checked where the row begins
  std::uint64_t turn_ = 1;        // of the walk; the first timed call is not where the warm-up was
};

}  // namespace collbench::collectives
