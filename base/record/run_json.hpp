#pragma once
#include <string>
#include <string_view>

#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"
#include "base/record/run.hpp"

namespace collbench {

/// The run record as docs/run.schema.json and docs/formats.md describe it: SI base units, one row per line,
/// the rates of each row added for scripts. Never throws for its content: what is not a finite number
/// becomes null, and bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string to_json_text(const Run& run);

/// The run that `to_json_text` wrote; keys that it does not know are passed over, and rates are derived anew.
/// Throws Error (usage) that names `file_name` and the place in it: a line and column where the text is not
/// JSON, the path of a key that is missing or of another kind, a schema version newer than this program's.
[[nodiscard]] Run run_from_json_text(std::string_view text, std::string_view file_name);

/// The same as JSON values: what a stream's line holds.
[[nodiscard]] Json run_to_json(const Run& run);
[[nodiscard]] Run run_from_json(const JsonReader& json, std::string_view file_name);

}  // namespace collbench
