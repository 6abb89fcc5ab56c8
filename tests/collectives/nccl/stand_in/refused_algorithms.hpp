#pragma once
#include <string>

#include "collectives/nccl/on_host/hub.hpp"
#include "tests/collectives/nccl/stand_in/plugins.hpp"

// Which algorithms the stand-in libnccl has, and how it refuses the others (nccl.cpp).

namespace collbench::collectives {

/// Whether the operation can run under this restriction.
[[nodiscard]] bool has_algorithm(const Restriction& restriction, const AskHeader& header);

/// What an operation without any algorithm ends in, by the environment of now; `last_error` gets NCCL's
/// words.
[[nodiscard]] NcclResult refusal(std::string& last_error);

}  // namespace collbench::collectives
