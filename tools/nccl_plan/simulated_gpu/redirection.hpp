#pragma once
#include <cstddef>
#include <string>
#include <vector>

// Changes of loaded code, in the memory of this process alone. To be made before the code runs: nothing here
// stops other threads.

namespace collbench::simulated_gpu {

/// The bytes of a jump to any address: jmp [rip+0], and the address behind it.
inline constexpr std::size_t kJumpBytes = 14;

/// Calls of the function at `entry`, of at least kJumpBytes, go to `target` from now on. Throws Error
/// (not_here) when the system does not let code be written.
void redirect(void* entry, const void* target);

/// For each name a function that can be called with any arguments: it says once, on stderr, that `name` is
/// not simulated, and returns 801 (cudaErrorNotSupported, CUDA_ERROR_NOT_SUPPORTED). They stay to the end of
/// the process.
[[nodiscard]] std::vector<void*> unsupported_functions(const std::vector<std::string>& names);

/// From now on dlsym and the linker find `replacement` where they found what `library` (of dlopen) exports as
/// `name`; calls inside the library stay. Returns what was there before, or null when there is no such
/// export, and then nothing changes.
[[nodiscard]] void* replace_export(void* library, const char* name, const void* replacement);

/// From now on `library`'s own calls of `name`, which it takes from another library, go to `replacement`;
/// those of others stay. False when it does not call it.
bool replace_import(void* library, const char* name, const void* replacement);

}  // namespace collbench::simulated_gpu
