// A CUDA runtime without a GPU: "device memory" is the host's, a stream is a thread that works off a queue.
// For the control flow of the NCCL backend, and for nothing that only hardware shows.
//
// What it copies of the real one (CUDA Runtime API reference): work on a stream is asynchronous and in order;
// a non-blocking stream does not wait for cudaMemcpy nor the other way round; an error on a stream is sticky;
// what is put on a stream in capture is kept and not run, in a list that each launch of the graph runs anew;
// asking such a stream whether it is idle is an error; a stream that holds 1,024 tasks blocks who puts more
// on it (of a graph each node counts, which is the worst case);
// cudaMemcpy from pageable memory may return before what it wrote is there, and orders with no non-blocking
// stream (API synchronization behavior): until something waits for it, the kernels' stand-in refuses to read
// it; cudaGetDeviceCount says insufficientDriver without a driver or with one of an older major version, and
// noDevice when CUDA_VISIBLE_DEVICES leaves none; what stands behind an invalid entry there is not seen.
//
// Its version is that of its file's name: libcudart.so.12 is a copy that says 12.0; else it is 13.0.
//
// Told by: COLLBENCH_STAND_IN_GPUS (8), _DRIVER (13000; 0: none), _MEMORY (bytes of each GPU, 1 GiB), _MIG
// (all GPUs have one address), _COMPUTE (90: compute capability 9.0), and COLLBENCH_STAND_IN=ecc:N (the N-th
// cudaMemsetAsync hits a failing cell), no_memory (cudaMalloc), graph_error:N (the N-th cudaGraphLaunch
// fails, as when the driver has no room for it), set_device:N (cudaSetDevice returns the error N).
//
// A probe's work (probe_runtime.cpp, cublas_lt.cpp) takes the time that gpu_time.hpp says. Each GPU has
// memory of its own, the current one is its thread's, and COLLBENCH_STAND_IN_MODEL ("stand-in for a GPU") its
// name.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "collectives/nccl/loader/cuda_library.hpp"
#include "tests/collectives/nccl/stand_in/cuda_stream.hpp"
#include "tests/collectives/nccl/stand_in/gpu_time.hpp"
#include "tests/collectives/nccl/stand_in/injected_fault.hpp"

using namespace collbench;
using namespace collbench::collectives;

namespace {

int version() {
  Dl_info self{};
  static const char anchor = 0;
  const bool known = ::dladdr(&anchor, &self) != 0 && self.dli_fname != nullptr;
  return known && std::string(self.dli_fname).ends_with("libcudart.so.12") ? 12000 : 13000;
}

struct Taken {
  std::size_t bytes = 0;
  int device = 0;
};

/// What this process has taken of its GPUs, by address.
struct Memory {
  std::mutex mutex;
  std::map<const std::byte*, Taken> taken;
  std::map<int, std::size_t> bytes;                   // by GPU
  std::map<const std::byte*, std::size_t> in_flight;  // what cudaMemcpy wrote and nothing waited for
};

Memory& memory() {
  static Memory all;
  return all;
}

thread_local int current_device = 0;
std::atomic<int> sets{0};

/// Streams that exist.
struct Streams {
  std::mutex mutex;
  std::vector<CudaStreamObject*> all;
};

Streams& streams() {
  static Streams all;
  return all;
}

/// As cudaFree does.
void wait_for_streams(int device) {
  const std::lock_guard lock(streams().mutex);
  for (CudaStreamObject* stream : streams().all) {
    if (stream->device != device) continue;
    while (true) {
      const std::lock_guard of_stream(stream->mutex);
      if (stream->queue.empty()) break;
    }
  }
}

int driver() { return static_cast<int>(stand_in_number("COLLBENCH_STAND_IN_DRIVER", version())); }

std::vector<int> visible() {
  const int gpus = static_cast<int>(stand_in_number("COLLBENCH_STAND_IN_GPUS", 8));
  std::vector<int> devices;
  const char* const text = std::getenv("CUDA_VISIBLE_DEVICES");
  if (text == nullptr) {
    for (int gpu = 0; gpu < gpus; ++gpu) devices.push_back(gpu);
    return devices;
  }
  std::istringstream words(text);
  std::string word;
  const std::string uuid =
      "GPU-c0000000-0000-0000-0000-0000000000";  // and the index, as cudaGetDeviceProperties has it
  while (std::getline(words, word, ',')) {
    if (word.starts_with(uuid)) word = std::to_string(std::stoi(word.substr(uuid.size()), nullptr, 16));
    if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos) break;
    if (std::stoi(word) >= gpus) break;
    devices.push_back(std::stoi(word));
  }
  return devices;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are the library's.
extern "C" {

CudaResult cudaRuntimeGetVersion(int* runtime) {
  *runtime = version();
  return CudaResult::success;
}

CudaResult cudaDriverGetVersion(int* supported) {
  *supported = driver();
  return CudaResult::success;
}

CudaResult cudaGetDeviceCount(int* count) {
  *count = 0;
  if (driver() / 1000 < version() / 1000) return CudaResult::insufficient_driver;
  *count = static_cast<int>(visible().size());
  return *count == 0 ? CudaResult::no_device : CudaResult::success;
}

CudaResult cudaSetDevice(int device) {
  if (const auto error = injected_fault("set_device")) return static_cast<CudaResult>(*error);
  if (device < 0 || device >= static_cast<int>(visible().size())) return CudaResult::invalid_device;
  current_device = device;
  return CudaResult::success;
}

CudaResult cudaGetDevice(int* device) {
  *device = current_device;
  return CudaResult::success;
}

CudaResult cudaDeviceGetPCIBusId(char* text, int length, int device) {
  const int gpu =
      stand_in_number("COLLBENCH_STAND_IN_MIG", 0) != 0 ? 0 : visible().at(static_cast<std::size_t>(device));
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", 0x18 + gpu);
  return CudaResult::success;
}

CudaResult cudaGetDeviceProperties(CudaDeviceProperties* properties, int device) {
  *properties = {};
  const char* const model = std::getenv("COLLBENCH_STAND_IN_MODEL");
  std::snprintf(properties->name.data(), properties->name.size(), "%s",
                model == nullptr ? "stand-in for a GPU" : model);
  properties->uuid[0] = 0xc0;
  properties->uuid[15] = static_cast<unsigned char>(visible().at(static_cast<std::size_t>(device)));
  return CudaResult::success;
}

CudaResult cudaDeviceGetAttribute(int* value, CudaAttribute attribute, int /*device*/) {
  const int capability = static_cast<int>(stand_in_number("COLLBENCH_STAND_IN_COMPUTE", 90));
  switch (attribute) {
    case CudaAttribute::l2_bytes:
      *value = 16 << 10;
      break;
    case CudaAttribute::compute_capability_major:
      *value = capability / 10;
      break;
    case CudaAttribute::compute_capability_minor:
      *value = capability % 10;
      break;
  }
  return CudaResult::success;
}

CudaResult cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const std::lock_guard lock(memory().mutex);
  const std::string look = stand_in_slowness(current_device, "look");
  if (look == "ecc") return CudaResult::ecc_uncorrectable;
  if (look == "taken") return CudaResult::devices_unavailable;
  *total = static_cast<std::size_t>(stand_in_number("COLLBENCH_STAND_IN_MEMORY", 1L << 30U));
  *free = *total - memory().bytes[current_device];
  return CudaResult::success;
}

CudaResult cudaMalloc(void** address, std::size_t bytes) {
  std::size_t free = 0;
  std::size_t total = 0;
  cudaMemGetInfo(&free, &total);
  if (bytes > free || injected_fault("no_memory")) return CudaResult::memory_allocation;
  auto* const taken = new std::byte[bytes];
  const std::lock_guard lock(memory().mutex);
  memory().taken[taken] = {bytes, current_device};
  memory().bytes[current_device] += bytes;
  *address = taken;
  return CudaResult::success;
}

CudaResult cudaFree(void* address) {
  const auto find = [&] { return memory().taken.find(static_cast<const std::byte*>(address)); };
  int device = 0;
  {
    const std::lock_guard lock(memory().mutex);
    device = find()->second.device;
  }
  wait_for_streams(device);
  const std::lock_guard lock(memory().mutex);
  const auto found = find();
  memory().bytes[device] -= found->second.bytes;
  memory().taken.erase(found);
  delete[] static_cast<std::byte*>(address);
  return CudaResult::success;
}

/// Not CUDA's: whether `bytes` from `address` on lie in device memory. The other stand-ins refuse what does
/// not.
bool collbench_stand_in_is_device_memory(const void* address, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(address);
  const std::lock_guard lock(memory().mutex);
  const auto after = memory().taken.upper_bound(begin);
  if (after == memory().taken.begin()) return bytes == 0;
  const auto& [start, taken] = *std::prev(after);
  return begin + bytes <= start + taken.bytes;
}

/// Not CUDA's: whether `address` is where memory of that GPU begins.
bool collbench_stand_in_is_memory_of(const void* address, int device) {
  const std::lock_guard lock(memory().mutex);
  const auto found = memory().taken.find(static_cast<const std::byte*>(address));
  return found != memory().taken.end() && found->second.device == device;
}

CudaResult cudaMemcpy(void* to, const void* from, std::size_t bytes, CudaCopy kind) {
  std::memcpy(to, from, bytes);
  const std::lock_guard lock(memory().mutex);
  if (kind == CudaCopy::host_to_device) {
    memory().in_flight[static_cast<const std::byte*>(to)] = bytes;
  } else {
    memory().in_flight.clear();  // it waits for all before it on the default stream
  }
  return CudaResult::success;
}

/// Of pageable memory: what is copied is what stands there when it is called. Between the GPU's own and, from
/// a probe, pinned memory it takes a GPU's time.
CudaResult cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, CudaCopy kind,
                           CudaStreamHandle stream) {
  constexpr double kHbmBytesPerSecond = 800e6;
  constexpr double kHostBytesPerSecond = 200e6;
  if (kind == CudaCopy::device_to_device) {
    if (!collbench_stand_in_is_device_memory(to, bytes) || !collbench_stand_in_is_device_memory(from, bytes))
      return CudaResult::invalid_value;
    stream->put([=] {
      std::memcpy(to, from, bytes);
      pass_time(*stream, "hbm", 2 * static_cast<double>(bytes) / kHbmBytesPerSecond);
    });
    return CudaResult::success;
  }
  const bool to_gpu = kind == CudaCopy::host_to_device;
  const auto* const first = static_cast<const std::byte*>(from);
  stream->put([=, staged = std::vector<std::byte>(first, first + bytes)] {
    std::memcpy(to, staged.data(), staged.size());
    pass_time(*stream, to_gpu ? "h2d" : "d2h", static_cast<double>(bytes) / kHostBytesPerSecond);
  });
  return CudaResult::success;
}

/// Not CUDA's: whether some of these bytes may still be on their way.
bool collbench_stand_in_is_in_flight(const void* address, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(address);
  const std::lock_guard lock(memory().mutex);
  return std::any_of(memory().in_flight.begin(), memory().in_flight.end(), [&](const auto& each) {
    return each.first < begin + bytes && begin < each.first + each.second;
  });
}

CudaResult cudaMemsetAsync(void* to, int value, std::size_t bytes, CudaStreamHandle stream) {
  if (!collbench_stand_in_is_device_memory(to, bytes)) return CudaResult::invalid_device;
  const bool fails = injected_fault("ecc") == ++sets;
  stream->put([=] {
    std::memset(to, value, bytes);
    const std::lock_guard lock(stream->mutex);
    if (fails) stream->error = CudaResult::ecc_uncorrectable;
  });
  return CudaResult::success;
}

/// Not CUDA's: as cudaLaunchHostFunc, for what may be captured, and then runs at every launch of its graph.
void collbench_stand_in_put(CudaStreamHandle stream, const std::function<void()>& task) { stream->put(task); }

/// Not CUDA's: whether what is put on the stream is captured.
bool collbench_stand_in_captures(CudaStreamHandle stream) { return stream->capture != nullptr; }

CudaResult cudaLaunchHostFunc(CudaStreamHandle stream, void (*function)(void*), void* data) {
  stream->put([=] { function(data); });
  return CudaResult::success;
}

CudaResult cudaStreamCreateWithFlags(CudaStreamHandle* stream, unsigned int /*flags*/) {
  *stream = new CudaStreamObject;
  (*stream)->device = current_device;
  const std::lock_guard lock(streams().mutex);
  streams().all.push_back(*stream);
  return CudaResult::success;
}

CudaResult cudaStreamDestroy(CudaStreamHandle stream) {
  {
    const std::lock_guard lock(streams().mutex);
    std::erase(streams().all, stream);
  }
  delete stream;
  return CudaResult::success;
}

CudaResult cudaStreamBeginCapture(CudaStreamHandle stream, CudaCapture /*mode*/) {
  if (stream->capture) return CudaResult::invalid_value;
  stream->capture = std::make_unique<CudaTasks>();
  return CudaResult::success;
}

CudaResult cudaStreamEndCapture(CudaStreamHandle stream, CudaGraphHandle* graph) {
  if (!stream->capture) return CudaResult::invalid_value;
  *graph = new CudaGraphObject{std::move(*stream->capture)};
  stream->capture.reset();
  return CudaResult::success;
}

CudaResult cudaStreamQuery(CudaStreamHandle stream) {
  if (stream->capture) return CudaResult::stream_capture_unsupported;  // and the capture would be lost
  const std::lock_guard lock(stream->mutex);
  if (stream->error != CudaResult::success) return stream->error;
  return stream->queue.empty() ? CudaResult::success : CudaResult::not_ready;
}

CudaResult cudaEventCreate(CudaEventHandle* event) {
  *event = new CudaEventObject;
  return CudaResult::success;
}

CudaResult cudaEventDestroy(CudaEventHandle event) {
  delete event;
  return CudaResult::success;
}

CudaResult cudaEventRecord(CudaEventHandle event, CudaStreamHandle stream) {
  event->moment = std::make_shared<CudaEventObject::Moment>();
  stream->put([moment = event->moment, stream] {
    moment->when = std::chrono::steady_clock::now();
    moment->simulated_seconds = stream->simulated_seconds;
    {
      const std::lock_guard lock(stream->mutex);
      moment->result = stream->error;
    }
    moment->over = true;
  });
  return CudaResult::success;
}

CudaResult cudaEventQuery(CudaEventHandle event) {
  if (!event->moment || !event->moment->over)
    return event->moment ? CudaResult::not_ready : CudaResult::success;
  return event->moment->result;
}

CudaResult cudaEventElapsedTime(float* milliseconds, CudaEventHandle from, CudaEventHandle to) {
  if (!from->moment->over || !to->moment->over) return CudaResult::not_ready;
  // Of work that takes a GPU's time, that; of all else the host's.
  const double simulated = to->moment->simulated_seconds - from->moment->simulated_seconds;
  *milliseconds =
      simulated > 0 ? static_cast<float>(1e3 * simulated)
                    : std::chrono::duration<float, std::milli>(to->moment->when - from->moment->when).count();
  return CudaResult::success;
}

const char* cudaGetErrorString(CudaResult result) {
  switch (result) {
    case CudaResult::success:
      return "no error";
    case CudaResult::memory_allocation:
      return "out of memory";
    case CudaResult::insufficient_driver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case CudaResult::initialization_error:
      return "initialization error";
    case CudaResult::no_kernel_image:
      return "no kernel image is available for execution on the device";
    case CudaResult::unsupported_ptx:
      return "the provided PTX was compiled with an unsupported toolchain.";
    case CudaResult::system_not_ready:
      return "system not yet initialized";
    case CudaResult::no_device:
      return "no CUDA-capable device is detected";
    case CudaResult::ecc_uncorrectable:
      return "uncorrectable ECC error encountered";
    default:
      return "an error that the stand-in has no words for";
  }
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
