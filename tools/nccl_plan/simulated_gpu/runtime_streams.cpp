// CUDA's runtime: streams, events, captures and graphs. Names and signatures are CUDA's (cuda_runtime_api.h).
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "tools/nccl_plan/simulated_gpu/cuda_types.hpp"
#include "tools/nccl_plan/simulated_gpu/process.hpp"

namespace collbench::simulated_gpu {
namespace {

using SharedGraph = std::shared_ptr<TaskGraph>;  // what cudaGraph_t and cudaGraphExec_t point to

Stream& stream_of(void* handle) { return simulated_process().streams.of(handle); }
Event& event_of(void* handle) { return *static_cast<Event*>(handle); }

/// During a capture the graph is known by a bare pointer; it is the stream's.
TaskGraph& captured_graph(void* handle) { return *static_cast<TaskGraph*>(handle); }

/// A capture's nodes are in the order of their tasks, so that no caller needs one.
int captured(void** node) {
  static char any_node = 0;
  *node = &any_node;
  return kSuccess;
}

int capture_info(void* stream, int* status, unsigned long long* id, void** graph, const void** dependencies,
                 std::size_t* count) {
  const SharedGraph& capture = stream_of(stream).capture;
  *status = capture ? 1 : 0;
  if (id != nullptr) *id = capture ? capture->capture_id : 0;
  if (graph != nullptr) *graph = capture.get();
  if (dependencies != nullptr) *dependencies = nullptr;
  if (count != nullptr) *count = 0;
  return kSuccess;
}

/// The graph goes when the last of cudaGraph_t and its executables does, and what it holds with it, but not
/// before its launches have ended.
int destroy_graph(void* handle) {
  const std::unique_ptr<SharedGraph> graph(static_cast<SharedGraph*>(handle));
  if (graph->use_count() == 1) simulated_process().streams.wait_for_all();
  return kSuccess;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's.
extern "C" {

int cudaStreamCreateWithFlags(void** stream, unsigned /*flags*/) {
  *stream = simulated_process().streams.create();
  return kSuccess;
}
int cudaStreamCreate(void** stream) { return cudaStreamCreateWithFlags(stream, 0); }
int cudaStreamCreateWithPriority(void** stream, unsigned flags, int /*priority*/) {
  return cudaStreamCreateWithFlags(stream, flags);
}

int cudaStreamDestroy(void* stream) {
  simulated_process().streams.destroy(static_cast<Stream*>(stream));
  return kSuccess;
}

int cudaStreamSynchronize(void* stream) {
  stream_of(stream).wait();
  return kSuccess;
}

int cudaStreamQuery(void* stream) {
  if (stream_of(stream).capture) return kStreamCaptureUnsupported;
  return stream_of(stream).idle() ? kSuccess : kNotReady;
}

int cudaStreamGetId(void* stream, unsigned long long* id) {
  *id = reinterpret_cast<std::uintptr_t>(stream);
  return kSuccess;
}

int cudaStreamWaitEvent(void* stream, void* event, unsigned /*flags*/) {
  Stream& waiting = stream_of(stream);
  const Event& awaited = event_of(event);
  if (auto capture = awaited.capture.lock(); capture && capture->capturing) {
    if (!waiting.capture) waiting.capture = std::move(capture);  // it takes part from now on
    return kSuccess;
  }
  if (waiting.capture || !awaited.moment || awaited.moment->over) return kSuccess;
  waiting.put([moment = awaited.moment] { moment->over.wait(false); });
  return kSuccess;
}

int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  stream_of(stream).put([=] { function(data); });
  return kSuccess;
}

/// Not CUDA's: as cudaLaunchHostFunc, for C++.
void collbench_simulated_gpu_put(void* stream, const Task& task) { stream_of(stream).put(task); }

int cudaEventCreateWithFlags(void** event, unsigned /*flags*/) {
  *event = std::make_unique<Event>().release();
  return kSuccess;
}
int cudaEventCreate(void** event) { return cudaEventCreateWithFlags(event, 0); }

int cudaEventDestroy(void* event) {
  const std::unique_ptr<Event> destroyed(static_cast<Event*>(event));
  return kSuccess;
}

int cudaEventRecord(void* event, void* stream) {
  Event& recorded = event_of(event);
  Stream& on = stream_of(stream);
  auto moment = std::make_shared<Moment>();
  recorded.moment = moment;
  recorded.capture = on.capture;
  on.put_brief([moment] {
    moment->when = std::chrono::steady_clock::now();
    moment->over = true;
    moment->over.notify_all();
  });
  return kSuccess;
}
int cudaEventRecordWithFlags(void* event, void* stream, unsigned /*flags*/) {
  return cudaEventRecord(event, stream);
}

int cudaEventQuery(void* event) {
  const auto& moment = event_of(event).moment;
  return !moment || moment->over ? kSuccess : kNotReady;
}

int cudaEventSynchronize(void* event) {
  if (const auto moment = event_of(event).moment) moment->over.wait(false);
  return kSuccess;
}

int cudaEventElapsedTime(float* milliseconds, void* from, void* to) {
  const auto& begin = event_of(from).moment;
  const auto& end = event_of(to).moment;
  if (!begin || !end) return kInvalidValue;
  if (!begin->over || !end->over) return kNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(end->when - begin->when).count();
  return kSuccess;
}
int cudaEventElapsedTime_v2(float* milliseconds, void* from, void* to) {
  return cudaEventElapsedTime(milliseconds, from, to);
}

int cudaStreamBeginCapture(void* stream, int /*mode*/) {
  static std::atomic<unsigned long long> captures{0};
  if (stream_of(stream).capture) return kInvalidValue;
  auto graph = std::make_shared<TaskGraph>();
  graph->capture_id = ++captures;
  stream_of(stream).capture = std::move(graph);
  return kSuccess;
}

int cudaStreamEndCapture(void* stream, void** graph) {
  const SharedGraph capture = stream_of(stream).capture;
  if (!capture) return kInvalidValue;
  simulated_process().streams.end_capture(capture);
  *graph = std::make_unique<SharedGraph>(capture).release();
  return kSuccess;
}

int cudaStreamIsCapturing(void* stream, int* status) {
  *status = stream_of(stream).capture ? 1 : 0;
  return kSuccess;
}

int cudaStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id, void** graph,
                                const void** dependencies, std::size_t* count) {
  return capture_info(stream, status, id, graph, dependencies, count);
}

int cudaStreamGetCaptureInfo_v3(void* stream, int* status, unsigned long long* id, void** graph,
                                const void** dependencies, const void** edges, std::size_t* count) {
  if (edges != nullptr) *edges = nullptr;
  return capture_info(stream, status, id, graph, dependencies, count);
}

/// From CUDA 13 on the name without a suffix is v3; before, it has the first three arguments.
int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id, void** graph,
                             const void** dependencies, const void** edges, std::size_t* count) {
  if (simulated_process().runtime_version >= 13000) {
    return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, edges, count);
  }
  return capture_info(stream, status, id, nullptr, nullptr, nullptr);
}

int cudaStreamUpdateCaptureDependencies(void* /*stream*/, void* /*dependencies*/, std::size_t /*count*/,
                                        unsigned /*flags*/) {
  return kSuccess;
}
int cudaStreamUpdateCaptureDependencies_v2(void* /*stream*/, void* /*dependencies*/, const void* /*edges*/,
                                           std::size_t /*count*/, unsigned /*flags*/) {
  return kSuccess;
}

int cudaThreadExchangeStreamCaptureMode(int* mode) {
  static thread_local int current = 0;
  std::swap(*mode, current);
  return kSuccess;
}

int cudaGraphAddEventRecordNode(void** node, void* /*graph*/, const void* /*dependencies*/,
                                std::size_t /*count*/, void* /*event*/) {
  return captured(node);
}
int cudaGraphAddEventWaitNode(void** node, void* /*graph*/, const void* /*dependencies*/,
                              std::size_t /*count*/, void* /*event*/) {
  return captured(node);
}
int cudaGraphAddKernelNode(void** node, void* /*graph*/, const void* /*dependencies*/, std::size_t /*count*/,
                           const void* /*kernel*/) {
  return captured(node);
}
int cudaGraphAddHostNode(void** node, void* graph, const void* /*dependencies*/, std::size_t /*count*/,
                         const CudaHostNode* host) {
  captured_graph(graph).tasks.emplace_back([call = *host] { call.function(call.data); });
  return captured(node);
}
int cudaGraphAddDependencies(void* /*graph*/, const void* /*from*/, const void* /*to*/) { return kSuccess; }
int cudaGraphAddDependencies_v2(void* /*graph*/, const void* /*from*/, const void* /*to*/) {
  return kSuccess;
}

using SharedObject = std::shared_ptr<UserObject>;

int cudaUserObjectCreate(void** object, void* data, void (*destroy)(void*), unsigned /*references*/,
                         unsigned /*flags*/) {
  *object = std::make_unique<SharedObject>(std::make_shared<UserObject>(destroy, data)).release();
  return kSuccess;
}

/// The graph takes the caller's reference, as NCCL asks (cudaGraphUserObjectMove).
int cudaGraphRetainUserObject(void* graph, void* object, unsigned /*count*/, unsigned /*flags*/) {
  const std::unique_ptr<SharedObject> moved(static_cast<SharedObject*>(object));
  captured_graph(graph).held.push_back(*moved);
  return kSuccess;
}

int cudaGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long /*flags*/) {
  *executable = std::make_unique<SharedGraph>(*static_cast<SharedGraph*>(graph)).release();
  return kSuccess;
}
int cudaGraphInstantiate(void** executable, void* graph, unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}

int cudaGraphLaunch(void* executable, void* stream) {
  const TaskGraph* const graph = static_cast<SharedGraph*>(executable)->get();  // destroy_graph waits for it
  stream_of(stream).put([graph] {
    for (const Task& task : graph->tasks) task();
  });
  return kSuccess;
}

int cudaGraphExecDestroy(void* executable) { return destroy_graph(executable); }
int cudaGraphDestroy(void* graph) { return destroy_graph(graph); }

}  // extern "C"
// NOLINTEND(readability-identifier-naming)

}  // namespace collbench::simulated_gpu
