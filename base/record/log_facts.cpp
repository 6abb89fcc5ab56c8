#include "base/record/log_facts.hpp"

#include <concepts>
#include <type_traits>

namespace collbench {
namespace {

template <class Value>
Value value_of(const JsonReader& json) {
  if constexpr (std::same_as<Value, std::string>) {
    return json.text();
  } else if constexpr (std::same_as<Value, bool>) {
    return json.boolean();
  } else if constexpr (std::same_as<Value, double>) {
    return json.number(kQuantity);
  } else if constexpr (std::integral<Value>) {
    return json.integer<Value>();
  } else {
    Value values;
    for (const JsonReader& item : json.items()) values.push_back(value_of<typename Value::value_type>(item));
    return values;
  }
}

/// Calls `visit` with the key and the member of every fact that has a line: both directions share the list.
template <class Facts, class Visit>
void visit_facts(Facts& facts, Visit&& visit) {
  visit("program", facts.program);
  visit("command", facts.command);
  visit("version", facts.version);
  visit("nccl", facts.nccl);
  visit("operation", facts.operation);
  visit("gpu", facts.gpu);
  visit("gpus_per_process", facts.gpus_per_process);
  visit("threads_per_process", facts.threads_per_process);
  visit("ranks", facts.ranks);
  visit("nodes", facts.nodes);
  visit("ranks_per_node", facts.ranks_per_node);
  visit("hosts", facts.hosts);
  visit("network", facts.network);
  visit("link_layer", facts.link_layer);
  visit("nics", facts.nics);
  visit("nic_bytes_per_second", facts.nic_bytes_per_second);
  visit("gpu_direct", facts.gpu_direct);
  visit("channels", facts.channels);
  visit("nvls_channels", facts.nvls_channels);
  visit("ring_bytes_per_second", facts.ring_bytes_per_second);
  visit("nvlink_least_bytes_per_second", facts.nvlink_least_bytes_per_second);
  visit("nvlink_most_bytes_per_second", facts.nvlink_most_bytes_per_second);
  visit("out_of_bounds", facts.out_of_bounds);
  visit("latency_seconds", facts.latency_seconds);
  visit("topology", facts.topology);
}

}  // namespace

Json log_facts_to_json(const LogFacts& facts) {
  Json json = {{"file", facts.file}, {"format", facts.format}};
  visit_facts(facts, [&](const char* key, const auto& fact) {
    json[key] = fact ? Json({{"value", fact->value}, {"line", fact->line}}) : Json(nullptr);
  });
  json["connections"] = array_of(facts.connections, [](const LogConnections& each) -> Json {
    return {{"via", each.via}, {"gpu_direct", each.gpu_direct}, {"count", each.count}, {"line", each.line}};
  });
  json["tunings"] = array_of(facts.tunings, [](const LogTuning& each) -> Json {
    return {{"size_bytes", each.size_bytes},
            {"algorithm", each.algorithm},
            {"protocol", each.protocol},
            {"channels", each.channels},
            {"line", each.line}};
  });
  json["left_out"] = array_of(facts.left_out, [](const LogSkipped& each) -> Json {
    return {{"what", each.what}, {"count", each.count}, {"line", each.line}};
  });
  json["notes"] = facts.notes;
  return json;
}

LogFacts log_facts_from_json(const JsonReader& json) {
  LogFacts facts;
  facts.file = json.at("file").text();
  facts.format = json.at("format").text();
  visit_facts(facts, [&](const char* key, auto& fact) {
    using Value = std::decay_t<decltype(fact->value)>;
    if (const auto found = json.find(key)) {
      fact = {value_of<Value>(found->at("value")), found->at("line").template integer<int>()};
    }
  });
  if (const auto hosts = json.find("hosts")) {
    for (const JsonReader& host : hosts->at("value").items()) (void)rank_host_from_json(host);
  }
  for (const JsonReader& each : json.at("connections").items()) {
    facts.connections.push_back({each.at("via").text(), each.at("gpu_direct").boolean(),
                                 each.at("count").integer<std::uint64_t>(), each.at("line").integer<int>()});
  }
  for (const JsonReader& each : json.at("tunings").items()) {
    facts.tunings.push_back({each.at("size_bytes").integer<std::uint64_t>(), each.at("algorithm").text(),
                             each.at("protocol").text(), each.at("channels").integer<int>(),
                             each.at("line").integer<int>()});
  }
  for (const JsonReader& each : json.at("left_out").items()) {
    facts.left_out.push_back(
        {each.at("what").text(), each.at("count").integer<std::uint64_t>(), each.at("line").integer<int>()});
  }
  facts.notes = texts_from_json(json.at("notes"));
  return facts;
}

}  // namespace collbench
