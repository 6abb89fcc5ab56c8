#include "tests/collectives/nccl/stand_in/registration.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "collectives/nccl/loader/cuda_library.hpp"
#include "tests/collectives/nccl/stand_in/injected_fault.hpp"

extern "C" {
// NOLINTNEXTLINE(readability-identifier-naming): the name is CUDA's.
collbench::collectives::CudaResult cudaFree(void* memory);
}

namespace collbench::collectives {
namespace {

struct Registration {
  NcclHandle communicator = nullptr;
  const void* buffer = nullptr;
};

/// Of all communicators of the process. A handle is the number of its call.
struct Registrations {
  std::mutex mutex;
  std::map<std::uintptr_t, Registration> all;
  std::set<NcclHandle> aborted;
  std::uintptr_t calls = 0;
};

Registrations& registrations() {
  static Registrations all;
  return all;
}

void complain(const char* what) { std::fprintf(stderr, "stand-in: %s\n", what); }

}  // namespace

NcclResult stand_in_register(NcclHandle communicator, void* buffer, std::size_t bytes, void** registration) {
  *registration = nullptr;
  if (bytes == 0 || !collbench_stand_in_is_device_memory(buffer, bytes)) return NcclResult::invalid_argument;
  const char* const local = std::getenv("NCCL_LOCAL_REGISTER");
  if (injected_fault("register_nothing") || (local != nullptr && local[0] == '0')) return NcclResult::success;
  Registrations& known = registrations();
  const std::lock_guard lock(known.mutex);
  const std::uintptr_t number = ++known.calls;
  if (const auto failing = injected_fault("register_error"); failing && std::cmp_equal(*failing, number)) {
    return NcclResult::unhandled_cuda_error;
  }
  known.all[number] = {communicator, buffer};
  *registration = reinterpret_cast<void*>(number);
  return NcclResult::success;
}

NcclResult stand_in_deregister(NcclHandle communicator, void* registration) {
  Registrations& known = registrations();
  const std::lock_guard lock(known.mutex);
  if (known.aborted.contains(communicator)) complain("a buffer is deregistered after ncclCommAbort");
  const auto found = known.all.find(reinterpret_cast<std::uintptr_t>(registration));
  if (found == known.all.end() || found->second.communicator != communicator)
    return NcclResult::invalid_usage;
  known.all.erase(found);
  return NcclResult::success;
}

NcclResult stand_in_memory_free(void* memory) {
  Registrations& known = registrations();
  {
    const std::lock_guard lock(known.mutex);
    for (const auto& [number, each] : known.all) {
      if (each.buffer == memory) complain("registered memory is freed");
    }
  }
  return cudaFree(memory) == CudaResult::success ? NcclResult::success : NcclResult::unhandled_cuda_error;
}

void end_registrations(NcclHandle communicator, bool aborted) {
  Registrations& known = registrations();
  const std::lock_guard lock(known.mutex);
  if (aborted) known.aborted.insert(communicator);
  const auto left =
      std::erase_if(known.all, [&](const auto& each) { return each.second.communicator == communicator; });
  if (!aborted && left > 0) complain("a communicator is destroyed while buffers are registered with it");
}

}  // namespace collbench::collectives
