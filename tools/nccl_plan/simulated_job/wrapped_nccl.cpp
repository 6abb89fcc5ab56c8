// The CUDA runtime (COLLBENCH_CUDART) for a run of the program over a real libnccl (COLLBENCH_NCCL) and
// simulated GPUs: that of libcollbench_simulated_gpu.so, which it needs, and which loads NCCL. Then it puts
// itself before NCCL's operations, whose kernels do not run: each calls NCCL's own first, and where that does
// not refuse, the ranks' data meet in a hub (collectives/nccl/on_host/hub.hpp), on the stream where the
// kernel would have run. What this NCCL lacks stays missing. Buffers are remembered while they are
// registered, and are not freed meanwhile.
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "collectives/nccl/loader/nccl_library.hpp"
#include "collectives/nccl/on_host/hub.hpp"

using namespace collbench;
using namespace collbench::collectives;

extern "C" {
// Of libcollbench_simulated_gpu.so.
void* collbench_simulated_gpu_replace_export(void* library, const char* name, const void* replacement);
void collbench_simulated_gpu_put(void* stream, const std::function<void()>& task);
}

namespace {

/// NCCL's own functions.
struct Originals {
  NcclLibrary calls;
  NcclResult (*comm_init_rank)(NcclHandle*, int, NcclUniqueId, int) = nullptr;
  NcclResult (*gather)(const void*, void*, std::size_t, NcclType, int, NcclHandle,
                       CudaStreamHandle) = nullptr;
  NcclResult (*scatter)(const void*, void*, std::size_t, NcclType, int, NcclHandle,
                        CudaStreamHandle) = nullptr;
};

Originals& original() {
  static Originals all;
  return all;
}

/// What a communicator of NCCL is to the hub. Joined when its first operation runs.
class DataCommunicator {
 public:
  DataCommunicator(std::string hub, int rank, int ranks) : hub_(std::move(hub)), rank_(rank), ranks_(ranks) {}
  DataCommunicator(const DataCommunicator&) = delete;
  DataCommunicator& operator=(const DataCommunicator&) = delete;
  DataCommunicator(DataCommunicator&&) = delete;
  DataCommunicator& operator=(DataCommunicator&&) = delete;
  ~DataCommunicator() {
    if (socket_ >= 0) ::close(socket_);
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(ranks_); }

  /// The hub's socket; -1 when there is none, or after abort.
  [[nodiscard]] int joined_socket() {
    if (socket_ >= 0 || aborted_) return aborted_ ? -1 : socket_.load();
    const int socket = connect_to_hub(hub_);
    socket_ = socket;
    const AskHeader hello{.ask = Ask::join, .rank = rank_, .ranks = ranks_};
    char welcome = 0;
    const bool good = socket >= 0 && !aborted_ && send_all(socket, &hello, sizeof hello) &&
                      receive_all(socket, &welcome, 1);
    return good ? socket : -1;
  }

  /// Ends what waits for other ranks, as NCCL's abort flag ends a kernel.
  void abort() {
    aborted_ = true;
    aborted_.notify_all();
    if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
  }
  /// Until abort: what has lost a peer stays on its stream, as a kernel does.
  void wait_for_abort() const { aborted_.wait(false); }

 private:
  std::string hub_;
  int rank_;
  int ranks_;
  std::atomic<int> socket_{-1};
  std::atomic<bool> aborted_{false};
};

/// Carries the operation out; returns when this rank has what it receives, or after abort.
void move_data(DataCommunicator& communicator, DataOperation operation) {
  operation.header.rank = communicator.rank();
  operation.header.ranks = static_cast<std::int32_t>(communicator.ranks());
  if (operation.exchanges()) {
    operation.header.sends = operation.sends.size();
    operation.header.receives = operation.receives.size();
    for (const auto& [part, data] : operation.sends) operation.header.bytes += part.bytes;
  }
  const int socket = communicator.joined_socket();
  if (socket < 0 || !ask_hub(socket, operation)) communicator.wait_for_abort();
}

/// What NCCL has registered, with which communicator. Real memory that is freed meanwhile leaves NCCL with an
/// address that is no longer its owner's, and says nothing.
class RegisteredBuffers {
 public:
  /// `handle` is NCCL's; null: it accepted the buffer and registered nothing.
  void add(const void* communicator, const void* handle, const void* buffer) {
    const std::lock_guard lock(mutex_);
    if (handle != nullptr) all_[{communicator, handle}] = buffer;
  }
  void remove(const void* communicator, const void* handle) {
    const std::lock_guard lock(mutex_);
    all_.erase({communicator, handle});
  }
  /// At a communicator's end.
  void remove_all(const void* communicator) {
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [&](const auto& each) { return each.first.first == communicator; });
  }
  [[nodiscard]] bool has(const void* buffer) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(all_, [&](const auto& each) { return each.second == buffer; });
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<const void*, const void*>, const void*> all_;
};

using SharedCommunicator = std::shared_ptr<DataCommunicator>;

/// By NCCL's handles.
class Communicators {
 public:
  void add(NcclHandle handle, SharedCommunicator communicator) {
    const std::lock_guard lock(mutex_);
    all_[handle] = std::move(communicator);
  }
  [[nodiscard]] SharedCommunicator find(NcclHandle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(handle);
    return found == all_.end() ? nullptr : found->second;
  }
  void remove(NcclHandle handle) {
    const std::lock_guard lock(mutex_);
    all_.erase(handle);
  }

 private:
  std::mutex mutex_;
  std::map<NcclHandle, SharedCommunicator> all_;
};

Communicators& communicators() {
  static Communicators all;
  return all;
}

RegisteredBuffers& registered() {
  static RegisteredBuffers all;
  return all;
}

/// The hub of the communicator with this id (FNV-1a).
std::string hub_name(const NcclUniqueId& id) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : id.internal) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return "collbench-simulated-job-" + std::to_string(hash);
}

struct Pending {
  SharedCommunicator communicator;
  CudaStreamHandle stream = nullptr;
  DataOperation operation;
};

/// What the calling thread has issued in a group that is open.
struct Group {
  int depth = 0;
  std::vector<Pending> pending;
};
Group& open_group() {
  static thread_local Group group;
  return group;
}

bool is_good(NcclResult result) { return result == NcclResult::success || result == NcclResult::in_progress; }

/// Sends and receives of one communicator and stream are one exchange, as they are to NCCL.
void add(std::vector<Pending>& all, Pending next) {
  Pending* const last = all.empty() ? nullptr : &all.back();
  if (last == nullptr || !last->operation.exchanges() || !next.operation.exchanges() ||
      last->communicator != next.communicator || last->stream != next.stream) {
    all.push_back(std::move(next));
    return;
  }
  for (auto& part : next.operation.sends) last->operation.sends.push_back(part);
  for (auto& part : next.operation.receives) last->operation.receives.push_back(part);
}

void launch(std::vector<Pending> all) {
  for (Pending& each : all) {
    collbench_simulated_gpu_put(
        each.stream, [communicator = std::move(each.communicator), operation = std::move(each.operation)] {
          move_data(*communicator, operation);
        });
  }
}

/// After NCCL's own call: what it means happens now, or at the end of the group.
NcclResult after(NcclResult result, NcclHandle handle, CudaStreamHandle stream, DataOperation operation) {
  auto communicator = communicators().find(handle);
  if (!is_good(result) || !communicator) return result;
  std::vector<Pending> alone;
  Group& group = open_group();
  add(group.depth > 0 ? group.pending : alone, {std::move(communicator), stream, std::move(operation)});
  launch(std::move(alone));
  return result;
}

std::size_t ranks_of(NcclHandle handle) {
  const auto communicator = communicators().find(handle);
  return communicator ? communicator->ranks() : 1;
}
int rank_of(NcclHandle handle) {
  const auto communicator = communicators().find(handle);
  return communicator ? communicator->rank() : 0;
}

/// `send_blocks` and `receive_blocks` of header.count elements each.
DataOperation blocks(const AskHeader& header, const void* send, std::size_t send_blocks, void* receive,
                     std::size_t receive_blocks) {
  DataOperation operation;
  operation.header = header;
  const std::size_t block_bytes = header.count * element_bytes(header.type);
  operation.header.bytes = send_blocks * block_bytes;
  operation.send = send;
  operation.receive = receive;
  operation.receive_bytes = receive_blocks * block_bytes;
  return operation;
}

DataOperation exchange() {
  DataOperation operation;
  operation.header.ask = Ask::group;
  return operation;
}

PeerPart part_of(std::size_t peer, std::size_t bytes) {
  return {.peer = static_cast<std::int32_t>(peer), .bytes = bytes};
}

void note(NcclResult result, NcclHandle* handle, int ranks, const NcclUniqueId& id, int rank) {
  if (is_good(result) && *handle != nullptr) {
    communicators().add(*handle, std::make_shared<DataCommunicator>(hub_name(id), rank, ranks));
  }
}

NcclResult get_unique_id(NcclUniqueId* id) {
  const NcclResult result = original().calls.get_unique_id(id);
  if (result == NcclResult::success) static_cast<void>(start_hub(hub_name(*id)));
  return result;
}

NcclResult comm_init_rank_config(NcclHandle* handle, int ranks, NcclUniqueId id, int rank,
                                 NcclConfig* config) {
  const NcclResult result = original().calls.comm_init_rank_config(handle, ranks, id, rank, config);
  note(result, handle, ranks, id, rank);
  return result;
}

NcclResult comm_init_rank(NcclHandle* handle, int ranks, NcclUniqueId id, int rank) {
  const NcclResult result = original().comm_init_rank(handle, ranks, id, rank);
  note(result, handle, ranks, id, rank);
  return result;
}

NcclResult comm_destroy(NcclHandle handle) {
  communicators().remove(handle);
  registered().remove_all(handle);
  return original().calls.comm_destroy(handle);
}

NcclResult comm_abort(NcclHandle handle) {
  if (const auto communicator = communicators().find(handle)) communicator->abort();
  communicators().remove(handle);
  registered().remove_all(handle);
  return original().calls.comm_abort(handle);
}

NcclResult group_start() {
  ++open_group().depth;
  return original().calls.group_start();
}

NcclResult group_end() {
  const NcclResult result = original().calls.group_end();
  Group& group = open_group();
  if (group.depth == 0) return result;
  --group.depth;
  if (group.depth > 0) return result;
  auto all = std::exchange(group.pending, {});
  if (is_good(result)) launch(std::move(all));
  return result;
}

// These three with NcclLibrary's `function`, which may take the call's configuration behind the rest.

template <auto function, typename... Config>
NcclResult all_reduce(const void* send, void* receive, std::size_t count, NcclType type,
                      NcclReduction reduction, NcclHandle handle, CudaStreamHandle stream, Config... config) {
  const AskHeader header{.ask = Ask::all_reduce, .type = type, .reduction = reduction, .count = count};
  return after((original().calls.*function)(send, receive, count, type, reduction, handle, stream, config...),
               handle, stream, blocks(header, send, 1, receive, 1));
}

template <auto function, typename... Config>
NcclResult all_gather(const void* send, void* receive, std::size_t count, NcclType type, NcclHandle handle,
                      CudaStreamHandle stream, Config... config) {
  const AskHeader header{.ask = Ask::all_gather, .type = type, .count = count};
  return after((original().calls.*function)(send, receive, count, type, handle, stream, config...), handle,
               stream, blocks(header, send, 1, receive, ranks_of(handle)));
}

template <auto function, typename... Config>
NcclResult reduce_scatter(const void* send, void* receive, std::size_t count, NcclType type,
                          NcclReduction reduction, NcclHandle handle, CudaStreamHandle stream,
                          Config... config) {
  const AskHeader header{.ask = Ask::reduce_scatter, .type = type, .reduction = reduction, .count = count};
  return after((original().calls.*function)(send, receive, count, type, reduction, handle, stream, config...),
               handle, stream, blocks(header, send, ranks_of(handle), receive, 1));
}

NcclResult broadcast(const void* send, void* receive, std::size_t count, NcclType type, int root,
                     NcclHandle handle, CudaStreamHandle stream) {
  const AskHeader header{.ask = Ask::broadcast, .type = type, .root = root, .count = count};
  const std::size_t sends = rank_of(handle) == root ? 1 : 0;
  return after(original().calls.broadcast(send, receive, count, type, root, handle, stream), handle, stream,
               blocks(header, send, sends, receive, 1));
}

NcclResult reduce(const void* send, void* receive, std::size_t count, NcclType type, NcclReduction reduction,
                  int root, NcclHandle handle, CudaStreamHandle stream) {
  const AskHeader header{
      .ask = Ask::reduce, .type = type, .reduction = reduction, .root = root, .count = count};
  const std::size_t receives = rank_of(handle) == root ? 1 : 0;
  return after(original().calls.reduce(send, receive, count, type, reduction, root, handle, stream), handle,
               stream, blocks(header, send, 1, receive, receives));
}

NcclResult all_to_all(const void* send, void* receive, std::size_t count, NcclType type, NcclHandle handle,
                      CudaStreamHandle stream) {
  const AskHeader header{.ask = Ask::all_to_all, .type = type, .count = count};
  return after(original().calls.all_to_all(send, receive, count, type, handle, stream), handle, stream,
               blocks(header, send, ranks_of(handle), receive, ranks_of(handle)));
}

NcclResult send_to(const void* data, std::size_t count, NcclType type, int peer, NcclHandle handle,
                   CudaStreamHandle stream) {
  DataOperation operation = exchange();
  operation.sends.emplace_back(part_of(static_cast<std::size_t>(peer), count * element_bytes(type)), data);
  return after(original().calls.send(data, count, type, peer, handle, stream), handle, stream,
               std::move(operation));
}

NcclResult receive_from(void* data, std::size_t count, NcclType type, int peer, NcclHandle handle,
                        CudaStreamHandle stream) {
  DataOperation operation = exchange();
  operation.receives.emplace_back(part_of(static_cast<std::size_t>(peer), count * element_bytes(type)), data);
  return after(original().calls.recv(data, count, type, peer, handle, stream), handle, stream,
               std::move(operation));
}

// Gather and Scatter (from 2.28 on) as what they are made of: a part for each rank, to or from the root.

NcclResult gather(const void* send, void* receive, std::size_t count, NcclType type, int root,
                  NcclHandle handle, CudaStreamHandle stream) {
  const std::size_t bytes = count * element_bytes(type);
  DataOperation operation = exchange();
  operation.sends.emplace_back(part_of(static_cast<std::size_t>(root), bytes), send);
  for (std::size_t rank = 0; rank_of(handle) == root && rank < ranks_of(handle); ++rank) {
    operation.receives.emplace_back(part_of(rank, bytes), static_cast<std::byte*>(receive) + rank * bytes);
  }
  return after(original().gather(send, receive, count, type, root, handle, stream), handle, stream,
               std::move(operation));
}

NcclResult scatter(const void* send, void* receive, std::size_t count, NcclType type, int root,
                   NcclHandle handle, CudaStreamHandle stream) {
  const std::size_t bytes = count * element_bytes(type);
  DataOperation operation = exchange();
  operation.receives.emplace_back(part_of(static_cast<std::size_t>(root), bytes), receive);
  for (std::size_t rank = 0; rank_of(handle) == root && rank < ranks_of(handle); ++rank) {
    operation.sends.emplace_back(part_of(rank, bytes), static_cast<const std::byte*>(send) + rank * bytes);
  }
  return after(original().scatter(send, receive, count, type, root, handle, stream), handle, stream,
               std::move(operation));
}

NcclResult comm_register(NcclHandle handle, void* buffer, std::size_t bytes, void** registration) {
  const NcclResult result = original().calls.comm_register(handle, buffer, bytes, registration);
  if (is_good(result)) registered().add(handle, *registration, buffer);
  return result;
}

NcclResult comm_deregister(NcclHandle handle, void* registration) {
  registered().remove(handle, registration);
  return original().calls.comm_deregister(handle, registration);
}

NcclResult comm_window_register(NcclHandle handle, void* buffer, std::size_t bytes, NcclWindowHandle* window,
                                int flags) {
  const NcclResult result = original().calls.comm_window_register(handle, buffer, bytes, window, flags);
  if (is_good(result)) registered().add(handle, *window, buffer);
  return result;
}

NcclResult comm_window_deregister(NcclHandle handle, NcclWindowHandle window) {
  registered().remove(handle, window);
  return original().calls.comm_window_deregister(handle, window);
}

/// Says so where it is.
bool is_still_registered(const void* buffer, const char* call) {
  if (!registered().has(buffer)) return false;
  std::fprintf(stderr, "collbench: simulated GPU: %s of a buffer that NCCL has registered; the call fails\n",
               call);
  return true;
}

NcclResult memory_free(void* buffer) {
  if (is_still_registered(buffer, "ncclMemFree")) return NcclResult::invalid_usage;
  return original().calls.memory_free(buffer);
}

template <typename Function>
void wrap(void* nccl, const char* name, Function* wrapper, Function*& kept) {
  kept = reinterpret_cast<Function*>(
      collbench_simulated_gpu_replace_export(nccl, name, reinterpret_cast<const void*>(wrapper)));
}

/// After the simulated GPU library's own start, which loads NCCL: it is needed, so it comes first.
[[gnu::constructor]] void wrap_nccl() {
  const char* const name = std::getenv("COLLBENCH_NCCL");
  void* const nccl = name == nullptr ? nullptr : ::dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  if (nccl == nullptr) return;
  Originals& own = original();
  wrap(nccl, "ncclGetUniqueId", get_unique_id, own.calls.get_unique_id);
  wrap(nccl, "ncclCommInitRankConfig", comm_init_rank_config, own.calls.comm_init_rank_config);
  wrap(nccl, "ncclCommInitRank", comm_init_rank, own.comm_init_rank);
  wrap(nccl, "ncclCommDestroy", comm_destroy, own.calls.comm_destroy);
  wrap(nccl, "ncclCommAbort", comm_abort, own.calls.comm_abort);
  wrap(nccl, "ncclGroupStart", group_start, own.calls.group_start);
  wrap(nccl, "ncclGroupEnd", group_end, own.calls.group_end);
  wrap(nccl, "ncclAllReduce", all_reduce<&NcclLibrary::all_reduce>, own.calls.all_reduce);
  wrap(nccl, "ncclAllReduceConfig", all_reduce<&NcclLibrary::all_reduce_config, const NcclCallConfig*>,
       own.calls.all_reduce_config);
  wrap(nccl, "ncclAllGather", all_gather<&NcclLibrary::all_gather>, own.calls.all_gather);
  wrap(nccl, "ncclAllGatherConfig", all_gather<&NcclLibrary::all_gather_config, const NcclCallConfig*>,
       own.calls.all_gather_config);
  wrap(nccl, "ncclReduceScatter", reduce_scatter<&NcclLibrary::reduce_scatter>, own.calls.reduce_scatter);
  wrap(nccl, "ncclReduceScatterConfig",
       reduce_scatter<&NcclLibrary::reduce_scatter_config, const NcclCallConfig*>,
       own.calls.reduce_scatter_config);
  wrap(nccl, "ncclBroadcast", broadcast, own.calls.broadcast);
  wrap(nccl, "ncclReduce", reduce, own.calls.reduce);
  wrap(nccl, "ncclSend", send_to, own.calls.send);
  wrap(nccl, "ncclRecv", receive_from, own.calls.recv);
  wrap(nccl, "ncclAlltoAll", all_to_all, own.calls.all_to_all);
  wrap(nccl, "ncclGather", gather, own.gather);
  wrap(nccl, "ncclScatter", scatter, own.scatter);
  wrap(nccl, "ncclCommRegister", comm_register, own.calls.comm_register);
  wrap(nccl, "ncclCommDeregister", comm_deregister, own.calls.comm_deregister);
  wrap(nccl, "ncclCommWindowRegister", comm_window_register, own.calls.comm_window_register);
  wrap(nccl, "ncclCommWindowDeregister", comm_window_deregister, own.calls.comm_window_deregister);
  wrap(nccl, "ncclMemFree", memory_free, own.calls.memory_free);
}

}  // namespace

/// As the program finds it; NCCL's own calls go to the simulated runtime.
// NOLINTNEXTLINE(readability-identifier-naming): the name is CUDA's.
extern "C" CudaResult cudaFree(void* buffer) {
  if (is_still_registered(buffer, "cudaFree")) return CudaResult::invalid_value;
  static auto* const next = reinterpret_cast<CudaResult (*)(void*)>(::dlsym(RTLD_NEXT, "cudaFree"));
  return next(buffer);
}
