#pragma once
#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"
#include "base/record/log_facts.hpp"

namespace collbench {

/// What a log says, in a run record (docs/formats.md): each fact as {"value", "line"}, null for none.
[[nodiscard]] Json log_facts_to_json(const LogFacts& facts);

/// Throws Error (usage) that names the place in the file.
[[nodiscard]] LogFacts log_facts_from_json(const JsonReader& json);

}  // namespace collbench
