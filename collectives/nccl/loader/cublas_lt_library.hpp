#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "collectives/nccl/loader/cuda_library.hpp"

// What we use of cuBLASLt's interface, in our own words, so that a build needs no CUDA: names and values that
// are the same in CUDA 12 and 13. tests/collectives/nccl/headers_test.cpp compares them with the real
// cublasLt.h where there is one.

namespace collbench::collectives {

enum class CublasStatus : int {
  success = 0,
  not_initialized = 1,
  alloc_failed = 3,
  invalid_value = 7,
  arch_mismatch = 8,
  execution_failed = 13,
  internal_error = 14,
  not_supported = 15,
};

/// cudaDataType.
enum class CublasData : int { real_32f = 0, real_64f = 1, real_16f = 2, real_16bf = 14, real_8f_e4m3 = 28 };

/// cublasComputeType_t.
enum class CublasCompute : int { of_32f = 68, of_64f = 70, of_32f_fast_tf32 = 77 };

/// cublasLtMatmulDescAttributes_t, and what cublasOperation_t calls a transposed matrix.
enum class CublasLtDescription : int { transpose_a = 3, transpose_b = 4, fast_accumulation = 25 };
inline constexpr std::int32_t kCublasTransposed = 1;

/// cublasLtMatmulPreferenceAttributes_t.
enum class CublasLtPreference : int { max_workspace_bytes = 1 };

/// cublasLtMatmulAlgo_t, and cublasLtMatmulHeuristicResult_t.
struct CublasLtAlgorithm {
  std::array<std::uint64_t, 8> data;
};
struct CublasLtHeuristic {
  CublasLtAlgorithm algorithm;
  std::size_t workspace_bytes;
  CublasStatus state;  ///< the other members hold only where it is success
  float waves;
  std::array<int, 4> reserved;
};

// cuBLASLt's own.
struct CublasLtContext;
struct CublasLtLayoutObject;
struct CublasLtMatmulObject;
struct CublasLtPreferenceObject;
using CublasLtHandle = CublasLtContext*;
using CublasLtLayout = CublasLtLayoutObject*;
using CublasLtMatmul = CublasLtMatmulObject*;
using CublasLtPreferences = CublasLtPreferenceObject*;

/// libcublasLt, reached through one table of functions. It stays loaded to the end of the process.
struct CublasLtLibrary {
  std::string path;
  std::size_t version = 0;  ///< major × 10000 + minor × 100 + patch

  CublasStatus (*create)(CublasLtHandle*) = nullptr;  ///< of the current GPU
  CublasStatus (*destroy)(CublasLtHandle) = nullptr;
  const char* (*status_string)(CublasStatus) = nullptr;
  CublasStatus (*layout_create)(CublasLtLayout*, CublasData, std::uint64_t rows, std::uint64_t columns,
                                std::int64_t leading_dimension) = nullptr;
  CublasStatus (*layout_destroy)(CublasLtLayout) = nullptr;
  CublasStatus (*matmul_create)(CublasLtMatmul*, CublasCompute, CublasData scale) = nullptr;
  CublasStatus (*matmul_destroy)(CublasLtMatmul) = nullptr;
  CublasStatus (*matmul_set)(CublasLtMatmul, CublasLtDescription, const void* value,
                             std::size_t bytes) = nullptr;
  CublasStatus (*preference_create)(CublasLtPreferences*) = nullptr;
  CublasStatus (*preference_destroy)(CublasLtPreferences) = nullptr;
  CublasStatus (*preference_set)(CublasLtPreferences, CublasLtPreference, const void* value,
                                 std::size_t bytes) = nullptr;
  CublasStatus (*heuristic)(CublasLtHandle, CublasLtMatmul, CublasLtLayout a, CublasLtLayout b,
                            CublasLtLayout c, CublasLtLayout d, CublasLtPreferences, int wanted,
                            CublasLtHeuristic* results, int* found) = nullptr;
  CublasStatus (*matmul)(CublasLtHandle, CublasLtMatmul, const void* alpha, const void* a, CublasLtLayout,
                         const void* b, CublasLtLayout, const void* beta, const void* c, CublasLtLayout,
                         void* d, CublasLtLayout, const CublasLtAlgorithm*, void* workspace,
                         std::size_t workspace_bytes, CudaStreamHandle) = nullptr;

  /// Finds libcublasLt of the CUDA runtime's major version (COLLBENCH_CUBLASLT names another), since one that
  /// is newer needs a newer driver, and fills the table. Throws Error (not_here) when there is none, or when
  /// it lacks a function, which is then named.
  [[nodiscard]] static CublasLtLibrary load(const CudaLibrary& cuda);
};

/// 130101 as "13.1.1".
[[nodiscard]] std::string cublas_version_text(std::size_t version);

}  // namespace collbench::collectives
