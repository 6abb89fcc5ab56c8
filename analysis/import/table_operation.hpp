#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/import/log_table.hpp"
#include "base/record/operation.hpp"

namespace collbench::analysis {

/// The operations whose tables look like this one: by the reduction, the root, what size is of count, whether
/// in place was checked (nccl-tests checks neither SendRecv nor AllToAll in place: src/sendrecv.cu,
/// src/alltoall.cu), and whether busbw / algbw allows any number of ranks, or `ranks` where that is known.
[[nodiscard]] std::vector<OperationId> operations_like(const LogTable& table, std::optional<int> ranks);

/// What a table is of: as `given`, as its program is called, or the only operation that it looks like; the
/// table's facts say which. Throws Error (usage) with the place and the next step where none is left, or
/// several are.
[[nodiscard]] OperationId operation_of(LogTable& table, std::optional<OperationId> given,
                                       std::string_view file);

}  // namespace collbench::analysis
