#pragma once
#include <string>
#include <string_view>

#include "topology/graph/topology.hpp"

namespace collbench::analysis {

/// What a finding of the doctor costs AllReduce of 8 GiB: the machine as it is against the same machine with
/// its siblings' rate, ports and links, by the models that `topo diff` prices findings with. Empty where they
/// know nothing of it: another code, no GPU that is modeled, or nothing to compare with.
[[nodiscard]] std::string doctor_price(const topology::Host& host, std::string_view code);

}  // namespace collbench::analysis
