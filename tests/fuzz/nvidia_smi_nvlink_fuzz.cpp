#include "topology/readers/readers.hpp"

#include "tests/fuzz/fuzz_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return collbench::fuzz_reader(data, size, collbench::topology::read_nvidia_smi_nvlink);
}
