// What the stand-in for the kernel library asks of its CUDA runtime, of the simulated one.
#include <array>
#include <cstddef>

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the names are the library's.
struct CudaPointer {
  int type;
  int device;
  std::array<void*, 3> more;
};
int cudaPointerGetAttributes(CudaPointer* attributes, const void* address);
// NOLINTEND(readability-identifier-naming)

bool collbench_stand_in_is_device_memory(const void* address, std::size_t bytes);
bool collbench_stand_in_is_in_flight(const void* address, std::size_t bytes);
struct CudaStreamObject;
void collbench_stand_in_pass_time(CudaStreamObject* stream, const char* what, double seconds);

bool collbench_stand_in_is_device_memory(const void* address, std::size_t bytes) {
  constexpr int kDevice = 2;
  if (bytes == 0) return true;
  for (const void* each :
       {address, static_cast<const void*>(static_cast<const char*>(address) + bytes - 1)}) {
    CudaPointer pointer{};
    if (cudaPointerGetAttributes(&pointer, each) != 0 || pointer.type != kDevice) return false;
  }
  return true;
}

/// No probe runs over it.
void collbench_stand_in_pass_time(CudaStreamObject* /*stream*/, const char* /*what*/, double /*seconds*/) {}

/// Its copies are done when they return.
bool collbench_stand_in_is_in_flight(const void* /*address*/, std::size_t /*bytes*/) { return false; }
}
