#include "collectives/mpi/mpi_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/shared_library.hpp"

namespace collbench::collectives {
namespace {

constexpr const char* kVariable = "COLLBENCH_MPI";

struct AbiNames {
  std::string_view name;  ///< in COLLBENCH_MPI
  const char* file;       ///< ours, beside libcollbench
  /// Of MPI itself, where our library was linked with none of its implementations, which call it differently.
  std::vector<std::string> mpi;
};

AbiNames names_of(MpiAbi abi) {
  switch (abi) {
    case MpiAbi::open_mpi:
      return {.name = "openmpi", .file = "libcollbench_open_mpi.so", .mpi = {}};
    case MpiAbi::mpich:
#ifdef COLLBENCH_MPICH_IS_LINKED  // our library names the one that it was built with
      return {.name = "mpich", .file = "libcollbench_mpich.so", .mpi = {}};
#endif
      return {.name = "mpich", .file = "libcollbench_mpich.so", .mpi = {"libmpi.so.12", "libmpich.so.12"}};
  }
  std::abort();
}

/// Where this code is: in libcollbench.so, or in a test program.
std::filesystem::path own_folder() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&mpi_abis), &found) == 0 || found.dli_fname == nullptr)
    return {};
  std::error_code unknown;
  return std::filesystem::canonical(found.dli_fname, unknown).parent_path();
}

/// What keeps a library from being used, and nothing of it is loaded: another one may be tried.
class NotLoaded : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

Error unusable(const std::string& what) {
  return {
      ExitStatus::not_here, "MPI", what,
      "install collbench anew, or unset LD_PRELOAD; COLLBENCH_MPI names the MPI to use (openmpi or mpich)"};
}

/// Throws NotLoaded with the loader's words, and Error (not_here) where an MPI is loaded that cannot be used:
/// the functions of the next one would be mixed with it.
const MpiFunctions* load(MpiAbi abi, const AbiNames& names) {
  const std::filesystem::path folder = own_folder();
  const std::filesystem::path file = folder / names.file;
  std::error_code unknown;
  if (folder.empty() || !std::filesystem::exists(file, unknown))
    throw NotLoaded(fmt::format("{} is not there: collbench was built without it", file.string()));
  // For everybody: Open MPI's plugins do not name the library whose functions they call.
  const bool is_linked = names.mpi.empty();
  std::vector<std::string> failures;
  const bool has_mpi = std::ranges::any_of(names.mpi, [&failures](const std::string& name) {
    return first_library({name}, failures.emplace_back(), SymbolScope::everybody).has_value();
  });
  if (!is_linked && !has_mpi) throw NotLoaded(fmt::format("{}", fmt::join(failures, ", ")));
  if (const auto launchers = launch::libmpi_of_launcher(); launchers && abi == MpiAbi::open_mpi) {
    // Before LD_LIBRARY_PATH and a bundle's own: mpirun and its ranks are to be of one Open MPI, with its
    // UCX.
    std::string stays_with_the_loader;
    (void)first_library({launchers->string()}, stays_with_the_loader, SymbolScope::everybody);
  }
  std::optional<SharedLibrary> library;
  try {
    library.emplace(file.string(), SymbolScope::everybody);
  } catch (const std::runtime_error& error) {
    if (is_linked) throw NotLoaded(error.what());
    throw unusable(error.what());
  }
  const MpiFunctions* (*functions)() = nullptr;
  library->find(functions, "collbench_mpi_functions");
  if (functions == nullptr || functions()->interface_id != kMpiInterface)
    throw unusable(library->path() + " belongs to another version of collbench");
  const std::string version = functions()->library_version();
  if (version.starts_with("Open MPI") != (abi == MpiAbi::open_mpi))
    throw unusable(fmt::format("{} is meant for {}, and the MPI of this process is {}", names.file,
                               names.name, version));
  return functions();
}

MpiLibrary find_library() {
  std::vector<std::string> failures;
  for (const MpiAbi abi : mpi_abis(variable_value(kVariable), launch::mpi_launcher())) {
    const AbiNames names = names_of(abi);
    try {
      return {.functions = load(abi, names),
              .abi = abi,
              .passed_over = fmt::format("{}", fmt::join(failures, "; "))};
    } catch (const NotLoaded& error) {
      failures.push_back(fmt::format("{}: {}", names.name, error.what()));
    }
  }
  throw Error(
      ExitStatus::not_here, "MPI", fmt::format("no MPI library: {}", fmt::join(failures, "; ")),
      "install Open MPI or MPICH, or put the folder of its libmpi into LD_LIBRARY_PATH (module load); ranks "
      "on GPUs need none: start them by torchrun or srun --mpi=none, or with --rendezvous HOST:PORT");
}

}  // namespace

std::vector<MpiAbi> mpi_abis(std::string_view named, std::optional<launch::MpiLauncher> launcher) {
  for (const MpiAbi abi : {MpiAbi::open_mpi, MpiAbi::mpich}) {
    if (named == names_of(abi).name) return {abi};
  }
  if (!named.empty())
    throw usage_error(kVariable, fmt::format("\"{}\" is no MPI that collbench knows", named),
                      "openmpi (HPC-X, too) or mpich (Intel's and Cray's, too)");
  if (launcher == launch::MpiLauncher::pmi) return {MpiAbi::mpich, MpiAbi::open_mpi};
  return {MpiAbi::open_mpi, MpiAbi::mpich};
}

const MpiLibrary& mpi_library() {
  static const MpiLibrary library = find_library();
  return library;
}

}  // namespace collbench::collectives
