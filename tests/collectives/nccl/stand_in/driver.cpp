// libcuda as far as it counts GPUs: COLLBENCH_STAND_IN_GPUS (8).
#include "tests/collectives/nccl/stand_in/injected_fault.hpp"

// NOLINTBEGIN(readability-identifier-naming): the names are the library's.
extern "C" {

int cuInit(unsigned int /*flags*/) { return 0; }

int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(collbench::collectives::stand_in_number("COLLBENCH_STAND_IN_GPUS", 8));
  return 0;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
