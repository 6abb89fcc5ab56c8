#pragma once
#include "base/json_reader.hpp"
#include "base/record/calibration.hpp"
#include "base/record/json_fields.hpp"

namespace collbench {

/// The calibration of a run record (docs/formats.md), in SI units.
[[nodiscard]] Json calibration_to_json(const Calibration& calibration);

/// Throws Error (usage) that names the place in the file.
[[nodiscard]] Calibration calibration_from_json(const JsonReader& json);

}  // namespace collbench
