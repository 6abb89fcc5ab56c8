#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "topology/graph/topology.hpp"

namespace collbench {

/// What every reader owes for any bytes: an Error with a message, or a graph that holds together, can be
/// shown and survives saving and loading. Anything else (a crash, a hang, another exception) is a finding.
/// `read` gets the bytes and a name for their file. Returns 0, as libFuzzer wants.
int fuzz_reader(const std::uint8_t* data, std::size_t size,
                const std::function<topology::Host(std::string_view text, std::string_view file)>& read);

}  // namespace collbench
