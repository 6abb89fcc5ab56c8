#pragma once
#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"
#include "base/record/rank_probe.hpp"

namespace collbench {

/// Who was late, as a run record holds it (docs/formats.md).
[[nodiscard]] Json rank_probe_to_json(const RankProbe& probe);

/// Throws Error (usage) that names the place in the file.
[[nodiscard]] RankProbe rank_probe_from_json(const JsonReader& json);

}  // namespace collbench
