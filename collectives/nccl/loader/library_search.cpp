#include "collectives/nccl/loader/library_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/environment.hpp"
#include "base/files.hpp"

namespace collbench::collectives {

// The paths below packages are those of the wheels nvidia-nccl-cu12 and -cu13, nvidia-cuda-runtime-cu12 and
// nvidia-cuda-runtime (13).
const WantedLibrary& wanted_nccl() {
  static const WantedLibrary wanted{
      .variable = "COLLBENCH_NCCL",
      .names = {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"},
      .packaged = {"nvidia/nccl/lib/libnccl.so.2"},
  };
  return wanted;
}

const WantedLibrary& wanted_cuda_runtime() {
  static const WantedLibrary wanted{
      .variable = "COLLBENCH_CUDART",
      .names = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0",
                "/usr/local/cuda/lib64/libcudart.so"},
      .packaged = {"nvidia/cu13/lib/libcudart.so.13", "nvidia/cuda_runtime/lib/libcudart.so.12"},
  };
  return wanted;
}

// The wheels are nvidia-cublas (13) and nvidia-cublas-cu12.
WantedLibrary wanted_cublas_lt(int cuda_major) {
  const std::string file = fmt::format("libcublasLt.so.{}", cuda_major);
  return {.variable = "COLLBENCH_CUBLASLT",
          .names = {file, "/usr/local/cuda/lib64/" + file},
          .packaged = {fmt::format("nvidia/cu{}/lib/{}", cuda_major, file), "nvidia/cublas/lib/" + file}};
}

std::vector<std::string> package_folders(const std::vector<std::string>& prefixes) {
  std::vector<std::string> folders;
  for (const std::string& prefix : prefixes) {
    std::error_code none;
    for (const std::filesystem::path& python : entries_of(prefix + "/lib", none)) {
      if (!python.filename().string().starts_with("python3")) continue;
      for (const char* packages : {"dist-packages", "site-packages"})
        if (std::filesystem::is_directory(python / packages, none))
          folders.push_back((python / packages).string());
    }
  }
  return folders;
}

std::optional<std::string> prefix_of_python(std::string_view path) {
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find(':', start), path.size());
    const std::filesystem::path folder = path.substr(start, end - start);
    start = end + 1;
    std::error_code none;
    // The folder's own parent: bin/python3 of a virtual environment is a link to the system's.
    if (folder.is_absolute() && std::filesystem::exists(folder / "python3", none))
      return (folder / "..").lexically_normal().parent_path().string();
  }
  return std::nullopt;
}

std::vector<std::string> python_prefixes() {
  std::vector<std::string> prefixes;
  // A relative one would lead into the current folder, where anybody may have left a library.
  const auto add = [&prefixes](const char* variable, std::string_view below) {
    const std::string value = variable_value(variable);
    if (value.starts_with('/')) prefixes.push_back(fmt::format("{}{}", value, below));
  };
  add("VIRTUAL_ENV", "");
  add("CONDA_PREFIX", "");
  if (const auto prefix = prefix_of_python(variable_value("PATH"))) prefixes.push_back(*prefix);
  add("HOME", "/.local");
  prefixes.insert(prefixes.end(), {"/usr/local", "/usr"});
  return prefixes;
}

std::vector<std::string> library_candidates(const WantedLibrary& wanted,
                                            const std::vector<std::string>& folders) {
  // Who names a file wants that file, and not silently another.
  if (const char* named = std::getenv(wanted.variable); named != nullptr && *named != '\0') return {named};
  std::vector<std::string> candidates = wanted.names;
  for (const std::string& folder : folders) {
    for (const std::string& path : wanted.packaged) {
      std::error_code none;
      const std::string file = fmt::format("{}/{}", folder, path);
      if (std::filesystem::exists(file, none)) candidates.push_back(file);
    }
  }
  return candidates;
}

std::vector<std::string> own_library_candidates(const std::string& file, const std::string& program,
                                                const char* named) {
  if (named != nullptr && *named != '\0') return {named};
  // Without the program's path they would be looked for in the current folder.
  if (!program.starts_with('/')) return {};
  const std::filesystem::path folder = std::filesystem::path(program).parent_path();
  return {(folder / file).string(), (folder.parent_path() / "lib" / file).string()};
}

std::optional<SharedLibrary> own_library(const std::string& file, const char* variable,
                                         std::string& unsupported_reason) {
  const auto candidates = own_library_candidates(file, own_program().string(), std::getenv(variable));
  auto library = first_library(candidates, unsupported_reason);
  if (candidates.empty())
    unsupported_reason = fmt::format(
        "{} lies beside the program, whose own path is not known: /proc/self/exe cannot be read", file);
  return library;
}

}  // namespace collbench::collectives
