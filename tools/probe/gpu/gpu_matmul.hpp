#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/record/data_type.hpp"
#include "tools/probe/gpu/gpu_team.hpp"

namespace collbench::collectives {

/// A type of product, as cuBLASLt names its parts.
struct GemmType {
  std::string_view id;    ///< "gpu-gemm-bf16"
  std::string_view name;  ///< "GEMM BF16"
  DataType element;       ///< of A and B
  CublasData in;
  CublasData out;
  CublasCompute compute;
  CublasData scale;         ///< of alpha and beta
  bool fast_accumulation;   ///< of FP8: partial sums stay in the tensor core, as training libraries ask for
  std::string_view how;     ///< what is not seen in the name: "BF16 out, fast accumulation"
  bool only_on_request;     ///< not of a probe's usual work
  std::uint64_t in_bytes;   ///< an element
  std::uint64_t out_bytes;  ///< an element
};

/// BF16, FP16, FP8 (E4M3), TF32, FP64; on request FP32.
[[nodiscard]] std::span<const GemmType> gemm_types();

/// The memory that a product of n × n matrices works on, with its workspace.
[[nodiscard]] std::uint64_t gemm_bytes(const GemmType& type, int n);

/// D = Aᵀ · B of n × n matrices of normal numbers, by the algorithm that cuBLASLt's heuristics name first, on
/// the current GPU. A is transposed because FP8 is offered in no other way (cuBLAS documentation,
/// "cublasLtMatmul"). Throws GpuRefusal where the library has none or memory is short, and Error for a GPU
/// that fails.
[[nodiscard]] GpuWork gemm_work(const GpuLibraries& libraries, const GemmType& type, int n);

}  // namespace collbench::collectives
