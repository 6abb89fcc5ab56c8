#pragma once
#include <sys/types.h>
#include <optional>
#include <string>
#include <string_view>

// What NCCL's host code asks of the system and a simulated host answers otherwise:
// - its shared memory files (/dev/shm/nccl-XXXXXX, 34 MB for each rank's network proxy) become anonymous
// memory
//   without a name, so that nothing is left behind, however the processes end;
// - where it asks a socket over and over without a pause, which on a real host costs one of many cores for a
//   moment, it waits for the socket: many simulated ranks share few cores.

namespace collbench::simulated_gpu {

struct OpenFile {
  pid_t process = 0;
  int file = 0;
};

/// The name of another process's open file, as long as those that NCCL's peers pass each other; none when its
/// numbers are too large for that.
[[nodiscard]] std::optional<std::string> shared_memory_name(const OpenFile& file);

/// What such a name stands for.
[[nodiscard]] std::optional<OpenFile> shared_memory_file(std::string_view name);

/// Puts these answers in the place of the system's for `library`'s own calls.
void answer_system_calls(void* library);

}  // namespace collbench::simulated_gpu
