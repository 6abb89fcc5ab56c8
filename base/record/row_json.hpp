#pragma once
#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"
#include "base/record/run.hpp"

namespace collbench {

/// A row of a run record (docs/formats.md): its key, what was measured, what was expected, and the rates that
/// follow for `ranks` ranks.
[[nodiscard]] Json row_to_json(const Row& row, int ranks);

/// Rates are passed over: they are derived. Throws Error (usage) that names the place in the file.
[[nodiscard]] Row row_from_json(const JsonReader& json);

}  // namespace collbench
