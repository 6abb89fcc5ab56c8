#include "tools/nccl_plan/simulated_run/simulated_rank.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>

#include "base/files.hpp"
#include "base/record/json_fields.hpp"
#include "base/shared_library.hpp"
#include "collectives/nccl/loader/library_search.hpp"
#include "collectives/nccl/nccl_observer.hpp"

namespace collbench::collectives {
namespace {

constexpr const char* kSimulatedLibrary = "libcollbench_simulated_gpu.so";

/// void* collbench_simulated_gpu_load_nccl(name, reason, reason_bytes):
/// tools/nccl_plan/simulated_gpu/simulated_nccl.cpp.
using LoadNccl = void*(const char*, char*, int);

void set_variable(const std::string& name, const std::string& value) {
  ::setenv(name.c_str(), value.c_str(), 1);
}

/// Where a process's stdout is the user's report: NCCL before 2.22.3 prints its version there.
void write_nothing_on_stdout() {
  const FileDescriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  ::dup2(nowhere.get(), STDOUT_FILENO);
}

std::string path_of(int file) { return fmt::format("/proc/self/fd/{}", file); }

std::size_t length_of(int file) {
  struct stat facts{};
  return ::fstat(file, &facts) == 0 ? static_cast<std::size_t>(facts.st_size) : 0;
}

/// What the simulated CUDA and NCCL read of the environment.
void set_environment(const SimulatedJob& job, const SimulatedRank& own, const std::vector<int>& node_files) {
  for (const char* const name : variables_of_real_hosts()) ::unsetenv(name);
  ::unsetenv("COLLBENCH_SIMULATED_HOSTS_PER_DOMAIN");
  std::vector<std::string> machines;
  std::ranges::transform(node_files, std::back_inserter(machines), path_of);
  set_variable("COLLBENCH_SIMULATED_GPU", fmt::format("{}", fmt::join(machines, ",")));
  set_variable("COLLBENCH_SIMULATED_HOST", std::to_string(own.node));
  set_variable("NCCL_DEBUG", "INFO");
  set_variable("NCCL_DEBUG_SUBSYS", "INIT,GRAPH,TUNING,NET");
  set_variable("NCCL_DEBUG_FILE", path_of(own.log_file));
  set_simulated_network();
  for (const auto& [name, value] : job.settings) set_variable(name, value);
}

/// NCCL's count for a call, in float elements; 0 where the size is too small to be divided.
std::size_t element_count(const SimulatedCall& call, int ranks) {
  const std::uint64_t elements = call.size_bytes / sizeof(float);
  const bool is_total = operation(call.operation).size_meaning == SizeMeaning::total;
  return elements / (is_total ? static_cast<std::uint64_t>(ranks) : 1);
}

/// Only the operations of nccl_chooses_for.
NcclResult issue(const NcclLibrary& nccl, OperationId operation, void* data, std::size_t count,
                 NcclHandle communicator, CudaStreamHandle stream) {
  constexpr NcclType kType = NcclType::float32;
  constexpr NcclReduction kSum = NcclReduction::sum;
  if (operation == OperationId::all_reduce)
    return nccl.all_reduce(data, data, count, kType, kSum, communicator, stream);
  if (operation == OperationId::all_gather)
    return nccl.all_gather(data, data, count, kType, communicator, stream);
  if (operation == OperationId::reduce_scatter)
    return nccl.reduce_scatter(data, data, count, kType, kSum, communicator, stream);
  if (operation == OperationId::broadcast)
    return nccl.broadcast(data, data, count, kType, 0, communicator, stream);
  return nccl.reduce(data, data, count, kType, kSum, 0, communicator, stream);
}

class RankRun {
 public:
  RankRun(const SimulatedJob& job, const SimulatedRank& own, SimulatedMeeting& meeting)
      : job_(job),
        own_(own),
        meeting_(meeting),
        ranks_(static_cast<int>(job.node_xml.size()) * job.ranks_per_node),
        cuda_(CudaLibrary::load()),
        nccl_(NcclLibrary::load()) {}

  void run() {
    if (job_.nodes_per_domain > 1 && nccl_.version >= kMinMnnvlVersion)
      set_variable("COLLBENCH_SIMULATED_HOSTS_PER_DOMAIN", std::to_string(job_.nodes_per_domain));
    cuda_.check(cuda_.set_device(own_.rank % job_.ranks_per_node), "cudaSetDevice");
    std::optional<NcclObserver> observer;
    if (own_.rank == 0) observer.emplace(nccl_.version, NcclConfigValues());
    agree_on_id();
    NcclHandle communicator = nullptr;
    NcclConfig config;
    check(nccl_.comm_init_rank_config(&communicator, ranks_, meeting_.id, own_.rank, &config),
          "ncclCommInitRankConfig");
    ++meeting_.connected;
    CudaStreamHandle stream = nullptr;
    cuda_.check(cuda_.stream_create(&stream, kCudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    void* data = nullptr;
    cuda_.check(cuda_.allocate(&data, largest_size()), "cudaMalloc");
    // A Broadcast runs over the rings alone: their connections are made first.
    check(issue(nccl_, OperationId::broadcast, data, 1, communicator, stream), "ncclBroadcast");
    for (const SimulatedCall& call : job_.calls) {
      const std::size_t count = element_count(call, ranks_);
      std::optional<NcclSelection> selection;
      if (count > 0) {
        const auto work = [&] {
          check(issue(nccl_, call.operation, data, count, communicator, stream), "the call");
        };
        if (observer) {
          selection = observer->watch(work);
        } else {
          work();
        }
      }
      note(selection);
    }
  }

  /// The communicator is left to the process's end: what it would wait for is a network.
  [[nodiscard]] Json report() const {
    return {{"library", nccl_.path}, {"version", nccl_.version}, {"calls", calls_}};
  }

 private:
  void agree_on_id() {
    if (own_.rank == 0) {
      check(nccl_.get_unique_id(&meeting_.id), "ncclGetUniqueId");
      meeting_.has_id = true;
    }
    while (!meeting_.has_id) std::this_thread::yield();
  }

  void check(NcclResult result, const char* call) const {
    if (result != NcclResult::success) throw nccl_.error(result, call, ExitStatus::usage);
  }

  [[nodiscard]] std::size_t largest_size() const {
    std::size_t largest = sizeof(float);
    for (const SimulatedCall& call : job_.calls) largest = std::max<std::size_t>(largest, call.size_bytes);
    return largest;
  }

  void note(const std::optional<NcclSelection>& selection) {
    if (own_.rank != 0) return;
    calls_.push_back({{"nccl", field_to_json(selection)}, {"log_bytes", length_of(own_.log_file)}});
    ++meeting_.calls;
  }

  const SimulatedJob& job_;
  const SimulatedRank& own_;
  SimulatedMeeting& meeting_;
  int ranks_;
  CudaLibrary cuda_;
  NcclLibrary nccl_;
  Json calls_ = Json::array();
};

}  // namespace

bool nccl_chooses_for(OperationId operation) {
  constexpr std::array<OperationId, 5> kChosen{OperationId::all_reduce, OperationId::all_gather,
                                               OperationId::reduce_scatter, OperationId::broadcast,
                                               OperationId::reduce};
  return std::ranges::find(kChosen, operation) != kChosen.end();
}

std::span<const char* const> variables_of_real_hosts() {
  static constexpr std::array<const char*, 17> kVariables{
      "CUDA_VISIBLE_DEVICES", "NCCL_COMM_ID",      "NCCL_CONF_FILE",    "NCCL_DEBUG",
      "NCCL_DEBUG_FILE",      "NCCL_DEBUG_SUBSYS", "NCCL_GRAPH_FILE",   "NCCL_GRAPH_DUMP_FILE",
      "NCCL_HOSTID",          "NCCL_NET",          "NCCL_NET_PLUGIN",   "NCCL_SOCKET_IFNAME",
      "NCCL_TOPO_DUMP_FILE",  "NCCL_TOPO_FILE",    "NCCL_TUNER_PLUGIN", "NCCL_PROFILER_PLUGIN",
      "COLLBENCH_CUDART"};
  return kVariables;
}

void set_simulated_network() {
  set_variable("NCCL_SOCKET_IFNAME", "lo");
  set_variable("NCCL_IB_DISABLE", "1");  // the NICs are the simulated ones
  set_variable("NCCL_NET_PLUGIN_REF_COUNT",
               "1");  // else 2.27 to 2.29 may forget the plugin (NVIDIA/nccl 1978)
}

std::string load_simulated_libraries(const std::string& library) {
  std::string reason;
  const auto simulated = own_library(kSimulatedLibrary, "COLLBENCH_SIMULATED_CUDA", reason);
  LoadNccl* load = nullptr;
  if (simulated) simulated->find(load, "collbench_simulated_gpu_load_nccl");
  if (load == nullptr) {
    throw Error(ExitStatus::not_here, "simulated CUDA",
                simulated ? simulated->path() + " belongs to another version of collbench" : reason,
                fmt::format("install the package collbench-nccl, or build collbench whole: it brings {}, "
                            "which COLLBENCH_SIMULATED_CUDA may name",
                            kSimulatedLibrary));
  }
  const auto candidates = library.empty()
                              ? library_candidates(wanted_nccl(), package_folders(python_prefixes()))
                              : std::vector<std::string>{library};
  std::string first_reason;
  for (const std::string& candidate : candidates) {
    std::array<char, 1024> words{};
    if (load(candidate.c_str(), words.data(), static_cast<int>(words.size())) != nullptr) {
      set_variable("COLLBENCH_NCCL", candidate);
      static_cast<void>(NcclLibrary::load());  // one that is too old is refused here, once for all ranks
      return simulated->path();
    }
    if (!first_reason.empty()) continue;
    first_reason = words.data();
    if (first_reason.find(candidate) == std::string::npos) first_reason.insert(0, candidate + " ");
  }
  throw Error(ExitStatus::not_here, "libnccl", first_reason,
              "name another with --library; pip's nvidia-nccl-cu12 and -cu13 have one");
}

int run_simulated_rank(const SimulatedJob& job, const std::string& simulated_cuda, const SimulatedRank& own,
                       const std::vector<int>& node_files, SimulatedMeeting& meeting) {
  const std::string report_path = "the report of a simulated rank";
  try {
    write_nothing_on_stdout();
    set_environment(job, own, node_files);
    set_variable("COLLBENCH_CUDART", simulated_cuda);
    RankRun rank(job, own, meeting);
    rank.run();
    write_all(own.report_file, json_line(rank.report()), report_path);
    return 0;
  } catch (const std::exception& failure) {
    int none = -1;
    meeting.first_failed.compare_exchange_strong(none, own.rank);
    try {
      write_all(own.report_file, json_line({{"error", failure.what()}}), report_path);
    } catch (const std::exception&) {
      return 1;  // there is nobody left to tell
    }
    return 1;
  }
}

}  // namespace collbench::collectives
