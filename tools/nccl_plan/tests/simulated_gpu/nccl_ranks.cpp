// Ranks of a real libnccl over the simulated GPU host, without MPI: a process for each, forked from this one
// after the library was loaded, so that they share its pages.
//
// usage: nccl_ranks SIMULATED_GPU_LIBRARY LIBNCCL MACHINE[,MACHINE...] HOSTS RANKS_PER_HOST [BYTES...]
//        nccl_ranks SIMULATED_GPU_LIBRARY LIBNCCL MACHINE[,MACHINE...] HOSTS RANKS_PER_HOST two-communicators
//
// Host i simulates the i-th MACHINE (an NCCL topology XML), those after the last the last. Each rank makes
// one communicator, then calls AllReduce, AllGather, ReduceScatter, Broadcast and Reduce with each size. What
// NCCL says of it (NCCL_DEBUG and what goes with it) is the result; rank 0 alone says it. No data is moved.
// With two-communicators each makes another one, uses both at once, and aborts them, the first while a graph
// holds a call on it.
// Exit status: 0 when every rank succeeded, 1 otherwise, with a line for each that did not; 2 and 5 as the
// program's.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/shared_library.hpp"

using namespace collbench;

namespace {

struct UniqueId {
  std::array<char, 128> bytes;
};

/// What is called of CUDA and NCCL. The types are the same in all versions.
struct Libraries {
  int (*set_device)(int) = nullptr;
  int (*allocate)(void**, std::size_t) = nullptr;
  int (*create_stream)(void**, unsigned) = nullptr;
  int (*synchronize)(void*) = nullptr;
  int (*begin_capture)(void*, int) = nullptr;
  int (*end_capture)(void*, void**) = nullptr;
  int (*instantiate)(void**, void*, unsigned long long) = nullptr;
  int (*destroy_graph)(void*) = nullptr;
  int (*destroy_executable)(void*) = nullptr;
  int (*get_unique_id)(UniqueId*) = nullptr;
  int (*init_rank)(void**, int, UniqueId, int) = nullptr;
  int (*destroy)(void*) = nullptr;
  int (*abort)(void*) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  const char* (*last_error)(void*) = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int, int, void*, void*) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int, void*, void*) = nullptr;
  int (*reduce_scatter)(const void*, void*, std::size_t, int, int, void*, void*) = nullptr;
  int (*broadcast)(const void*, void*, std::size_t, int, int, void*, void*) = nullptr;
  int (*reduce)(const void*, void*, std::size_t, int, int, int, void*, void*) = nullptr;
};

Libraries loaded(const std::string& simulated_gpu, const std::string& nccl_name) {
  const SharedLibrary simulated(simulated_gpu);
  void* (*load_nccl)(const char*, char*, int) = nullptr;
  simulated.find(load_nccl, "collbench_simulated_gpu_load_nccl");
  if (load_nccl == nullptr) throw Error(ExitStatus::not_here, simulated_gpu, "is another library", "rebuild");
  std::array<char, 1024> reason{};
  if (load_nccl(nccl_name.c_str(), reason.data(), static_cast<int>(reason.size())) == nullptr) {
    throw Error(ExitStatus::not_here, nccl_name, reason.data(), "");
  }
  const SharedLibrary nccl(nccl_name);
  Libraries all;
  simulated.find(all.set_device, "cudaSetDevice");
  simulated.find(all.allocate, "cudaMalloc");
  simulated.find(all.create_stream, "cudaStreamCreateWithFlags");
  simulated.find(all.synchronize, "cudaStreamSynchronize");
  simulated.find(all.begin_capture, "cudaStreamBeginCapture");
  simulated.find(all.end_capture, "cudaStreamEndCapture");
  simulated.find(all.instantiate, "cudaGraphInstantiate");
  simulated.find(all.destroy_graph, "cudaGraphDestroy");
  simulated.find(all.destroy_executable, "cudaGraphExecDestroy");
  nccl.find(all.get_unique_id, "ncclGetUniqueId");
  nccl.find(all.init_rank, "ncclCommInitRank");
  nccl.find(all.destroy, "ncclCommDestroy");
  nccl.find(all.abort, "ncclCommAbort");
  nccl.find(all.group_start, "ncclGroupStart");
  nccl.find(all.group_end, "ncclGroupEnd");
  nccl.find(all.error_string, "ncclGetErrorString");
  nccl.find(all.last_error, "ncclGetLastError");
  nccl.find(all.all_reduce, "ncclAllReduce");
  nccl.find(all.all_gather, "ncclAllGather");
  nccl.find(all.reduce_scatter, "ncclReduceScatter");
  nccl.find(all.broadcast, "ncclBroadcast");
  nccl.find(all.reduce, "ncclReduce");
  return all;
}

struct Plan {
  int hosts = 1;
  int ranks_per_host = 1;
  std::vector<std::size_t> sizes;
  bool two_communicators = false;

  [[nodiscard]] int ranks() const { return hosts * ranks_per_host; }
};

// Of ncclDataType_t, ncclRedOp_t, cudaStreamCaptureMode.
constexpr int kInt8 = 0;
constexpr int kFloat = 7;
constexpr int kSum = 0;
constexpr int kRelaxed = 2;

/// What the ranks share: rank 0 writes, the others wait.
struct Shared {
  std::atomic<int> ready{0};  ///< communicators that have an id
  std::array<UniqueId, 2> ids{};
};

class Rank {
 public:
  Rank(const Libraries& libraries, int rank) : call_(libraries), rank_(rank) {}

  /// False after a line on stdout.
  bool run(const Plan& plan, Shared& shared) {
    if (!good(call_.set_device(rank_ % plan.ranks_per_host), "cudaSetDevice")) return false;
    call_.create_stream(&stream_, 1);
    void* const communicator = made(plan, shared, 0);
    if (communicator == nullptr) return false;
    if (plan.two_communicators) return two_communicators(plan, shared, communicator);
    const bool all_good = operations(plan, communicator);
    return good(call_.destroy(communicator), "ncclCommDestroy") && all_good;
  }

 private:
  /// The communicator with this number; null after a line on stdout.
  void* made(const Plan& plan, Shared& shared, std::size_t number) {
    if (rank_ == 0) {
      if (!good(call_.get_unique_id(&shared.ids[number]), "ncclGetUniqueId")) ::_exit(1);
      ++shared.ready;
    }
    while (shared.ready <= static_cast<int>(number)) ::usleep(1000);
    void* communicator = nullptr;
    const int result = call_.init_rank(&communicator, plan.ranks(), shared.ids[number], rank_);
    return good(result, "ncclCommInitRank") ? communicator : nullptr;
  }

  bool all_reduce(void* communicator) {
    constexpr std::size_t kElements = 256;
    if (data_ == nullptr) call_.allocate(&data_, kElements * sizeof(float));
    return good(call_.all_reduce(data_, data_, kElements, kFloat, kSum, communicator, stream_),
                "ncclAllReduce");
  }

  bool two_communicators(const Plan& plan, Shared& shared, void* first) {
    void* const second = made(plan, shared, 1);
    if (second == nullptr) return false;
    call_.group_start();
    const bool issued = all_reduce(first) && all_reduce(second);
    if (!good(call_.group_end(), "ncclGroupEnd") || !issued) return false;
    call_.synchronize(stream_);
    // By all ranks: 2.23.4 waits for the other ranks of the host (src/proxy.cc, ncclProxyService). After that
    // the other communicator still works.
    if (!good(call_.abort(second), "ncclCommAbort")) return false;
    if (!all_reduce(first)) return false;
    call_.synchronize(stream_);
    return abort_with_graph(first);
  }

  /// Says whether ncclCommAbort had returned half a second later, when the graph is destroyed.
  bool abort_with_graph(void* communicator) {
    void* graph = nullptr;
    void* executable = nullptr;
    call_.begin_capture(stream_, kRelaxed);
    const bool captured = all_reduce(communicator);
    call_.end_capture(stream_, &graph);
    if (!captured || !good(call_.instantiate(&executable, graph, 0), "cudaGraphInstantiate")) return false;
    std::atomic<bool> returned{false};
    int result = 0;
    std::thread aborting([&] {
      result = call_.abort(communicator);
      returned = true;
    });
    for (int i = 0; i < 50 && !returned; ++i) ::usleep(10'000);
    if (rank_ == 0) std::printf("abort %s its graph\n", returned ? "left" : "waits for");
    call_.destroy_executable(executable);
    call_.destroy_graph(graph);
    aborting.join();
    return good(result, "ncclCommAbort");
  }

  bool operations(const Plan& plan, void* communicator) {
    const auto ranks = static_cast<std::size_t>(plan.ranks());
    bool all_good = true;
    for (const std::size_t bytes : plan.sizes) {
      void* send = nullptr;
      void* receive = nullptr;
      call_.allocate(&send, bytes);
      call_.allocate(&receive, bytes);
      const std::array results{
          call_.all_reduce(send, receive, bytes / 4, kFloat, kSum, communicator, stream_),
          call_.all_gather(send, receive, bytes / ranks, kInt8, communicator, stream_),
          call_.reduce_scatter(send, receive, bytes / ranks / 4, kFloat, kSum, communicator, stream_),
          call_.broadcast(send, receive, bytes / 4, kFloat, 0, communicator, stream_),
          call_.reduce(send, receive, bytes / 4, kFloat, kSum, 0, communicator, stream_),
      };
      for (const int result : results) all_good = good(result, "a collective") && all_good;
    }
    call_.synchronize(stream_);
    return all_good;
  }

  bool good(int result, const char* call) const {
    if (result == 0) return true;
    const char* const more = call_.last_error(nullptr);
    std::printf("rank %d: %s: %s: %s\n", rank_, call, call_.error_string(result),
                more == nullptr ? "" : more);
    return false;
  }

  const Libraries& call_;
  int rank_;
  void* stream_ = nullptr;
  void* data_ = nullptr;
};

int run_rank(const Libraries& libraries, const Plan& plan, Shared& shared, int rank) {
  if (plan.hosts > 1) {
    ::setenv("COLLBENCH_SIMULATED_HOST", std::to_string(rank / plan.ranks_per_host).c_str(), 1);
  }
  if (rank != 0) ::unsetenv("NCCL_DEBUG");
  const bool good = Rank(libraries, rank).run(plan, shared);
  std::fflush(nullptr);
  return good ? 0 : 1;
}

/// The number of ranks that failed.
int run_ranks(const Libraries& libraries, const Plan& plan) {
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const shared = new (memory) Shared;
  std::fflush(nullptr);
  for (int rank = 0; rank < plan.ranks(); ++rank) {
    // _exit: no exit handler of NCCL's or of this program's is for a child.
    if (::fork() == 0) ::_exit(run_rank(libraries, plan, *shared, rank));
  }
  int failed = 0;
  int status = 0;
  while (::wait(&status) > 0) failed += status == 0 ? 0 : 1;
  return failed;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 5) {
    throw usage_error("nccl_ranks", "too few arguments", "see the head of its source");
  }
  Plan plan{.hosts = std::stoi(arguments[3]), .ranks_per_host = std::stoi(arguments[4]), .sizes = {}};
  plan.two_communicators = arguments.size() == 6 && arguments[5] == "two-communicators";
  for (std::size_t i = 5; i < arguments.size() && !plan.two_communicators; ++i) {
    plan.sizes.push_back(std::stoull(arguments[i]));
  }
  ::setenv("COLLBENCH_SIMULATED_GPU", arguments[2].c_str(), 1);
  const int failed = run_ranks(loaded(arguments[0], arguments[1]), plan);
  if (failed > 0) std::printf("%d ranks failed\n", failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run({arguments + 1, arguments + count});
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", describe(failure).c_str());
    return static_cast<int>(exit_status(failure));
  }
}
