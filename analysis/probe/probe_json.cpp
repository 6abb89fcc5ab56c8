#include "analysis/probe/siblings.hpp"

#include "base/json_reader.hpp"

namespace collbench::analysis {
namespace {

constexpr const char* kRecordName = "collbench probe";

}  // namespace

std::string probe_json(const ProbeRecord& record) {
  Json document{{"record", kRecordName}};
  FieldWriter visit(document);
  each_field(visit, record);
  return json_document(document);
}

ProbeRecord probe_from_json(std::string_view text, const std::string& file) {
  const nlohmann::json document = parse_json(text, file);
  return probe_from_json(JsonReader(document, file));
}

ProbeRecord probe_from_json(const JsonReader& root) {
  if (root.at("record").text() != kRecordName) throw root.at("record").expected("\"collbench probe\"");
  auto record = record_from_json<ProbeRecord>(root);
  for (const JsonReader& each : root.at("measurements").items()) {
    const JsonReader parts = each.at("parts");
    for (const JsonReader& part : parts.items())
      if (part.at("windows").items().empty()) throw part.at("windows").expected("a rate at least");
    if (parts.items().empty()) throw parts.expected("a part at least");
  }
  return record;
}

}  // namespace collbench::analysis
