// The kernel library without a GPU: the functions of kernel_interface.hpp on the stand-in runtime's streams.
// Data are made and checked by DataPattern's own formulas, as in kernels.cu. COLLBENCH_STAND_IN=kernel:N:
// they return the error N, as where they hold no code for the GPU; kernel_device:N: so does the choice of the
// GPU.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/record/data_type.hpp"
#include "collectives/data/element_formula.hpp"
#include "collectives/data/element_types.hpp"
#include "collectives/nccl/loader/cuda_library.hpp"
#include "collectives/nccl/loader/kernel_interface.hpp"
#include "tests/collectives/nccl/stand_in/injected_fault.hpp"

using namespace collbench;
using namespace collbench::collectives;

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the names are the library's.
CudaResult cudaLaunchHostFunc(CudaStreamHandle stream, void (*function)(void*), void* data);
CudaResult cudaSetDevice(int device);
// NOLINTEND(readability-identifier-naming)
bool collbench_stand_in_is_device_memory(const void* address, std::size_t bytes);
bool collbench_stand_in_is_in_flight(const void* address, std::size_t bytes);
}

namespace {

constexpr int kInvalidValue = 1;

struct Work {
  KernelElements elements;
  void* memory = nullptr;
  std::uint64_t first_index = 0;
  std::uint32_t tolerance = 0;
  KernelMismatch* found = nullptr;  // null: fill
};

template <typename Element>
Element element(const KernelElements& e, std::uint64_t i) {
  Element value{};
  const std::uint64_t index = e.index + i;
  if (e.table == nullptr) return static_cast<Element>(moved_value(e.source, index, e.iteration, e.bits));
  std::memcpy(&value,
              static_cast<const std::byte*>(e.table) + pattern_column(index, e.iteration) * kPatternCellBytes,
              sizeof value);
  return value;
}

/// The bits of an element that is not negative.
template <typename Element>
std::uint64_t bits_of(const Element& value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

void do_work(void* data) {
  const std::unique_ptr<Work> work(static_cast<Work*>(data));
  const KernelElements& e = work->elements;
  with_element_type(static_cast<DataType>(e.type), [&]<typename Element>(std::type_identity<Element>) {
    auto* const memory = static_cast<Element*>(work->memory);
    for (std::uint64_t i = 0; i < e.length; ++i) {
      const auto expected = element<Element>(e, i);
      if (work->found == nullptr) {
        memory[i] = expected;
        continue;
      }
      const std::uint64_t a = bits_of(expected);
      const std::uint64_t b = bits_of(memory[i]);
      if ((a > b ? a - b : b - a) <= work->tolerance) continue;
      ++work->found->count;
      work->found->first_index =
          std::min<unsigned long long>(work->found->first_index, work->first_index + i);
    }
  });
}

int put(const Work& work, CudaStreamObject* stream) {
  if (const auto error = injected_fault("kernel")) return *error;
  const std::size_t bytes = work.elements.length * traits(static_cast<DataType>(work.elements.type)).bytes;
  const void* const table = work.elements.table;
  if (!collbench_stand_in_is_device_memory(work.memory, bytes)) return kInvalidValue;
  if (table != nullptr && !collbench_stand_in_is_device_memory(table, kPatternColumns * kPatternCellBytes)) {
    return kInvalidValue;
  }
  if (table != nullptr && collbench_stand_in_is_in_flight(table, kPatternColumns * kPatternCellBytes)) {
    std::fputs("stand-in: a kernel reads a table that a copy may still write\n", stderr);
    return kInvalidValue;
  }
  return static_cast<int>(cudaLaunchHostFunc(stream, do_work, new Work(work)));
}

}  // namespace

extern "C" {

int collbench_kernel_interface() { return kKernelInterface; }

int collbench_kernel_set_device(int device) {
  return injected_fault("kernel_device").value_or(static_cast<int>(cudaSetDevice(device)));
}

int collbench_kernel_fill(const KernelElements* elements, void* to, CudaStreamObject* stream) {
  return put({.elements = *elements, .memory = to}, stream);
}

int collbench_kernel_check(const KernelElements* elements, const void* received, std::uint64_t first_index,
                           std::uint32_t tolerance, KernelMismatch* found, CudaStreamObject* stream) {
  return put({.elements = *elements,
              .memory = const_cast<void*>(received),
              .first_index = first_index,
              .tolerance = tolerance,
              .found = found},
             stream);
}

}  // extern "C"
