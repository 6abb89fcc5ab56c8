#include "tools/probe/gpu/gpu_matmul.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "base/units.hpp"
#include "tools/probe/gpu/probe_memory.hpp"

namespace collbench::collectives {
namespace {

/// What NVIDIA recommends on Hopper (cuBLAS documentation, "cublasSetWorkspace").
constexpr std::uint64_t kWorkspaceBytes = 32 * kMiB;

constexpr std::array<GemmType, 6> kTypes{{
    {"gpu-gemm-bf16", "GEMM BF16", DataType::bfloat16, CublasData::real_16bf, CublasData::real_16bf,
     CublasCompute::of_32f, CublasData::real_32f, false, "", false, 2, 2},
    {"gpu-gemm-fp16", "GEMM FP16", DataType::float16, CublasData::real_16f, CublasData::real_16f,
     CublasCompute::of_32f, CublasData::real_32f, false, "", false, 2, 2},
    {"gpu-gemm-fp8", "GEMM FP8", DataType::float8_e4m3, CublasData::real_8f_e4m3, CublasData::real_16bf,
     CublasCompute::of_32f, CublasData::real_32f, true, "E4M3, BF16 out, fast accumulation", false, 1, 2},
    {"gpu-gemm-tf32", "GEMM TF32", DataType::float32, CublasData::real_32f, CublasData::real_32f,
     CublasCompute::of_32f_fast_tf32, CublasData::real_32f, false, "", false, 4, 4},
    {"gpu-gemm-fp64", "GEMM FP64", DataType::float64, CublasData::real_64f, CublasData::real_64f,
     CublasCompute::of_64f, CublasData::real_64f, false, "", false, 8, 8},
    {"gpu-gemm-fp32", "GEMM FP32", DataType::float32, CublasData::real_32f, CublasData::real_32f,
     CublasCompute::of_32f, CublasData::real_32f, false, "", true, 4, 4},
}};

Error failed(const CublasLtLibrary& lt, CublasStatus status, const char* call) {
  return {ExitStatus::rank_lost, "GPU", fmt::format("{} failed: {}", call, lt.status_string(status)),
          "check dmesg for an Xid, and nvidia-smi -q for the GPU's state"};
}

/// One product, with all that it is made of; it stays at its address.
class Product {
 public:
  Product(const GpuLibraries& libraries, const GemmType& type, int n)
      : libraries_(libraries),
        lt_(*libraries.cublas_lt),
        element_(type.element),
        is_double_(type.scale == CublasData::real_64f),
        a_(probe_memory(libraries.cuda, type.in_bytes * elements(n))),
        b_(probe_memory(libraries.cuda, type.in_bytes * elements(n))),
        d_(probe_memory(libraries.cuda, type.out_bytes * elements(n))),
        workspace_(probe_memory(libraries.cuda, kWorkspaceBytes)) {
    try {
      describe(type, n);
      choose();
    } catch (...) {
      release();
      throw;
    }
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  Product(Product&&) = delete;
  Product& operator=(Product&&) = delete;
  ~Product() { release(); }

  void fill(const CudaStream& stream) const {
    fill_with_normal_numbers(libraries_, a_, element_, 1, stream);
    fill_with_normal_numbers(libraries_, b_, element_, 2, stream);
  }

  [[nodiscard]] const DeviceBuffer& result() const { return d_; }

  /// Throws Error (rank_lost), GpuRefusal.
  void put(const CudaStream& stream) const {
    static constexpr float kOne = 1;
    static constexpr float kZero = 0;
    static constexpr double kDoubleOne = 1;
    static constexpr double kDoubleZero = 0;
    const void* const alpha = is_double_ ? static_cast<const void*>(&kDoubleOne) : &kOne;
    const void* const beta = is_double_ ? static_cast<const void*>(&kDoubleZero) : &kZero;
    check(
        lt_.matmul(handle_, matmul_, alpha, a_.data(), in_, b_.data(), in_, beta, d_.data(), out_, d_.data(),
                   out_, &heuristic_.algorithm, workspace_.data(), workspace_.bytes(), stream.get()),
        "cublasLtMatmul");
  }

 private:
  static std::uint64_t elements(int n) {
    return static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(n);
  }

  void check(CublasStatus status, const char* call) const {
    switch (status) {
      case CublasStatus::success:
        return;
      // What a library, a driver or full memory says; a GPU that breaks fails in execution, or in CUDA's
      // calls.
      case CublasStatus::not_initialized:
      case CublasStatus::alloc_failed:
      case CublasStatus::invalid_value:
      case CublasStatus::arch_mismatch:
      case CublasStatus::not_supported:
        throw GpuRefusal{fmt::format("{} of cuBLASLt {} says {}", call, cublas_version_text(lt_.version),
                                     lt_.status_string(status))};
      default:
        throw failed(lt_, status, call);
    }
  }

  void describe(const GemmType& type, int n) {
    check(lt_.create(&handle_), "cublasLtCreate");
    const auto side = static_cast<std::uint64_t>(n);
    const auto layout = [&](CublasLtLayout& made, CublasData of) {
      const CublasStatus status = lt_.layout_create(&made, of, side, side, n);
      // An older library has no name for a newer type.
      if (status == CublasStatus::invalid_value || status == CublasStatus::not_supported) refuse(status);
      check(status, "cublasLtMatrixLayoutCreate");
    };
    layout(in_, type.in);
    layout(out_, type.out);
    check(lt_.matmul_create(&matmul_, type.compute, type.scale), "cublasLtMatmulDescCreate");
    const auto set = [&](CublasLtDescription what, const auto& value) {
      check(lt_.matmul_set(matmul_, what, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
    };
    set(CublasLtDescription::transpose_a, kCublasTransposed);
    if (type.fast_accumulation) set(CublasLtDescription::fast_accumulation, std::int8_t{1});
  }

  void choose() {
    CublasLtPreferences preferences = nullptr;
    check(lt_.preference_create(&preferences), "cublasLtMatmulPreferenceCreate");
    const std::size_t most = workspace_.bytes();
    int found = 0;
    CublasStatus status =
        lt_.preference_set(preferences, CublasLtPreference::max_workspace_bytes, &most, sizeof most);
    if (status == CublasStatus::success)
      status = lt_.heuristic(handle_, matmul_, in_, in_, out_, out_, preferences, 1, &heuristic_, &found);
    lt_.preference_destroy(preferences);
    if (status == CublasStatus::success && found > 0) status = heuristic_.state;
    if (status == CublasStatus::not_supported || status == CublasStatus::arch_mismatch ||
        status == CublasStatus::invalid_value || (status == CublasStatus::success && found == 0))
      refuse(status);
    check(status, "cublasLtMatmulAlgoGetHeuristic");
  }

  [[noreturn]] void refuse(CublasStatus status) const {
    throw GpuRefusal{fmt::format("cuBLASLt {} has no kernel for it on this GPU ({})",
                                 cublas_version_text(lt_.version), lt_.status_string(status))};
  }

  void release() {
    if (matmul_ != nullptr) lt_.matmul_destroy(std::exchange(matmul_, nullptr));
    if (in_ != nullptr) lt_.layout_destroy(std::exchange(in_, nullptr));
    if (out_ != nullptr) lt_.layout_destroy(std::exchange(out_, nullptr));
    if (handle_ != nullptr) lt_.destroy(std::exchange(handle_, nullptr));
  }

  GpuLibraries libraries_;
  const CublasLtLibrary& lt_;
  DataType element_;
  bool is_double_;
  DeviceBuffer a_;
  DeviceBuffer b_;
  DeviceBuffer d_;
  DeviceBuffer workspace_;
  CublasLtHandle handle_ = nullptr;
  CublasLtMatmul matmul_ = nullptr;
  CublasLtLayout in_ = nullptr;
  CublasLtLayout out_ = nullptr;
  CublasLtHeuristic heuristic_{};
};

}  // namespace

std::span<const GemmType> gemm_types() { return kTypes; }

std::uint64_t gemm_bytes(const GemmType& type, int n) {
  const auto side = static_cast<std::uint64_t>(n);
  return side * side * (2 * type.in_bytes + type.out_bytes) + kWorkspaceBytes;
}

GpuWork gemm_work(const GpuLibraries& libraries, const GemmType& type, int n) {
  const auto product = std::make_shared<const Product>(libraries, type, n);
  return {[product](const CudaStream& stream) { product->put(stream); }, 2.0 * n * n * n,
          [product](const CudaStream& stream) { product->fill(stream); }, &product->result()};
}

}  // namespace collbench::collectives
