#include "topology/readers/readers.hpp"

#include "tests/fuzz/fuzz_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return collbench::fuzz_reader(data, size, [](std::string_view text, std::string_view file) {
    const collbench::topology::Topology topology = collbench::topology::read_any_topology(text, file);
    return topology.hosts.empty() ? collbench::topology::Host{} : topology.hosts.front();
  });
}
