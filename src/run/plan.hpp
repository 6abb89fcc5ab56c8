#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/record/measurement.hpp"
#include "collectives/engine/backend.hpp"
#include "launch/ranks.hpp"
#include "src/run/make_backend.hpp"
#include "src/run/node_groups.hpp"
#include "src/run/options.hpp"

namespace collbench::program {

struct RunPlan {
  std::vector<RowKey> rows;
  std::uint64_t memory_bytes = 0;  ///< that the rank with the most data needs for the largest row
  std::string left_out{};          ///< --fit: which sizes do not fit, and why; empty: none
};

/// Collective. `host` is this rank's. Throws the same Error on all ranks for an algorithm that no operation
/// has, for rows that no call can take, and for more memory than a host has for each of its ranks.
[[nodiscard]] RunPlan plan_run(const RunOptions& options, const std::string& host, const RunBackend& measured,
                               launch::Ranks& ranks, const TrafficMatrix& traffic);

/// In simulated time every iteration takes the same: one in one pass says it all, unless the user asks for
/// more.
void measure_once(collectives::MeasurementLoopOptions& loop);

/// Whether anything is expected of the rows, which a Step is not: of its compute there is no model.
[[nodiscard]] bool needs_calibration(const RunPlan& plan);

/// What --dry-run prints; `before` is measured before the rows, and GPUs are loaded for `stress` seconds
/// before and after them.
[[nodiscard]] std::string plan_text(const RunPlan& plan, const std::vector<GroupStep>& before,
                                    std::optional<double> stress, const RunOptions& options,
                                    const collectives::Backend& backend, std::size_t ranks);

/// For a person who waits: "pass 7: AllReduce 64 KiB, 3 of 65 rows done, at most 20 s left".
[[nodiscard]] std::string progress_text(const collectives::MeasurementProgress& at,
                                        const std::vector<RowKey>& rows);

}  // namespace collbench::program
