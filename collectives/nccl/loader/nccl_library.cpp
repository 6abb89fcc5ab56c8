#include "collectives/nccl/loader/nccl_library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "base/shared_library.hpp"
#include "collectives/nccl/loader/cuda_obstacle.hpp"
#include "collectives/nccl/loader/library_search.hpp"

namespace collbench::collectives {
namespace {

constexpr int kOldest = 21800;  // Debian 12's own is 2.16; 2.18 has all that the table needs

template <typename Function>
void need(const SharedLibrary& library, const NcclLibrary& nccl, Function*& function, const char* name) {
  library.find(function, name);
  if (function != nullptr) return;
  throw Error(ExitStatus::not_here, "NCCL",
              fmt::format("{} ({}) lacks {}", library.path(), nccl_version_text(nccl.version), name),
              "name another libnccl, of 2.18 or newer, in COLLBENCH_NCCL");
}

NcclLibrary table_of(const SharedLibrary& library) {
  NcclLibrary nccl;
  nccl.path = library.path();
  NcclResult (*get_version)(int*) = nullptr;
  need(library, nccl, get_version, "ncclGetVersion");
  get_version(&nccl.version);
  if (nccl.version < kOldest) {
    throw Error(
        ExitStatus::not_here, "NCCL",
        fmt::format("{} is version {}; 2.18 or newer is needed", nccl.path, nccl_version_text(nccl.version)),
        "name a newer one in COLLBENCH_NCCL");
  }
  need(library, nccl, nccl.get_unique_id, "ncclGetUniqueId");
  need(library, nccl, nccl.comm_init_rank_config, "ncclCommInitRankConfig");
  need(library, nccl, nccl.comm_get_async_error, "ncclCommGetAsyncError");
  need(library, nccl, nccl.comm_finalize, "ncclCommFinalize");
  need(library, nccl, nccl.comm_destroy, "ncclCommDestroy");
  need(library, nccl, nccl.comm_abort, "ncclCommAbort");
  need(library, nccl, nccl.get_error_string, "ncclGetErrorString");
  need(library, nccl, nccl.get_last_error, "ncclGetLastError");
  need(library, nccl, nccl.group_start, "ncclGroupStart");
  need(library, nccl, nccl.group_end, "ncclGroupEnd");
  need(library, nccl, nccl.all_reduce, "ncclAllReduce");
  need(library, nccl, nccl.all_gather, "ncclAllGather");
  need(library, nccl, nccl.reduce_scatter, "ncclReduceScatter");
  need(library, nccl, nccl.broadcast, "ncclBroadcast");
  need(library, nccl, nccl.reduce, "ncclReduce");
  need(library, nccl, nccl.send, "ncclSend");
  need(library, nccl, nccl.recv, "ncclRecv");
  library.find(nccl.all_to_all, "ncclAlltoAll");
  library.find(nccl.gather, "ncclGather");
  library.find(nccl.scatter, "ncclScatter");
  library.find(nccl.all_reduce_config, "ncclAllReduceConfig");
  library.find(nccl.all_gather_config, "ncclAllGatherConfig");
  library.find(nccl.reduce_scatter_config, "ncclReduceScatterConfig");
  library.find(nccl.memory_allocate, "ncclMemAlloc");
  library.find(nccl.memory_free, "ncclMemFree");
  library.find(nccl.comm_register, "ncclCommRegister");
  library.find(nccl.comm_deregister, "ncclCommDeregister");
  library.find(nccl.comm_window_register, "ncclCommWindowRegister");
  library.find(nccl.comm_window_deregister, "ncclCommWindowDeregister");
  return nccl;
}

/// Of nothing, which NCCL passes on to its own CUDA runtime (src/allocator.cc, 2.27.7 to 2.30.7; 2.28.9 says
/// so where there is no driver). Before 2.19 that is left to the trial communicator, and so is what else
/// fails.
void require_gpu(const NcclLibrary& nccl) {
  void* memory = nullptr;
  if (nccl.memory_allocate == nullptr || nccl.memory_allocate(&memory, 0) == NcclResult::success) return;
  const char* const words = nccl.get_last_error(nullptr);
  const auto obstacle = cuda_obstacle_in(words == nullptr ? "" : words, CudaUser::nccl, "NCCL");
  if (!obstacle) return;
  throw Error(ExitStatus::not_here, obstacle->where(),
              fmt::format("{} ({}): {}", nccl.path, nccl_version_text(nccl.version), obstacle->what()),
              obstacle->next_step());
}

NcclLibrary first_that(const std::function<void(const NcclLibrary&)>& suits) {
  std::vector<std::string> left;
  std::optional<std::string> next_step;  // of the first one that is there
  for (const std::string& candidate : library_candidates(wanted_nccl(), package_folders(python_prefixes()))) {
    try {
      NcclLibrary nccl = table_of(SharedLibrary(candidate));
      suits(nccl);
      return nccl;
    } catch (const Error& error) {
      left.emplace_back(error.what());
      next_step = next_step.value_or(error.next_step());
    } catch (const std::runtime_error& error) {
      left.emplace_back(error.what());
    }
  }
  throw Error(
      ExitStatus::not_here, "NCCL", fmt::format("{}", fmt::join(left, ", and ")),
      next_step.value_or(
          "install libnccl2 or Python's nvidia-nccl-cu12 or -cu13, or name the file in COLLBENCH_NCCL"));
}

}  // namespace

NcclLibrary NcclLibrary::load() {
  return first_that([](const NcclLibrary&) {});
}

NcclLibrary NcclLibrary::load_for_gpu(const std::function<void(int version)>& before_first_call) {
  return first_that([&](const NcclLibrary& nccl) {
    before_first_call(nccl.version);
    require_gpu(nccl);
  });
}

Error NcclLibrary::error(NcclResult result, const std::string& call, ExitStatus status) const {
  // ncclGetLastError tells more ("Duplicate GPU detected : …"), of whatever went wrong last in this process.
  const char* const last = get_last_error(nullptr);
  const std::vector<std::string> warned = warnings ? warnings() : std::vector<std::string>();
  std::string more;
  for (const std::string& warning : warned) more += fmt::format("; NCCL WARN {}", warning);
  // It is the last warning, unless a log of the user's has that.
  if (warned.empty() && last != nullptr && *last != '\0') more = fmt::format(": {}", last);
  if (result == NcclResult::unhandled_cuda_error) {
    if (auto obstacle = cuda_obstacle_in(more, CudaUser::nccl, call)) return *std::move(obstacle);
  }
  std::string what = fmt::format("{} failed: {}{}", call, get_error_string(result), more);
  for (char& c : what) {
    if (c == '\n') c = ' ';
  }
  return {status, "NCCL", what,
          warned.empty() ? "NCCL_DEBUG=WARN shows NCCL's own messages"
                         : "NCCL_DEBUG=INFO shows what NCCL did before"};
}

NcclReduction nccl_reduction(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return NcclReduction::sum;
    case Reduction::prod:
      return NcclReduction::prod;
    case Reduction::min:
      return NcclReduction::min;
    case Reduction::max:
      return NcclReduction::max;
    case Reduction::avg:
      return NcclReduction::avg;
  }
  throw Error(ExitStatus::not_here, "NCCL", "has no such reduction", "choose another -o");
}

unsigned tolerance_ulp(DataType type, Reduction reduction) {
  return reduction == Reduction::avg && traits(type).kind == NumberKind::floating ? 2 : 0;
}

}  // namespace collbench::collectives
