#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "collectives/mpi/open_mpi/algorithm_rules.hpp"
#include "tests/collectives/mpi/open_mpi/message_log.hpp"

namespace collbench::collectives {

/// What `rank` sends, in order, when `algorithm` itself runs `call`, no fallback considered: the algorithms
/// as the literature has them, in the variants of Open MPI 4.1.4. None for an algorithm that is made of other
/// collectives, and for an unknown one.
[[nodiscard]] std::optional<Messages> expected_messages(const std::string& algorithm,
                                                        const CollectiveCall& call, int rank,
                                                        std::uint64_t segment_elements);

}  // namespace collbench::collectives
