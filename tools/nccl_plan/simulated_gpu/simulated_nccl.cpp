#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/shared_library.hpp"
#include "tools/nccl_plan/simulated_gpu/elf_file.hpp"
#include "tools/nccl_plan/simulated_gpu/process.hpp"
#include "tools/nccl_plan/simulated_gpu/redirection.hpp"
#include "tools/nccl_plan/simulated_gpu/system_calls.hpp"

namespace collbench::simulated_gpu {
namespace {

/// ncclProxySaveOp(ncclComm*, ncclProxyOp*, bool*): whether an operation needs a thread that feeds the
/// network.
constexpr std::string_view kProxySaveOp = "_Z15ncclProxySaveOpP8ncclCommP11ncclProxyOpPb";
int no_proxy_needed(void* /*communicator*/, void* /*operation*/, bool* needed) {
  if (needed != nullptr) *needed = false;
  return 0;
}

void* opened(const std::string& name, int flags) {
  void* const library = ::dlopen(name.c_str(), flags);
  if (library != nullptr) return library;
  const char* const words = ::dlerror();
  throw Error(ExitStatus::not_here, "NCCL", words == nullptr ? name + " cannot be loaded" : words,
              "name a libnccl.so.2");
}

/// A function of CUDA's runtime: cudaMalloc, and not __cudaRegisterFatBinary or a C++ name.
bool is_runtime_function(std::string_view name) {
  return name.size() > 4 && name.starts_with("cuda") && name[4] >= 'A' && name[4] <= 'Z';
}

/// What a function is called in the interface: those for a default stream per thread have names of their own.
std::string interface_name(std::string_view name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  return std::string(name);
}

/// What NCCL loads by name: NVML, the driver (before 2.21), the network plugin, and the runtime where it is
/// not linked in. Once loaded from where they are, libraries of these names are found without a search.
void load_named_libraries() {
  const std::filesystem::path folder = std::filesystem::path(own_file()).parent_path() / "simulated_gpu";
  for (const char* name : {"libnvidia-ml.so.1", "libcuda.so", "libnccl-net-collbench-simulated.so",
                           "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"}) {
    static_cast<void>(opened((folder / name).string(), RTLD_NOW | RTLD_LOCAL));
  }
}

link_map* map_of(void* library) {
  link_map* map = nullptr;
  ::dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map));
  return map;
}

void redirect_runtime(void* library, const ElfFile& file) {
  void* const self = opened(own_file(), RTLD_NOW | RTLD_NOLOAD);
  auto* const base = reinterpret_cast<std::byte*>(map_of(library)->l_addr);
  std::vector<std::string> missing;
  std::vector<void*> missing_entries;
  for (const ElfFunction& function : file.functions()) {
    void* const entry = base + function.address;
    if (function.name == kProxySaveOp) redirect(entry, reinterpret_cast<const void*>(&no_proxy_needed));
    if (!is_runtime_function(function.name) || function.bytes < kJumpBytes) continue;
    const std::string name = interface_name(function.name);
    if (const void* const ours = ::dlsym(self, name.c_str())) {
      redirect(entry, ours);
    } else {
      missing.push_back(name);
      missing_entries.push_back(entry);
    }
  }
  const std::vector<void*> stubs = unsupported_functions(missing);
  for (std::size_t i = 0; i < stubs.size(); ++i) redirect(missing_entries[i], stubs[i]);
}

/// The version of the runtime that is linked in; it answers without a driver.
void note_runtime_version(void* library, const ElfFile& file) {
  for (const ElfFunction& function : file.functions()) {
    if (function.name != "cudaRuntimeGetVersion") continue;
    const std::uintptr_t entry = map_of(library)->l_addr + function.address;
    int version = 0;
    if (reinterpret_cast<int (*)(int*)>(entry)(&version) == 0 && version > 0) set_runtime_version(version);
  }
}

bool defines_runtime(const ElfFile& file) {
  return std::ranges::any_of(file.functions(),
                             [](const ElfFunction& function) { return function.name == "cudaMalloc"; });
}

/// Loads a libnccl and gives it the simulated CUDA: one that has the runtime linked in gets a jump at each of
/// its entries, in the memory of this process alone. It also keeps NCCL from starting transfers over the
/// network (ncclProxySaveOp), which would wait forever for kernels that do not run. The handle of dlopen; it
/// stays loaded. Throws Error (not_here) when the file cannot be loaded, is no libnccl, is stripped or for
/// another architecture.
void* load_simulated_nccl(const std::string& name) {
  if (name.find('/') != std::string::npos) require_shared_library(name);
  // A library that takes its runtime from another finds ours first, by the names that it asks for.
  static_cast<void>(opened(own_file(), RTLD_NOW | RTLD_GLOBAL));
  load_named_libraries();
  void* const library = opened(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  const std::string path = map_of(library)->l_name;
  if (::dlsym(library, "ncclGetVersion") == nullptr) {
    throw Error(ExitStatus::not_here, path, "is no libnccl: it lacks ncclGetVersion", "name a libnccl.so.2");
  }
  const ElfFile file(path);
  if (defines_runtime(file)) note_runtime_version(library, file);
  redirect_runtime(library, file);
  answer_system_calls(library);
  return library;
}

/// Of a program that names its libnccl to collbench and loads this library before it, as the CUDA runtime
/// (COLLBENCH_CUDART) or with LD_PRELOAD.
[[gnu::constructor]] void load_named_nccl() {
  const std::string name = variable_value("COLLBENCH_NCCL");
  if (name.empty() || variable_value("COLLBENCH_SIMULATED_GPU").empty()) return;
  try {
    static_cast<void>(load_simulated_nccl(name));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", describe(failure).c_str());
    std::_Exit(static_cast<int>(exit_status(failure)));
  }
}

}  // namespace
}  // namespace collbench::simulated_gpu

/// For programs that load this library with dlopen: as load_simulated_nccl. Null with one line in `reason` on
/// failure.
extern "C" void* collbench_simulated_gpu_load_nccl(const char* name, char* reason, int reason_bytes) {
  try {
    return collbench::simulated_gpu::load_simulated_nccl(name);
  } catch (const std::exception& failure) {
    std::snprintf(reason, static_cast<std::size_t>(reason_bytes), "%s", failure.what());
    return nullptr;
  }
}

/// As replace_export (redirection.hpp), for those that put themselves before NCCL's functions.
extern "C" void* collbench_simulated_gpu_replace_export(void* library, const char* name,
                                                        const void* replacement) {
  try {
    return collbench::simulated_gpu::replace_export(library, name, replacement);
  } catch (const std::exception&) {
    return nullptr;
  }
}
