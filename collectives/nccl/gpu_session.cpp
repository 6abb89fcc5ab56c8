#include "collectives/nccl/gpu_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "collectives/data/element_formula.hpp"
#include "collectives/nccl/gpu_choice.hpp"
#include "launch/agreement.hpp"

namespace collbench::collectives {
namespace {

std::vector<VisibleGpu> visible_here(const CudaLibrary& cuda) {
  std::vector<VisibleGpu> gpus;
  for (CudaGpu& gpu : cuda_gpus(cuda, "measure host memory with --backend mpi"))
    gpus.push_back(std::move(gpu.id));
  return gpus;
}

/// A VisibleGpu as it travels; both texts end with a zero.
struct GpuMessage {
  std::array<char, 32> address{};
  std::array<char, 48> uuid{};  // "GPU-" and 36 characters
};

std::vector<std::vector<VisibleGpu>> visible_everywhere(launch::Ranks& ranks,
                                                        const std::vector<VisibleGpu>& mine) {
  std::vector<GpuMessage> messages;
  for (const VisibleGpu& gpu : mine) {
    GpuMessage& message = messages.emplace_back();
    gpu.address.copy(message.address.data(), message.address.size() - 1);
    gpu.uuid.copy(message.uuid.data(), message.uuid.size() - 1);
  }
  std::vector<std::vector<VisibleGpu>> all;
  for (const std::vector<GpuMessage>& of_rank : launch::all_gather_spans(ranks, messages)) {
    auto& gpus = all.emplace_back();
    for (const GpuMessage& gpu : of_rank) {
      gpus.push_back({.address = gpu.address.data(), .uuid = gpu.uuid.data()});
    }
  }
  return all;
}

/// NCCL of two versions in one job hangs or fails in obscure ways.
void require_same_nccl(const launch::CollectiveWait& waiter, const Identities& machines,
                       const NcclLibrary& nccl) {
  const auto all =
      waiter.ranks().all_gather(fmt::format("{} {}", nccl_version_text(nccl.version), nccl.path));
  const auto version = [&](std::size_t rank) { return all[rank].substr(0, all[rank].find(' ')); };
  launch::agreed(waiter.ranks(), waiter.host(), [&] {
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
      if (version(rank) == version(0)) continue;
      throw Error(ExitStatus::not_here, "NCCL",
                  fmt::format("rank 0 on {} has {}, rank {} on {} has {}", machines[0].host, all[0], rank,
                              machines[rank].host, all[rank]),
                  "give all ranks the same libnccl with COLLBENCH_NCCL");
    }
  });
}

/// Several processes on one GPU: to NCCL each is a host of its own, so that it does not refuse them, and what
/// would not work between such hosts is off. Source: NCCL v2.5 to 2.30, src/init.cc (the check for one GPU
/// twice compares host hashes), utils.cc (NCCL_HOSTID replaces the hash), docs env.rst. What the user has set
/// stays. `on_one_host`: then they reach each other by loopback, which between hosts they do not.
void pretend_own_host(int rank, bool on_one_host) {
  ::setenv("NCCL_HOSTID", fmt::format("collbench-rank-{}", rank).c_str(), 1);
  if (on_one_host) ::setenv("NCCL_SOCKET_IFNAME", "lo", 0);
  constexpr std::array<std::pair<const char*, const char*>, 8> kSettings{{{"NCCL_IB_DISABLE", "1"},
                                                                          {"NCCL_NET", "Socket"},
                                                                          {"NCCL_NET_PLUGIN", "none"},
                                                                          {"NCCL_MNNVL_ENABLE", "0"},
                                                                          {"NCCL_NVLS_ENABLE", "0"},
                                                                          {"NCCL_MAX_NCHANNELS", "2"},
                                                                          {"NCCL_CUMEM_HOST_ENABLE", "0"},
                                                                          {"NCCL_RAS_ENABLE", "0"}}};
  for (const auto& [name, value] : kSettings) ::setenv(name, value, 0);
}

bool are_on_one_host(const Identities& machines) {
  return std::ranges::all_of(
      machines, [&machines](const Identity& each) { return each.host == machines.front().host; });
}

int attribute_of(const CudaLibrary& cuda, CudaAttribute attribute, int device) {
  int value = 0;
  cuda.check(cuda.device_get_attribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

/// Kernels that the GPU or its driver cannot run are known before NCCL begins: one makes an element.
void try_kernels(const GpuSession& session) {
  const DeviceBuffer memory(session.cuda, kPatternCellBytes);
  const KernelElements one{.table = nullptr,
                           .index = 0,
                           .length = 1,
                           .iteration = 0,
                           .source = 0,
                           .bits = 1,
                           .type = static_cast<std::uint32_t>(DataType::uint8)};
  KernelLibrary::check_result(session.cuda, session.kernels.fill(&one, memory.data(), session.stream->get()),
                              "the kernel that makes data");
}

/// Memory for each rank, where some share a GPU.
std::uint64_t free_for_each(const GpuSession& session, const launch::CollectiveWait& waiter) {
  std::size_t free = 0;
  std::size_t total = 0;
  session.cuda.check(session.cuda.memory_info(&free, &total), "cudaMemGetInfo");
  const auto& mine = session.gpus[static_cast<std::size_t>(waiter.ranks().rank())];
  const auto users = std::ranges::count(session.gpus, mine);
  return free / static_cast<std::uint64_t>(users);
}

}  // namespace

GpuSession::GpuSession(const launch::CollectiveWait& waiter, const Identities& machines, bool share,
                       bool inside_slurm, const std::function<void(int version)>& before_nccl) {
  launch::Ranks& ranks = waiter.ranks();
  std::vector<VisibleGpu> mine;
  launch::agreed(ranks, waiter.host(), [&] {
    cuda = CudaLibrary::load();
    kernels = KernelLibrary::load(cuda.driver_version());
    mine = visible_here(cuda);
  });
  const auto visible = visible_everywhere(ranks, mine);
  GpuChoice choice;
  launch::agreed(ranks, waiter.host(), [&] { choice = choose_gpus(machines, visible, share, inside_slurm); });
  shared = choice.shared;
  for (std::size_t rank = 0; rank < visible.size(); ++rank) {
    gpus.push_back(visible[rank][static_cast<std::size_t>(choice.device[rank])]);
  }
  std::vector<double> free(1);
  std::vector<double> l2(1);
  launch::agreed(ranks, waiter.host(), [&] {
    if (shared) pretend_own_host(ranks.rank(), are_on_one_host(machines));
    const int device = choice.device[static_cast<std::size_t>(ranks.rank())];
    cuda.check(cuda.set_device(device), "cudaSetDevice");
    KernelLibrary::check_result(cuda, kernels.set_device(device), "cudaSetDevice");
    // Before NCCL, whose own CUDA runtime would make a context on the first GPU where there is none yet.
    stream = std::make_unique<CudaStream>(cuda);
    try_kernels(*this);
    nccl = NcclLibrary::load_for_gpu(before_nccl);
    compute_capability = 10 * attribute_of(cuda, CudaAttribute::compute_capability_major, device) +
                         attribute_of(cuda, CudaAttribute::compute_capability_minor, device);
    l2[0] = std::max(0, attribute_of(cuda, CudaAttribute::l2_bytes, device));
    free[0] = static_cast<double>(free_for_each(*this, waiter));
  });
  require_same_nccl(waiter, machines, nccl);
  ranks.reduce(free, launch::RankAggregate::minimum);
  free_bytes = static_cast<std::uint64_t>(free[0]);
  ranks.reduce(l2, launch::RankAggregate::maximum);
  l2_bytes = static_cast<std::uint64_t>(l2[0]);
}

}  // namespace collbench::collectives
