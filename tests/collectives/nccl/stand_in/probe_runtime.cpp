// What only a probe of GPUs asks of the CUDA runtime: pinned memory, and copies between GPUs. By it, the GPUs
// of the first and of the second half of a host reach each other's memory themselves
// (COLLBENCH_STAND_IN_PEERS 1), or all (2, the usual), or none (0).
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "collectives/nccl/loader/cuda_library.hpp"
#include "tests/collectives/nccl/stand_in/cuda_stream.hpp"
#include "tests/collectives/nccl/stand_in/gpu_time.hpp"
#include "tests/collectives/nccl/stand_in/injected_fault.hpp"

using namespace collbench;
using namespace collbench::collectives;

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the names are the library's.
CudaResult cudaGetDevice(int* device);
CudaResult cudaGetDeviceCount(int* count);
bool collbench_stand_in_is_device_memory(const void* address, std::size_t bytes);
bool collbench_stand_in_is_memory_of(const void* address, int device);
}

namespace {

constexpr double kPeerBytesPerSecond = 400e6;
constexpr int kMaxPeers = 8;  // as without NVSwitch

struct Peers {
  std::mutex mutex;
  std::set<std::pair<int, int>> enabled;
};

Peers& peers() {
  static Peers all;
  return all;
}

bool reach_each_other(int device, int peer) {
  int count = 0;
  cudaGetDeviceCount(&count);
  const long mode = stand_in_number("COLLBENCH_STAND_IN_PEERS", 2);
  return mode == 2 || (mode == 1 && (device < count / 2) == (peer < count / 2));
}

}  // namespace

extern "C" {

/// Not CUDA's: gpu_time.hpp's, for the other stand-ins; `later` when the stream comes to it.
void collbench_stand_in_pass_time(CudaStreamHandle stream, const char* what, double seconds) {
  pass_time(*stream, what, seconds);
}
void collbench_stand_in_pass_time_later(CudaStreamHandle stream, const char* what, double seconds) {
  stream->put([=] { pass_time(*stream, what, seconds); });
}

CudaResult cudaHostAlloc(void** memory, std::size_t bytes, unsigned int /*flags*/) {
  *memory = new std::byte[bytes];
  return CudaResult::success;
}

CudaResult cudaFreeHost(void* memory) {
  delete[] static_cast<std::byte*>(memory);
  return CudaResult::success;
}

CudaResult cudaDeviceCanAccessPeer(int* possible, int device, int peer) {
  *possible = device != peer && reach_each_other(device, peer) ? 1 : 0;
  return CudaResult::success;
}

CudaResult cudaDeviceEnablePeerAccess(int peer, unsigned int /*flags*/) {
  int device = 0;
  cudaGetDevice(&device);
  if (!reach_each_other(device, peer)) return CudaResult::invalid_device;
  const std::lock_guard lock(peers().mutex);
  const auto& enabled = peers().enabled;
  if (std::count_if(enabled.begin(), enabled.end(), [&](const auto& each) { return each.first == device; }) >=
      kMaxPeers)
    return CudaResult::too_many_peers;
  return peers().enabled.insert({device, peer}).second ? CudaResult::success
                                                       : CudaResult::peer_access_already_enabled;
}

CudaResult cudaDeviceDisablePeerAccess(int peer) {
  int device = 0;
  cudaGetDevice(&device);
  const std::lock_guard lock(peers().mutex);
  return peers().enabled.erase({device, peer}) == 1 ? CudaResult::success : CudaResult::invalid_value;
}

/// Twice as quick where access is enabled.
CudaResult cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                               CudaStreamHandle stream) {
  if (!collbench_stand_in_is_memory_of(to, to_device) || !collbench_stand_in_is_memory_of(from, from_device))
    return CudaResult::invalid_value;
  bool direct = false;
  {
    const std::lock_guard lock(peers().mutex);
    direct = peers().enabled.contains({from_device, to_device});
  }
  stream->put([=] {
    std::memcpy(to, from, bytes);
    if (stand_in_slowness(to_device, "receive") == "hang") hang();
    if (stand_in_slowness(to_device, "receive") == "ecc") {
      const std::lock_guard lock(stream->mutex);
      stream->error = CudaResult::ecc_uncorrectable;
    }
    pass_time(*stream, "peer", static_cast<double>(bytes) / kPeerBytesPerSecond * (direct ? 1 : 2));
  });
  return CudaResult::success;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
