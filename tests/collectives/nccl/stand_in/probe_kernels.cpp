// The part of the kernel library that a GPU's probe calls, without a GPU.
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/record/data_type.hpp"
#include "collectives/data/element_types.hpp"
#include "collectives/data/normal_formula.hpp"
#include "collectives/nccl/loader/cuda_library.hpp"
#include "collectives/nccl/loader/kernel_interface.hpp"

using namespace collbench;
using namespace collbench::collectives;

extern "C" {
bool collbench_stand_in_is_device_memory(const void* address, std::size_t bytes);
void collbench_stand_in_pass_time(CudaStreamHandle stream, const char* what, double seconds);
// NOLINTNEXTLINE(readability-identifier-naming): the name is the library's.
CudaResult cudaLaunchHostFunc(CudaStreamHandle stream, void (*function)(void*), void* data);
}

namespace {

constexpr int kInvalid = 1;
constexpr double kTriadBytesPerSecond = 800e6;

int put_task(CudaStreamObject* stream, std::function<void()> task) {
  return static_cast<int>(cudaLaunchHostFunc(
      stream,
      [](void* data) {
        const std::unique_ptr<std::function<void()>> own(static_cast<std::function<void()>*>(data));
        (*own)();
      },
      new std::function<void()>(std::move(task))));
}

}  // namespace

extern "C" {

int collbench_kernel_fill_normal(void* to, std::uint64_t count, std::uint32_t type, std::uint64_t seed,
                                 CudaStreamObject* stream) {
  const auto of = static_cast<DataType>(type);
  if (traits(of).kind != NumberKind::floating) return kInvalid;
  if (!collbench_stand_in_is_device_memory(to, count * traits(of).bytes)) return kInvalid;
  return put_task(stream, [=] {
    collbench_stand_in_pass_time(stream, "fill", 0);
    // A row of numbers over and over: the products are not computed.
    constexpr std::uint64_t kRow = 4096;
    with_element_type(of, [&]<typename Element>(std::type_identity<Element>) {
      for (std::uint64_t i = 0; i < count; ++i)
        static_cast<Element*>(to)[i] =
            i < kRow ? static_cast<Element>(normal_value(i, seed)) : static_cast<Element*>(to)[i % kRow];
    });
  });
}

int collbench_kernel_triad(double* a, const double* b, const double* c, double factor, std::uint64_t count,
                           CudaStreamObject* stream) {
  for (const double* const array : {static_cast<const double*>(a), b, c}) {
    if (!collbench_stand_in_is_device_memory(array, count * sizeof(double))) return kInvalid;
  }
  return put_task(stream, [=] {
    for (std::uint64_t i = 0; i < count; i += 64) a[i] = b[i] + factor * c[i];
    collbench_stand_in_pass_time(stream, "triad",
                                 static_cast<double>(3 * sizeof(double) * count) / kTriadBytesPerSecond);
  });
}

}  // extern "C"
