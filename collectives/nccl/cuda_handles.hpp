#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "collectives/nccl/loader/cuda_library.hpp"
#include "collectives/nccl/loader/nccl_library.hpp"

namespace collbench::collectives {

/// Memory of the current GPU.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Throws Error: usage when the GPU has no more, rank_lost for anything else.
  DeviceBuffer(const CudaLibrary& cuda, std::uint64_t bytes) : cuda_(&cuda), bytes_(bytes) {
    void* memory = nullptr;
    if (bytes != 0) cuda.check(cuda.allocate(&memory, bytes), "cudaMalloc");
    memory_ = static_cast<std::byte*>(memory);
  }
  /// Of ncclMemAlloc, which `nccl` has. Throws Error (rank_lost) when NCCL refuses.
  DeviceBuffer(const NcclLibrary& nccl, std::uint64_t bytes) : nccl_(&nccl), bytes_(bytes) {
    void* memory = nullptr;
    const NcclResult result = bytes == 0 ? NcclResult::success : nccl.memory_allocate(&memory, bytes);
    if (result != NcclResult::success) throw nccl.error(result, "ncclMemAlloc", ExitStatus::rank_lost);
    memory_ = static_cast<std::byte*>(memory);
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : cuda_(other.cuda_),
        nccl_(other.nccl_),
        bytes_(other.bytes_),
        memory_(std::exchange(other.memory_, nullptr)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(cuda_, other.cuda_);
    std::swap(nccl_, other.nccl_);
    std::swap(bytes_, other.bytes_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~DeviceBuffer() {
    if (memory_ == nullptr) return;
    if (nccl_ != nullptr) {
      nccl_->memory_free(memory_);
    } else {
      cuda_->free(memory_);
    }
  }

  [[nodiscard]] std::byte* data() const { return memory_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Lets the end of the process free it.
  void leave() { memory_ = nullptr; }

 private:
  const CudaLibrary* cuda_ = nullptr;
  const NcclLibrary* nccl_ = nullptr;  // null: it is of cudaMalloc
  std::uint64_t bytes_ = 0;
  std::byte* memory_ = nullptr;
};

/// A stream of the current GPU that waits for no other.
class CudaStream {
 public:
  explicit CudaStream(const CudaLibrary& cuda) : cuda_(cuda) {
    cuda.check(cuda.stream_create(&handle_, kCudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream() { cuda_.stream_destroy(handle_); }

  [[nodiscard]] CudaStreamHandle get() const { return handle_; }
  /// Whether all that was put on it is done. Throws Error (rank_lost) when some of it failed.
  [[nodiscard]] bool idle() const {
    const CudaResult result = cuda_.stream_query(handle_);
    if (result == CudaResult::not_ready) return false;
    cuda_.check(result, "the GPU");
    return true;
  }

 private:
  const CudaLibrary& cuda_;
  CudaStreamHandle handle_ = nullptr;
};

class CudaEvent {
 public:
  explicit CudaEvent(const CudaLibrary& cuda) : cuda_(&cuda) {
    cuda.check(cuda.event_create(&handle_), "cudaEventCreate");
  }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  CudaEvent(CudaEvent&& other) noexcept
      : cuda_(other.cuda_), handle_(std::exchange(other.handle_, nullptr)) {}
  CudaEvent& operator=(CudaEvent&&) = delete;
  ~CudaEvent() {
    if (handle_ != nullptr) cuda_->event_destroy(handle_);
  }

  void record(const CudaStream& stream) const {
    cuda_->check(cuda_->event_record(handle_, stream.get()), "cudaEventRecord");
  }
  /// Whether the stream has come to it. Throws Error (rank_lost) when something before it failed.
  [[nodiscard]] bool is_over() const {
    const CudaResult result = cuda_->event_query(handle_);
    if (result == CudaResult::not_ready) return false;
    cuda_->check(result, "the GPU");
    return true;
  }
  /// Seconds from `earlier` to this one; both are over.
  [[nodiscard]] double seconds_since(const CudaEvent& earlier) const {
    float milliseconds = 0;
    cuda_->check(cuda_->event_elapsed_time(&milliseconds, earlier.handle_, handle_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) / 1e3;
  }

 private:
  const CudaLibrary* cuda_;
  CudaEventHandle handle_ = nullptr;
};

/// What was put on a stream, to be put there again as a whole.
class CudaGraph {
 public:
  /// Captures what `issue` puts on the stream, which runs nothing of it. Throws Error, of `issue` too.
  template <typename Issue>
  CudaGraph(const CudaLibrary& cuda, const CudaStream& stream, const Issue& issue) : cuda_(&cuda) {
    cuda.check(cuda.stream_begin_capture(stream.get(), CudaCapture::own_thread), "cudaStreamBeginCapture");
    CudaGraphHandle graph = nullptr;
    try {
      issue();
    } catch (const Error&) {
      // The stream shall not stay in capture: what follows would fail for that alone.
      if (cuda.stream_end_capture(stream.get(), &graph) == CudaResult::success) cuda.graph_destroy(graph);
      throw;
    }
    cuda.check(cuda.stream_end_capture(stream.get(), &graph), "cudaStreamEndCapture");
    const CudaResult made = cuda.graph_instantiate(&handle_, graph, 0);
    cuda.graph_destroy(graph);
    cuda.check(made, "cudaGraphInstantiate");
  }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  ~CudaGraph() {
    if (handle_ != nullptr) cuda_->graph_exec_destroy(handle_);
  }

  void launch(const CudaStream& stream) const {
    cuda_->check(cuda_->graph_launch(handle_, stream.get()), "cudaGraphLaunch");
  }

 private:
  const CudaLibrary* cuda_;
  CudaGraphExecHandle handle_ = nullptr;
};

}  // namespace collbench::collectives
