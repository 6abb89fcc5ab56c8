#include "collectives/nccl/loader/cublas_lt_library.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/shared_library.hpp"
#include "collectives/nccl/loader/library_search.hpp"

namespace collbench::collectives {
namespace {

SharedLibrary loaded_cublas_lt(int cuda_major) {
  std::string unsupported_reason;
  const auto candidates =
      library_candidates(wanted_cublas_lt(cuda_major), package_folders(python_prefixes()));
  if (auto library = first_library(candidates, unsupported_reason)) return *library;
  throw Error(
      ExitStatus::not_here, "cuBLASLt", unsupported_reason,
      fmt::format("install cuBLAS of CUDA {} (Python's nvidia-cublas has it too), or name the file in "
                  "COLLBENCH_CUBLASLT",
                  cuda_major));
}

}  // namespace

CublasLtLibrary CublasLtLibrary::load(const CudaLibrary& cuda) {
  const SharedLibrary library = loaded_cublas_lt(cuda.version / 1000);
  CublasLtLibrary lt;
  lt.path = library.path();
  const auto need = [&](auto& function, const char* name) {
    library.find(function, name);
    if (function == nullptr)
      throw Error(ExitStatus::not_here, "cuBLASLt", fmt::format("{} lacks {}", lt.path, name),
                  "name another libcublasLt, of CUDA 12 or newer, in COLLBENCH_CUBLASLT");
  };
  std::size_t (*get_version)() = nullptr;
  need(get_version, "cublasLtGetVersion");
  lt.version = get_version();
  need(lt.create, "cublasLtCreate");
  need(lt.destroy, "cublasLtDestroy");
  need(lt.status_string, "cublasLtGetStatusString");
  need(lt.layout_create, "cublasLtMatrixLayoutCreate");
  need(lt.layout_destroy, "cublasLtMatrixLayoutDestroy");
  need(lt.matmul_create, "cublasLtMatmulDescCreate");
  need(lt.matmul_destroy, "cublasLtMatmulDescDestroy");
  need(lt.matmul_set, "cublasLtMatmulDescSetAttribute");
  need(lt.preference_create, "cublasLtMatmulPreferenceCreate");
  need(lt.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  need(lt.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  need(lt.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  need(lt.matmul, "cublasLtMatmul");
  return lt;
}

std::string cublas_version_text(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace collbench::collectives
