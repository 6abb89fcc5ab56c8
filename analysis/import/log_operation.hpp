#pragma once
#include <optional>
#include <vector>

#include "analysis/import/log_table.hpp"
#include "base/record/operation.hpp"

namespace collbench {

/// The operations whose tables look like this one: by the reduction, the root, what size is of count, whether
/// in place was checked (nccl-tests checks neither SendRecv nor AllToAll in place: src/sendrecv.cu,
/// src/alltoall.cu), and whether busbw / algbw allows any number of ranks, or `ranks` where that is known.
[[nodiscard]] std::vector<OperationId> operations_like(const LogTable& table, std::optional<int> ranks);

}  // namespace collbench
