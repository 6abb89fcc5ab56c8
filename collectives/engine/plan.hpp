#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/record/measurement.hpp"
#include "base/record/traffic_matrix.hpp"
#include "collectives/operations.hpp"

namespace collbench::collectives {

/// In PlanRequest: each rank is the root once, in rows of its own.
inline constexpr int kEveryRoot = -1;

/// What the user asked to measure.
struct PlanRequest {
  std::vector<OperationId> operations;
  std::vector<std::uint64_t> sizes_bytes;
  std::vector<DataType> types{DataType::float32};
  std::vector<Reduction> reductions{Reduction::sum};  ///< for the operations that reduce
  bool out_of_place = true;
  bool in_place = false;  ///< an operation without an in-place form runs out of place instead
  std::vector<std::string> algorithms{kLibraryChoice};
  int root = 0;                                                       ///< of the operations that have one
  BufferUse buffers;                                                  ///< of all rows
  std::uint64_t elements_per_call = std::numeric_limits<int>::max();  ///< the most that a call takes
};

/// The rows in the order they are shown: by operation, type, reduction, root, place, algorithm, size. A size
/// that does not divide is what really runs, and two sizes that run as the same stand once. `traffic` is what
/// AllToAllv moves, for as many ranks. Throws Error (usage) for a count that a call cannot take, for a root
/// that there is not, and for more than 10,000 rows.
[[nodiscard]] std::vector<RowKey> plan_rows(const PlanRequest& request, int ranks,
                                            const TrafficMatrix& traffic);

/// The row of a plan for another number of ranks: of as many bytes, as far as they divide.
[[nodiscard]] RowKey row_for_ranks(const RowKey& row, int ranks, const PlanRequest& request);

/// first, first × factor, …, and `last` itself as the last one. `factor` > 1.
[[nodiscard]] std::vector<std::uint64_t> geometric_sizes(std::uint64_t first, std::uint64_t last,
                                                         double factor);

/// first, first + step, …, and `last` itself as the last one. `step` > 0. Throws Error (usage) for more than
/// 10,000.
[[nodiscard]] std::vector<std::uint64_t> arithmetic_sizes(std::uint64_t first, std::uint64_t last,
                                                          std::uint64_t step);

}  // namespace collbench::collectives
