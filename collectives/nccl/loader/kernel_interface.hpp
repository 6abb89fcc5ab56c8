#pragma once
#include <cstdint>

// What the kernel library offers: to fill device memory with the elements of a DataPattern, and to compare
// device memory with them; and what a GPU's probe needs beside libraries. The library is small and apart,
// because only nvcc can build it: kernels.cu, probe_kernels.cu. Every function returns a CUDA result, 0 for
// success, and only puts work on the stream.

namespace collbench::collectives {

/// Raised whenever anything below changes: a library of another number is refused.
inline constexpr int kKernelInterface = 3;

struct CudaStreamObject;

/// Elements that a formula gives (collectives/data/element_formula.hpp).
struct KernelElements {
  const void* table;        ///< device memory, kPatternColumns cells; null: moved elements
  std::uint64_t index;      ///< of the first element, in the buffer of its source
  std::uint64_t length;     ///< elements
  std::uint64_t iteration;  ///< of the data
  std::int32_t source;      ///< rank that moved elements come from
  std::uint32_t bits;       ///< moved elements are below 2 to this
  std::uint32_t type;       ///< a DataType
};

/// What a check adds to, in device memory.
struct KernelMismatch {
  unsigned long long count;        ///< elements that differ
  unsigned long long first_index;  ///< the least of them
};

/// int collbench_kernel_interface(): kKernelInterface of the library.
using KernelInterface = int();
/// int collbench_kernel_set_device(int device): before any other call.
using KernelSetDevice = int(int device);
/// int collbench_kernel_fill: writes `elements` to `to`.
using KernelFill = int(const KernelElements* elements, void* to, CudaStreamObject* stream);
/// int collbench_kernel_check: compares `received` with `elements`. Elements may be `tolerance` units in the
/// last place apart (0: the same bits; only for values that are not negative). Indices in `found` count from
/// `first_index`.
using KernelCheck = int(const KernelElements* elements, const void* received, std::uint64_t first_index,
                        std::uint32_t tolerance, KernelMismatch* found, CudaStreamObject* stream);

/// int collbench_kernel_fill_normal: writes `count` numbers of normal_value(0 …, seed) as elements of `type`,
/// a DataType of floats.
using KernelFillNormal = int(void* to, std::uint64_t count, std::uint32_t type, std::uint64_t seed,
                             CudaStreamObject* stream);
/// int collbench_kernel_triad: a = b + factor · c, of `count` doubles that begin at a multiple of 16 bytes;
/// `count` is even.
using KernelTriad = int(double* a, const double* b, const double* c, double factor, std::uint64_t count,
                        CudaStreamObject* stream);

}  // namespace collbench::collectives
