#include "collectives/nccl/gpu_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "collectives/nccl/loader/cuda_library.hpp"

namespace collbench::collectives {
namespace {

/// What tells GPUs of one node apart: of a MIG device only its UUID is its own.
const std::string& identity_of(const VisibleGpu& gpu) { return gpu.uuid.empty() ? gpu.address : gpu.uuid; }

Error none_left(const Identity& identity, int other_rank, const std::vector<VisibleGpu>& visible,
                bool inside_slurm) {
  const std::string seen =
      visible.size() == 1
          ? fmt::format("GPU {} is the only one that each of them sees", visible.front().address)
          : fmt::format("rank {} sees {} GPUs, and other ranks use all of them", identity.rank,
                        visible.size());
  return {ExitStatus::not_here, identity.host,
          fmt::format("ranks {} and {} would share GPU {}: {}", std::min(other_rank, identity.rank),
                      std::max(other_rank, identity.rank), visible.front().address, seen),
          inside_slurm
              ? "ask for GPUs per node: --gpus-per-node=N --gpu-bind=none, with srun, or with salloc or "
                "sbatch and then mpirun (--share-gpu checks correctness, not speed)"
              : "start as many ranks there as it has GPUs, by -g, --gpus-per-process or the launcher "
                "(--share-gpu "
                "checks correctness, not speed)"};
}

}  // namespace

GpuChoice choose_gpus(const Identities& identities, const std::vector<std::vector<VisibleGpu>>& visible,
                      bool share, bool inside_slurm) {
  GpuChoice choice{.device = std::vector<int>(visible.size(), 0)};
  // Who sees fewer chooses first, so that nobody takes the only GPU that another can have.
  std::vector<std::size_t> order(visible.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return std::pair(visible[a].size(), a) < std::pair(visible[b].size(), b);
  });
  std::map<std::pair<int, std::string>, int> taken;  // (node, GPU) → rank
  for (const std::size_t rank : order) {
    const Identity& identity = identities[rank];
    const auto& gpus = visible[rank];
    const auto user_of = [&](const VisibleGpu& gpu) { return taken.find({identity.node, identity_of(gpu)}); };
    const auto free =
        std::ranges::find_if(gpus, [&](const VisibleGpu& gpu) { return user_of(gpu) == taken.end(); });
    std::size_t device = static_cast<std::size_t>(free - gpus.begin());
    if (free == gpus.end()) {
      if (!share) throw none_left(identity, user_of(gpus.front())->second, gpus, inside_slurm);
      choice.shared = true;
      device = static_cast<std::size_t>(identity.local_rank) % gpus.size();
    }
    taken.try_emplace({identity.node, identity_of(gpus[device])}, identity.rank);
    choice.device[rank] = static_cast<int>(device);
  }
  return choice;
}

namespace {

/// As nvidia-smi writes it; empty when CUDA gave zeros.
std::string uuid_text(std::span<const unsigned char, 16> bytes) {
  if (std::ranges::all_of(bytes, [](unsigned char byte) { return byte == 0; })) return {};
  std::string text = "GPU";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace

std::vector<CudaGpu> cuda_gpus(const CudaLibrary& cuda, std::string_view instead) {
  std::vector<CudaGpu> gpus;
  const int count = cuda.device_count(instead);
  const auto properties = std::make_unique<CudaDeviceProperties>();
  for (int device = 0; device < count; ++device) {
    std::array<char, 32> address{};
    cuda.check(cuda.device_get_pci_bus_id(address.data(), static_cast<int>(address.size()), device),
               "cudaDeviceGetPCIBusId");
    cuda.check(cuda.get_device_properties(properties.get(), device), "cudaGetDeviceProperties");
    auto* const end = std::ranges::find(properties->name, '\0');
    gpus.push_back({.id = {.address = address.data(), .uuid = uuid_text(properties->uuid)},
                    .model = std::string(properties->name.begin(), end)});
  }
  return gpus;
}

}  // namespace collbench::collectives
