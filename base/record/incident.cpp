#include "base/record/incident.hpp"

#include "base/error.hpp"
#include "base/json_reader.hpp"

namespace collbench {

std::optional<Incident> incident_from_line(std::string_view line) {
  if (line.empty()) return std::nullopt;
  try {
    const nlohmann::json document = parse_json_line(line, "incident");
    return record_from_json<Incident>(JsonReader(document, "incident"));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace collbench
