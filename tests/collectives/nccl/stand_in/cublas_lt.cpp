// A cuBLASLt without a GPU: it computes nothing (a result is ones), and refuses what the real one would: a
// layout of another type than the product's, FP8 with A as it is or on a GPU before compute capability 8.9,
// memory that is no device's or too small, a workspace below what its heuristics asked for; and products of
// nothing but zeros, which no probe should time. How long a product takes is gpu_time.hpp's.
//
// Told by COLLBENCH_STAND_IN_COMPUTE (90), and by COLLBENCH_STAND_IN_NO_GEMM, the names of types without
// kernels: "fp64,tf32".
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "collectives/nccl/loader/cublas_lt_library.hpp"
#include "tests/collectives/nccl/stand_in/gpu_time.hpp"
#include "tests/collectives/nccl/stand_in/injected_fault.hpp"

using namespace collbench;
using namespace collbench::collectives;

namespace collbench::collectives {

struct CublasLtContext {};
struct CublasLtLayoutObject {
  CublasData type;
  std::uint64_t rows, columns;
};
struct CublasLtMatmulObject {
  CublasCompute compute;
  CublasData scale;
  bool transposes_a = false;
  bool transposes_b = false;
};
struct CublasLtPreferenceObject {
  std::size_t workspace = 0;
};

}  // namespace collbench::collectives

extern "C" {
bool collbench_stand_in_is_device_memory(const void* address, std::size_t bytes);
void collbench_stand_in_pass_time_later(CudaStreamHandle stream, const char* what, double seconds);
}

namespace {

constexpr double kFlopPerSecond = 1e11;
constexpr std::size_t kWorkspace = 4U << 20U;

std::size_t bytes_of(CublasData type) {
  switch (type) {
    case CublasData::real_64f:
      return 8;
    case CublasData::real_32f:
      return 4;
    case CublasData::real_16f:
    case CublasData::real_16bf:
      return 2;
    case CublasData::real_8f_e4m3:
      return 1;
  }
  return 0;
}

std::string name_of(const CublasLtMatmulObject& product, CublasData in) {
  if (product.compute == CublasCompute::of_64f) return "fp64";
  if (product.compute == CublasCompute::of_32f_fast_tf32) return "tf32";
  switch (in) {
    case CublasData::real_8f_e4m3:
      return "fp8";
    case CublasData::real_16f:
      return "fp16";
    case CublasData::real_16bf:
      return "bf16";
    default:
      return "fp32";
  }
}

bool is_named(const char* variable, const std::string& name) {
  const char* const text = std::getenv(variable);
  return text != nullptr && ("," + std::string(text) + ",").find("," + name + ",") != std::string::npos;
}

bool is_offered(const CublasLtMatmulObject& product, const CublasLtLayoutObject& a,
                const CublasLtLayoutObject& d) {
  const bool is_double = a.type == CublasData::real_64f;
  if (is_double != (product.scale == CublasData::real_64f) ||
      is_double != (product.compute == CublasCompute::of_64f))
    return false;
  if (product.compute == CublasCompute::of_32f_fast_tf32 && a.type != CublasData::real_32f) return false;
  if (a.type == CublasData::real_8f_e4m3) {
    constexpr long kAda = 89;
    if (stand_in_number("COLLBENCH_STAND_IN_COMPUTE", 90) < kAda || !product.transposes_a ||
        product.transposes_b || d.type != CublasData::real_16bf)
      return false;
  } else if (a.type != d.type) {
    return false;
  }
  return !is_named("COLLBENCH_STAND_IN_NO_GEMM", name_of(product, a.type));
}

bool is_all_zero(const void* memory) {
  constexpr std::size_t kLooked = 64;
  const auto* const bytes = static_cast<const unsigned char*>(memory);
  for (std::size_t i = 0; i < kLooked; ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

bool holds(const CublasLtLayoutObject& layout, const void* memory) {
  return collbench_stand_in_is_device_memory(memory, layout.rows * layout.columns * bytes_of(layout.type));
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are the library's.
extern "C" {

std::size_t cublasLtGetVersion() { return 130000; }

const char* cublasLtGetStatusString(CublasStatus status) {
  switch (status) {
    case CublasStatus::success:
      return "CUBLAS_STATUS_SUCCESS";
    case CublasStatus::not_supported:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CublasStatus::invalid_value:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CublasStatus::alloc_failed:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    default:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}

CublasStatus cublasLtCreate(CublasLtHandle* handle) {
  *handle = new CublasLtContext;
  return CublasStatus::success;
}

CublasStatus cublasLtDestroy(CublasLtHandle handle) {
  delete handle;
  return CublasStatus::success;
}

CublasStatus cublasLtMatrixLayoutCreate(CublasLtLayout* layout, CublasData type, std::uint64_t rows,
                                        std::uint64_t columns, std::int64_t leading) {
  if (static_cast<std::uint64_t>(leading) != rows || bytes_of(type) == 0) return CublasStatus::invalid_value;
  *layout = new CublasLtLayoutObject{type, rows, columns};
  return CublasStatus::success;
}

CublasStatus cublasLtMatrixLayoutDestroy(CublasLtLayout layout) {
  delete layout;
  return CublasStatus::success;
}

CublasStatus cublasLtMatmulDescCreate(CublasLtMatmul* product, CublasCompute compute, CublasData scale) {
  *product = new CublasLtMatmulObject{compute, scale};
  return CublasStatus::success;
}

CublasStatus cublasLtMatmulDescDestroy(CublasLtMatmul product) {
  delete product;
  return CublasStatus::success;
}

CublasStatus cublasLtMatmulDescSetAttribute(CublasLtMatmul product, CublasLtDescription what,
                                            const void* value, std::size_t bytes) {
  if (what == CublasLtDescription::fast_accumulation)
    return bytes == 1 ? CublasStatus::success : CublasStatus::invalid_value;
  if (bytes != sizeof(std::int32_t)) return CublasStatus::invalid_value;
  std::int32_t operation = 0;
  std::memcpy(&operation, value, bytes);
  (what == CublasLtDescription::transpose_a ? product->transposes_a : product->transposes_b) =
      operation == kCublasTransposed;
  return CublasStatus::success;
}

CublasStatus cublasLtMatmulPreferenceCreate(CublasLtPreferences* preferences) {
  *preferences = new CublasLtPreferenceObject;
  return CublasStatus::success;
}

CublasStatus cublasLtMatmulPreferenceDestroy(CublasLtPreferences preferences) {
  delete preferences;
  return CublasStatus::success;
}

CublasStatus cublasLtMatmulPreferenceSetAttribute(CublasLtPreferences preferences,
                                                  CublasLtPreference /*what*/, const void* value,
                                                  std::size_t bytes) {
  if (bytes != sizeof preferences->workspace) return CublasStatus::invalid_value;
  std::memcpy(&preferences->workspace, value, bytes);
  return CublasStatus::success;
}

CublasStatus cublasLtMatmulAlgoGetHeuristic(CublasLtHandle /*handle*/, CublasLtMatmul product,
                                            CublasLtLayout a, CublasLtLayout b, CublasLtLayout c,
                                            CublasLtLayout d, CublasLtPreferences preferences, int wanted,
                                            CublasLtHeuristic* results, int* found) {
  *found = 0;
  if (wanted < 1 || a->type != b->type || c->type != d->type) return CublasStatus::invalid_value;
  if (!is_offered(*product, *a, *d)) return CublasStatus::not_supported;
  *results = {{}, kWorkspace < preferences->workspace ? kWorkspace : 0, CublasStatus::success, 1, {}};
  *found = 1;
  return CublasStatus::success;
}

CublasStatus cublasLtMatmul(CublasLtHandle /*handle*/, CublasLtMatmul product, const void* alpha,
                            const void* a, CublasLtLayout a_layout, const void* b, CublasLtLayout b_layout,
                            const void* beta, const void* /*c*/, CublasLtLayout /*c_layout*/, void* d,
                            CublasLtLayout d_layout, const CublasLtAlgorithm* algorithm, void* workspace,
                            std::size_t workspace_bytes, CudaStreamHandle stream) {
  if (algorithm == nullptr || !is_offered(*product, *a_layout, *d_layout)) return CublasStatus::not_supported;
  const bool is_double = product->scale == CublasData::real_64f;
  const double factor = is_double ? *static_cast<const double*>(alpha) : *static_cast<const float*>(alpha);
  const double kept = is_double ? *static_cast<const double*>(beta) : *static_cast<const float*>(beta);
  if (factor != 1 || kept != 0) return CublasStatus::invalid_value;
  if (!holds(*a_layout, a) || !holds(*b_layout, b) || !holds(*d_layout, d) || workspace_bytes < kWorkspace ||
      !collbench_stand_in_is_device_memory(workspace, workspace_bytes))
    return CublasStatus::invalid_value;
  if (is_all_zero(a) || is_all_zero(b)) {
    std::fputs("stand-in: a product of zeros\n", stderr);
    return CublasStatus::invalid_value;
  }
  const std::string fault = stand_in_slowness(stream->device, "gemm");
  if (fault == "full") return CublasStatus::alloc_failed;
  // The same bits each time, but for one of a GPU that is wrong, always or in its first two products.
  const std::size_t bytes = d_layout->rows * d_layout->columns * bytes_of(d_layout->type);
  std::memset(d, 1, bytes);
  static thread_local int times = 0;
  if (fault == "wrong" || (fault == "wrong-at-first" && ++times <= 2))
    static_cast<char*>(d)[bytes - 1] ^= 0x40;
  const double flop = 2.0 * static_cast<double>(a_layout->rows * a_layout->columns * b_layout->columns);
  collbench_stand_in_pass_time_later(stream, "gemm", flop / kFlopPerSecond);
  return CublasStatus::success;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
