#pragma once
#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"
#include "base/record/telemetry.hpp"

namespace collbench {

/// The telemetry of a run record (docs/formats.md), in SI units.
[[nodiscard]] Json telemetry_to_json(const Telemetry& telemetry);

/// Throws Error (usage) that names the place in the file, as row_mark_from_json.
[[nodiscard]] Telemetry telemetry_from_json(const JsonReader& json);

/// One of the marks of a row.
[[nodiscard]] Json row_mark_to_json(const RowMark& mark);
[[nodiscard]] RowMark row_mark_from_json(const JsonReader& json);

}  // namespace collbench
