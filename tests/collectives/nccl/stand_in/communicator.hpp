#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "collectives/nccl/loader/cuda_library.hpp"
#include "collectives/nccl/loader/nccl_library.hpp"
#include "tests/collectives/nccl/stand_in/network.hpp"
#include "tests/collectives/nccl/stand_in/plugins.hpp"

// What the stand-in libnccl's handles point to, and what CUDA graphs hold of it.

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's.
collbench::collectives::CudaResult cudaMalloc(void** address, std::size_t bytes);
collbench::collectives::CudaResult cudaFree(void* address);
// NOLINTEND(readability-identifier-naming)
}

namespace collbench::collectives {

struct NcclCommunicatorObject {
  int rank = 0;
  int ranks = 1;
  bool blocking = true;
  Restriction restriction;
  std::unique_ptr<Network> network;
  std::unique_ptr<Plugins> plugins;
  int socket = -1;
  std::atomic<NcclResult> state{NcclResult::success};
  std::thread thread;  // of a non-blocking one: what its last call goes on with
  std::mutex mutex;
  std::condition_variable wake;
  bool aborted = false;
  int graph_references = 0;  // operations in CUDA graphs
  std::atomic<bool> was_called{false};
  std::vector<void*> memory;  // of the GPU, until the end

  NcclCommunicatorObject() = default;
  NcclCommunicatorObject(const NcclCommunicatorObject&) = delete;
  NcclCommunicatorObject& operator=(const NcclCommunicatorObject&) = delete;
  NcclCommunicatorObject(NcclCommunicatorObject&&) = delete;
  NcclCommunicatorObject& operator=(NcclCommunicatorObject&&) = delete;
  ~NcclCommunicatorObject() {
    for (void* const each : memory) cudaFree(each);
  }

  void take_memory(long bytes) {
    if (bytes > 0) cudaMalloc(&memory.emplace_back(), static_cast<std::size_t>(bytes));
  }

  /// Until no graph refers to it.
  void wait_for_graphs() {
    std::unique_lock lock(mutex);
    wake.wait(lock, [this] { return graph_references == 0; });
  }

  /// Until ncclCommAbort: what failed or hangs goes no further.
  void wait_for_abort() {
    std::unique_lock lock(mutex);
    wake.wait(lock, [this] { return aborted; });
  }
};

/// What an operation in a graph holds, and each launch of the graph as long as it runs.
class GraphReference {
 public:
  explicit GraphReference(NcclCommunicatorObject& communicator) : communicator_(communicator) {
    const std::lock_guard lock(communicator_.mutex);
    ++communicator_.graph_references;
  }
  GraphReference(const GraphReference&) = delete;
  GraphReference& operator=(const GraphReference&) = delete;
  GraphReference(GraphReference&&) = delete;
  GraphReference& operator=(GraphReference&&) = delete;
  ~GraphReference() {
    const std::lock_guard lock(communicator_.mutex);
    --communicator_.graph_references;
    communicator_.wake.notify_all();
  }

 private:
  NcclCommunicatorObject& communicator_;
};

/// In a thread when the communicator is non-blocking.
inline NcclResult go_on(NcclCommunicatorObject& communicator, std::function<NcclResult()> work) {
  if (communicator.blocking) return work();
  if (communicator.thread.joinable()) communicator.thread.join();
  communicator.state = NcclResult::in_progress;
  communicator.thread = std::thread([&communicator, work = std::move(work)] { communicator.state = work(); });
  return NcclResult::in_progress;
}

}  // namespace collbench::collectives
