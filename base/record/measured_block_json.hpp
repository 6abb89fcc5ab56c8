#pragma once
#include <vector>

#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"
#include "base/record/measured_block.hpp"

namespace collbench {

/// A block as a line of a stream holds it (docs/formats.md).
[[nodiscard]] Json block_to_json(const MeasuredBlock& block);

/// Throws Error (usage) that names the place in the file; also for a row or a rank that the run does not
/// have.
[[nodiscard]] MeasuredBlock block_from_json(const JsonReader& json, std::size_t rows, std::size_t ranks);

/// What a row of a record has in common with a block of a stream.
[[nodiscard]] Json rank_times_to_json(const std::vector<RankTimes>& ranks);
[[nodiscard]] std::vector<RankTimes> rank_times_from_json(const JsonReader& json);
[[nodiscard]] Json wrong_to_json(const std::vector<WrongElements>& wrong);
[[nodiscard]] std::vector<WrongElements> wrong_from_json(const JsonReader& json);

}  // namespace collbench
