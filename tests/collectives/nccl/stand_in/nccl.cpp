// libnccl without GPUs: ranks are joined through a Unix socket that the unique id names (hub.hpp), never
// through MPI, and operations run on the stand-in runtime's streams. For the control flow of the NCCL
// backend, and for nothing that only hardware shows. What is in one version and not in another is in
// nccl_versioned.cpp.
//
// What it copies of NCCL (User Guide, "Fault Tolerance" and "Group Calls"; src of 2.28 to 2.30):
// - a non-blocking communicator's calls return ncclInProgress and go on in a thread (group.cc); another call
//   before ncclCommGetAsyncError says success is invalid usage;
// - a send or receive outside of a group, and a buffer that is no device memory, are refused
//   (ncclInvalidArgument, as with NCCL_CHECK_POINTERS=1);
// - after a failure the operation stays on the stream until ncclCommAbort, and the peers see ncclRemoteError
//   through ncclCommGetAsyncError.
//
// - an operation in a CUDA graph refers to its communicator until the graph is destroyed, and ncclCommAbort
// and
//   ncclCommDestroy wait for that (init.cc, commDestroySync: localPersistentRefs);
// - a call that fails inside a group spoils it: its end returns the error and launches nothing (group.cc);
// - ncclCommAbort inside a group is put off to its end, being a group call (init.cc): stderr has it;
// - tuner and profiler plugins: plugins.hpp; the network and its plugin: network.hpp; registered buffers:
//   registration.hpp;
// - one rank's average of 8-bit floats is refused (device/onerank.cu);
// - NCCL_ALGO is read when a communicator is made; from 2.24 on an operation that has no such algorithm is
//   refused (enqueue.cc, topoGetAlgoInfo, "No algorithm/protocol available"), as is NVLS without NVSwitches
//   or for a type and reduction that it lacks; before, another one is taken in silence. NCCL_ALGO and
//   NCCL_PROTO are read once more then: where one is still set it is invalid usage, else an internal error.
//   On a non-blocking communicator all that happens in the thread that goes on with the call.
// COLLBENCH_STAND_IN makes it fail (injected_fault.hpp):
// - init_error: making the communicator ends in ncclSystemError, as when no socket interface is found
//   (bootstrap.cc);
// - cuda_failure:N: making the communicator fails by CUDA's error N, as CUDACHECK has it (checks.h);
// - init_hang:N: making the N-th communicator never ends, as when a peer's host drops packets;
// - no_plugins: tuner and profiler plugins are not loaded, as when their file cannot be opened;
// - call_error:N, send_error:N: the N-th operation's call, or ncclSend or ncclRecv, fails
//   (ncclUnhandledCudaError);
// - call_hang:N: the N-th operation's call never returns, as when the driver is stuck;
// - async_error:N: the N-th operation's connection breaks: ncclRemoteError by ncclCommGetAsyncError;
// - hang:N: the N-th operation never ends, as when a NIC stalls;
// - slow:N: the first N operations take 50 ms;
// - wrong_data:N: the N-th operation and all after it deliver one wrong bit.
// COLLBENCH_STAND_IN_CONFIG=FILE: a line for each communicator, the settings that it is made with.
// COLLBENCH_STAND_IN_GROUPS=FILE: a line for each group, of how many communicators it has calls.
// COLLBENCH_STAND_IN_ADDRESSES=FILE: a line for each operation that is no send or receive, where it reads and
// writes.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collectives/nccl/loader/cuda_library.hpp"
#include "collectives/nccl/loader/nccl_library.hpp"
#include "collectives/nccl/on_host/hub.hpp"
#include "tests/collectives/nccl/stand_in/communicator.hpp"
#include "tests/collectives/nccl/stand_in/injected_fault.hpp"
#include "tests/collectives/nccl/stand_in/nccl.hpp"
#include "tests/collectives/nccl/stand_in/network.hpp"
#include "tests/collectives/nccl/stand_in/plugins.hpp"
#include "tests/collectives/nccl/stand_in/refused_algorithms.hpp"
#include "tests/collectives/nccl/stand_in/registration.hpp"

using namespace collbench;
using namespace collbench::collectives;

extern "C" {
// NOLINTNEXTLINE(readability-identifier-naming): the name is CUDA's.
const char* cudaGetErrorString(CudaResult result);
void collbench_stand_in_put(CudaStreamHandle stream, const std::function<void()>& task);
bool collbench_stand_in_captures(CudaStreamHandle stream);
}

namespace {

/// One operation, or all sends and receives of a group, with what they read and write.
struct IssuedOperation : DataOperation {
  NcclHandle communicator = nullptr;
  CudaStreamHandle stream = nullptr;
  int number = 0;  // counted from 1 in this process
};

std::atomic<int> communicators{0};
std::atomic<int> operations{0};
std::atomic<int> transfers{0};
thread_local int group_depth = 0;
thread_local NcclResult group_result = NcclResult::success;
std::mutex last_error_mutex;
std::array<char, 1024>
    last_error{};  // as NCCL has it (src/debug.cc): one for all threads, read without a lock
thread_local std::vector<std::unique_ptr<IssuedOperation>> group;  // one or more for each communicator

void spoil(const IssuedOperation& operation) {
  const auto wrong_from = injected_fault("wrong_data");
  if (!wrong_from || operation.number < *wrong_from) return;
  auto* const first = static_cast<unsigned char*>(operation.receives.empty() ? operation.receive
                                                                             : operation.receives[0].second);
  if (first != nullptr) first[0] ^= 1U;
}

/// On the stream's thread; of a captured operation once per launch.
void run(const IssuedOperation& operation) {
  NcclCommunicatorObject& communicator = *operation.communicator;
  if (injected_fault("hang") == operation.number) {
    communicator.wait_for_abort();
    return;
  }
  if (const auto slow = injected_fault("slow"); slow && operation.number <= *slow)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (injected_fault("async_error") == operation.number) ::shutdown(communicator.socket, SHUT_RDWR);
  if (!ask_hub(communicator.socket, operation)) {
    communicator.state = NcclResult::remote_error;
    communicator.wait_for_abort();
    return;
  }
  spoil(operation);
}

void tell_plugins(const IssuedOperation& operation) {
  const NcclCommunicatorObject& communicator = *operation.communicator;
  const AskHeader& header = operation.header;
  if (header.ask == Ask::group) {
    communicator.plugins->send(operation.sends.size() + operation.receives.size());
  } else if (header.ask == Ask::all_to_all) {
    communicator.plugins->send(2 * static_cast<std::size_t>(communicator.ranks));
  } else {
    const std::size_t block = header.count * element_bytes(header.type);
    const bool all_blocks = header.ask != Ask::all_reduce;
    communicator.plugins->run(header.ask,
                              all_blocks ? block * static_cast<std::size_t>(communicator.ranks) : block,
                              communicator.restriction);
  }
}

void keep_last_error(const std::string& text) {
  const std::lock_guard lock(last_error_mutex);
  last_error[text.copy(last_error.data(), last_error.size() - 1)] = '\0';
}

NcclResult launch(std::unique_ptr<IssuedOperation> operation) {
  NcclCommunicatorObject& communicator = *operation->communicator;
  if (communicator.state == NcclResult::in_progress) return NcclResult::invalid_usage;
  if (!has_algorithm(communicator.restriction, operation->header)) {
    return go_on(communicator, [] {
      std::string why;
      const NcclResult result = refusal(why);
      keep_last_error(why);
      return result;
    });
  }
  if (const char* const path = std::getenv("COLLBENCH_STAND_IN_ADDRESSES"))
    std::ofstream(path, std::ios::app) << operation->send << ' ' << operation->receive << '\n';
  operation->number = ++operations;
  if (!communicator.was_called.exchange(true))
    communicator.take_memory(stand_in_number("COLLBENCH_STAND_IN_FIRST_CALL_BYTES", 0));
  operation->header.rank = communicator.rank;
  operation->header.ranks = communicator.ranks;
  tell_plugins(*operation);
  if (injected_fault("call_hang") == operation->number) communicator.wait_for_abort();
  if (injected_fault("call_error") == operation->number) return NcclResult::unhandled_cuda_error;
  return go_on(communicator, [shared = std::shared_ptr<const IssuedOperation>(std::move(operation))] {
    std::shared_ptr<GraphReference> reference;
    if (collbench_stand_in_captures(shared->stream)) {
      reference = std::make_shared<GraphReference>(*shared->communicator);
    }
    collbench_stand_in_put(shared->stream, [shared, reference] { run(*shared); });
    return NcclResult::success;
  });
}

/// An operation that sends `send_blocks` × count and receives `receive_blocks` × count elements.
struct Blocks {
  std::size_t send = 1;
  std::size_t receive = 1;
};

NcclResult collective(const AskHeader& header, Blocks blocks, const void* send, void* receive,
                      NcclHandle communicator, CudaStreamHandle stream) {
  auto operation = std::make_unique<IssuedOperation>();
  operation->communicator = communicator;
  operation->stream = stream;
  operation->header = header;
  const std::size_t block_bytes = header.count * element_bytes(header.type);
  operation->header.bytes = blocks.send * block_bytes;
  operation->send = send;
  operation->receive = receive;
  operation->receive_bytes = blocks.receive * block_bytes;
  const auto is_device_memory = [](const void* address, std::size_t bytes) {
    return bytes == 0 || collbench_stand_in_is_device_memory(address, bytes);
  };
  if (!is_device_memory(send, operation->header.bytes) ||
      !is_device_memory(receive, operation->receive_bytes)) {
    return NcclResult::invalid_argument;
  }
  if (communicator->ranks == 1 && header.reduction == NcclReduction::avg && element_bytes(header.type) == 1 &&
      header.type >= NcclType::float8_e4m3) {
    return NcclResult::invalid_argument;
  }
  if (group_depth == 0) return launch(std::move(operation));
  group.push_back(std::move(operation));
  return NcclResult::success;
}

std::size_t ranks_of(NcclHandle communicator) { return static_cast<std::size_t>(communicator->ranks); }

/// As WARN has it (src/debug.cc): in the log, and kept for ncclGetLastError.
void warn(const std::string& text) {
  stand_in_log("init.cc:1 NCCL WARN " + text);
  keep_last_error(text);
}

/// In the folder COLLBENCH_STAND_IN_FOLDER where ranks are on several hosts in network namespaces.
std::string new_hub_name() {
  static std::atomic<int> hubs{0};
  const char* const folder = std::getenv("COLLBENCH_STAND_IN_FOLDER");
  const std::string prefix = folder == nullptr ? "" : std::string(folder) + "/";
  return prefix + "collbench-stand-in-" + std::to_string(::getpid()) + "-" + std::to_string(++hubs);
}

NcclResult join(NcclCommunicatorObject& communicator, const std::string& hub) {
  if (const auto error = injected_fault("cuda_failure")) return stand_in_cuda_failure(*error);
  if (injected_fault("init_error")) {
    warn("Could not read from the parent's socket");
    warn("Bootstrap : no socket interface found");
    return NcclResult::system_error;
  }
  if (injected_fault("init_hang") == ++communicators) {
    communicator.wait_for_abort();
    return NcclResult::system_error;
  }
  const int socket = connect_to_hub(hub);
  {
    const std::lock_guard lock(communicator.mutex);
    communicator.socket = socket;
    if (communicator.aborted) return NcclResult::remote_error;  // the abort saw no socket to shut down
  }
  const AskHeader hello{.ask = Ask::join, .rank = communicator.rank, .ranks = communicator.ranks};
  char welcome = 0;
  if (communicator.socket < 0 || !send_all(communicator.socket, &hello, sizeof hello) ||
      !receive_all(communicator.socket, &welcome, 1)) {
    return NcclResult::remote_error;
  }
  communicator.network = std::make_unique<Network>();
  communicator.plugins = std::make_unique<Plugins>(communicator.ranks, communicator.rank);
  return NcclResult::success;
}

IssuedOperation* group_for(NcclHandle communicator, CudaStreamHandle stream) {
  if (group_depth == 0) return nullptr;
  for (const auto& each : group)
    if (each->communicator == communicator && each->exchanges()) return each.get();
  auto& made = group.emplace_back(std::make_unique<IssuedOperation>());
  made->header.ask = Ask::group;
  made->communicator = communicator;
  made->stream = stream;
  return made.get();
}

/// In COLLBENCH_STAND_IN_GROUPS: how many communicators it is of.
void note_group() {
  const char* const path = std::getenv("COLLBENCH_STAND_IN_GROUPS");
  if (path == nullptr) return;
  std::set<NcclHandle> of;
  for (const auto& each : group) of.insert(each->communicator);
  std::ofstream(path, std::ios::app) << of.size() << '\n';
}

NcclResult launch_group() {
  note_group();
  NcclResult result = NcclResult::success;
  for (auto& each : std::exchange(group, {})) {
    each->header.sends = each->sends.size();
    each->header.receives = each->receives.size();
    for (const auto& [part, data] : each->sends) each->header.bytes += part.bytes;
    const NcclResult launched = launch(std::move(each));
    if (launched != NcclResult::success) result = launched;
  }
  return result;
}

/// Whether the next send or receive is the one that shall fail; its group is spoiled then.
bool transfer_fails() {
  if (injected_fault("send_error") != ++transfers) return false;
  group_result = NcclResult::unhandled_cuda_error;
  return true;
}

}  // namespace

// For nccl_versioned.cpp.
NcclResult collbench::collectives::stand_in_cuda_failure(int error) {
  warn(std::string("Cuda failure '") + cudaGetErrorString(static_cast<CudaResult>(error)) + "'");
  return NcclResult::unhandled_cuda_error;
}

NcclResult collbench::collectives::stand_in_all_to_all(const void* send, void* receive, std::size_t count,
                                                       NcclType type, NcclHandle communicator,
                                                       CudaStreamHandle stream) {
  const std::size_t ranks = ranks_of(communicator);
  return collective({.ask = Ask::all_to_all, .type = type, .count = count}, {.send = ranks, .receive = ranks},
                    send, receive, communicator, stream);
}

NcclResult collbench::collectives::stand_in_async_error(NcclHandle communicator, NcclResult* state) {
  *state = communicator->state;
  return NcclResult::success;
}

// NOLINTBEGIN(readability-identifier-naming): the names are the library's.
extern "C" {

NcclResult ncclGetUniqueId(NcclUniqueId* id) {
  const std::string name = new_hub_name();
  id->internal.fill(0);
  name.copy(id->internal.data(), id->internal.size() - 1);
  return start_hub(name) ? NcclResult::success : NcclResult::system_error;
}

NcclResult ncclCommInitRankConfig(NcclHandle* handle, int ranks, NcclUniqueId id, int rank,
                                  NcclConfig* config) {
  if (config->magic != 0xcafebeef || config->size < sizeof(NcclConfig)) return NcclResult::invalid_argument;
  if (const char* const path = std::getenv("COLLBENCH_STAND_IN_CONFIG")) {
    std::ofstream(path, std::ios::app)
        << "maxCTAs=" << config->max_ctas << " CTAPolicy=" << config->cta_policy
        << " nvlinkCentricSched=" << config->nvlink_centric_scheduling
        << " maxP2pPeers=" << config->max_p2p_peers << '\n';
  }
  *handle = new NcclCommunicatorObject;
  (*handle)->rank = rank;
  (*handle)->ranks = ranks;
  (*handle)->blocking = config->blocking != 0;
  (*handle)->take_memory(stand_in_number("COLLBENCH_STAND_IN_COMMUNICATOR_BYTES", 0));
  if (const char* const algorithm = std::getenv("NCCL_ALGO")) (*handle)->restriction.algorithm = algorithm;
  if (const char* const protocol = std::getenv("NCCL_PROTO")) (*handle)->restriction.protocol = protocol;
  return go_on(**handle, [communicator = *handle, hub = std::string(id.internal.data())] {
    return join(*communicator, hub);
  });
}

NcclResult ncclCommFinalize(NcclHandle communicator) {
  if (communicator->state == NcclResult::in_progress) return NcclResult::invalid_usage;
  return go_on(*communicator, [communicator] {
    const AskHeader bye{.ask = Ask::bye, .rank = communicator->rank, .ranks = communicator->ranks};
    static_cast<void>(send_all(communicator->socket, &bye, sizeof bye));
    return NcclResult::success;
  });
}

NcclResult ncclCommDestroy(NcclHandle communicator) {
  communicator->wait_for_graphs();
  end_registrations(communicator, false);
  if (communicator->thread.joinable()) communicator->thread.join();
  if (communicator->blocking) ncclCommFinalize(communicator);
  ::close(communicator->socket);
  delete communicator;
  return NcclResult::success;
}

NcclResult ncclCommAbort(NcclHandle communicator) {
  {
    const std::lock_guard lock(communicator->mutex);
    communicator->aborted = true;
    if (communicator->socket >= 0) ::shutdown(communicator->socket, SHUT_RDWR);
  }
  communicator->wake.notify_all();
  end_registrations(communicator, true);
  if (communicator->thread.joinable()) communicator->thread.join();
  if (group_depth > 0) {
    std::fputs("stand-in: ncclCommAbort inside a group is never carried out\n", stderr);
    return NcclResult::success;
  }
  communicator->wait_for_graphs();
  // What its operations on the stream still use stays: the real one waits for its kernels here.
  return NcclResult::success;
}

const char* ncclGetErrorString(NcclResult result) {
  constexpr std::array kWords{"no error",
                              "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
                              "unhandled system error (run with NCCL_DEBUG=INFO for details)",
                              "internal error - please report this issue to the NCCL developers",
                              "invalid argument (run with NCCL_DEBUG=WARN for details)",
                              "invalid usage (run with NCCL_DEBUG=WARN for details)",
                              "remote process exited or there was a network error",
                              "NCCL operation in progress"};
  return kWords.at(static_cast<std::size_t>(result));
}

const char* ncclGetLastError(NcclHandle /*communicator*/) { return last_error.data(); }

NcclResult ncclGroupStart() {
  ++group_depth;
  return NcclResult::success;
}

NcclResult ncclGroupEnd() {
  if (group_depth == 0) return NcclResult::invalid_usage;
  if (--group_depth > 0) return NcclResult::success;
  if (const NcclResult failed = std::exchange(group_result, NcclResult::success);
      failed != NcclResult::success) {
    group.clear();
    return failed;
  }
  return launch_group();
}

NcclResult ncclAllReduce(const void* send, void* receive, std::size_t count, NcclType type,
                         NcclReduction reduction, NcclHandle communicator, CudaStreamHandle stream) {
  return collective({.ask = Ask::all_reduce, .type = type, .reduction = reduction, .count = count}, {}, send,
                    receive, communicator, stream);
}

NcclResult ncclAllGather(const void* send, void* receive, std::size_t count, NcclType type,
                         NcclHandle communicator, CudaStreamHandle stream) {
  return collective({.ask = Ask::all_gather, .type = type, .count = count},
                    {.send = 1, .receive = ranks_of(communicator)}, send, receive, communicator, stream);
}

NcclResult ncclReduceScatter(const void* send, void* receive, std::size_t count, NcclType type,
                             NcclReduction reduction, NcclHandle communicator, CudaStreamHandle stream) {
  return collective({.ask = Ask::reduce_scatter, .type = type, .reduction = reduction, .count = count},
                    {.send = ranks_of(communicator), .receive = 1}, send, receive, communicator, stream);
}

NcclResult ncclBroadcast(const void* send, void* receive, std::size_t count, NcclType type, int root,
                         NcclHandle communicator, CudaStreamHandle stream) {
  const std::size_t sends = communicator->rank == root ? 1 : 0;
  return collective({.ask = Ask::broadcast, .type = type, .root = root, .count = count}, {.send = sends},
                    send, receive, communicator, stream);
}

NcclResult ncclReduce(const void* send, void* receive, std::size_t count, NcclType type,
                      NcclReduction reduction, int root, NcclHandle communicator, CudaStreamHandle stream) {
  const std::size_t receives = communicator->rank == root ? 1 : 0;
  return collective({.ask = Ask::reduce, .type = type, .reduction = reduction, .root = root, .count = count},
                    {.send = 1, .receive = receives}, send, receive, communicator, stream);
}

NcclResult ncclSend(const void* data, std::size_t count, NcclType type, int peer, NcclHandle communicator,
                    CudaStreamHandle stream) {
  IssuedOperation* const open = group_for(communicator, stream);
  const std::size_t bytes = count * element_bytes(type);
  if (open == nullptr || !collbench_stand_in_is_device_memory(data, bytes))
    return NcclResult::invalid_argument;
  if (transfer_fails()) return group_result;
  open->sends.push_back({{.peer = peer, .bytes = bytes}, data});
  return NcclResult::success;
}

NcclResult ncclRecv(void* data, std::size_t count, NcclType type, int peer, NcclHandle communicator,
                    CudaStreamHandle stream) {
  IssuedOperation* const open = group_for(communicator, stream);
  const std::size_t bytes = count * element_bytes(type);
  if (open == nullptr || !collbench_stand_in_is_device_memory(data, bytes))
    return NcclResult::invalid_argument;
  if (transfer_fails()) return group_result;
  open->receives.push_back({{.peer = peer, .bytes = bytes}, data});
  return NcclResult::success;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
