#include "base/record/json_fields.hpp"

#include "base/text_input.hpp"
#include "base/text_sinks.hpp"

namespace collbench {
namespace {

constexpr std::int64_t kMaxNode = 1'000'000'000;  // an int

}  // namespace

std::string json_line(const Json& value) {
  return json_text(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string json_document(const Json& value, int indent) {
  return json_text(value.dump(indent, ' ', false, Json::error_handler_t::replace)) + "\n";
}

DataType data_type_from_json(const JsonReader& json) {
  const DataTypeTraits* found = find_data_type(json.text());
  if (found == nullptr) throw json.expected("the name of a data type");
  return found->id;
}

Reduction reduction_from_json(const JsonReader& json) {
  const Reduction* found = find_reduction(json.text());
  if (found == nullptr) throw json.expected("the name of a reduction");
  return *found;
}

std::string host_name_from_json(const JsonReader& json) {
  std::string host = json.text();
  if (!is_host_name(host)) throw json.expected("the name of a host");
  return host;
}

std::string rank_host_from_json(const JsonReader& json) {
  std::string host = json.text();
  const std::size_t end = std::min(host.find('#'), host.size());
  const bool has_node = end == host.size() || parse_integer(host.substr(end + 1), 0, kMaxNode);
  if (!host.empty() && (!is_host_name(host.substr(0, end)) || !has_node))
    throw json.expected("the name of a host");
  return host;
}

}  // namespace collbench
