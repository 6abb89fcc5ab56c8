#include "collectives/nccl/cuda_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>

namespace collbench::collectives {
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
