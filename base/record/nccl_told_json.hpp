#pragma once
#include <optional>

#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"
#include "base/record/nccl_told.hpp"

namespace collbench {

/// In a run record (docs/formats.md). What is none is null.
[[nodiscard]] Json nccl_told_to_json(const std::optional<NcclTold>& told);
[[nodiscard]] Json nccl_untold_to_json(const NcclUntold& untold);

/// The members `nccl` of a row and `nccl_untold` of a run, which older records lack. Throw Error (usage) that
/// names the place in the file.
[[nodiscard]] std::optional<NcclTold> nccl_told_in(const JsonReader& row);
[[nodiscard]] NcclUntold nccl_untold_in(const JsonReader& run);

}  // namespace collbench
