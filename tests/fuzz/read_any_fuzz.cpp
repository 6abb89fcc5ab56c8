#include "topology/readers/read_any.hpp"

#include "tests/fuzz/fuzz_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return collbench::fuzz_reader(data, size, [](std::string_view text, std::string_view file) {
    const collbench::Topology topology = collbench::read_any_topology(text, file);
    return topology.hosts.empty() ? collbench::Host{} : topology.hosts.front();
  });
}
