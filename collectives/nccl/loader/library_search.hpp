#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared_library.hpp"

namespace collbench::collectives {

/// A library that a user may have installed in one of several ways.
struct WantedLibrary {
  const char* variable;               ///< of the environment: its value is then the only candidate
  std::vector<std::string> names;     ///< as the loader finds them, the best first
  std::vector<std::string> packaged;  ///< paths below a folder of Python packages
};

/// libnccl: COLLBENCH_NCCL, the system's, CUDA's usual folder, Python's packages.
[[nodiscard]] const WantedLibrary& wanted_nccl();

/// The CUDA runtime, likewise (COLLBENCH_CUDART). Newer ones first, since drivers run older programs.
[[nodiscard]] const WantedLibrary& wanted_cuda_runtime();

/// libcublasLt of that CUDA, likewise (COLLBENCH_CUBLASLT).
[[nodiscard]] WantedLibrary wanted_cublas_lt(int cuda_major);

/// Folders of Python packages below `prefixes`, such as PREFIX/lib/python3.11/site-packages.
[[nodiscard]] std::vector<std::string> package_folders(const std::vector<std::string>& prefixes);

/// PREFIX of the first PREFIX/bin/python3 in the folders of `path`, the value of PATH: what `python3` runs,
/// whether its environment was activated or not. None where no absolute folder has one.
[[nodiscard]] std::optional<std::string> prefix_of_python(std::string_view path);

/// Where a Python has its packages: the active virtual or conda environment, that of python3, the user's, the
/// system's.
/// Absolute paths only.
[[nodiscard]] std::vector<std::string> python_prefixes();

/// What to try, in this order.
[[nodiscard]] std::vector<std::string> library_candidates(const WantedLibrary& wanted,
                                                          const std::vector<std::string>& folders);

/// Where `file`, a library of our own, is looked for: the only candidate is `named`, a variable's value,
/// unless it is null or empty; else beside `program`, the program's own path, and in lib beside its folder.
/// Nowhere when that path is not known.
[[nodiscard]] std::vector<std::string> own_library_candidates(const std::string& file,
                                                              const std::string& program, const char* named);

/// The first of them for the running program that can be loaded, with the environment's `variable`; none when
/// none can, and why.
[[nodiscard]] std::optional<SharedLibrary> own_library(const std::string& file, const char* variable,
                                                       std::string& unsupported_reason);

}  // namespace collbench::collectives
