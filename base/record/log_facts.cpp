#include "base/record/log_facts.hpp"

#include "base/record/fields.hpp"
#include "base/text_input.hpp"

namespace collbench {

template <class Fact>
inline constexpr bool kIsLogFact = false;
template <class Value>
inline constexpr bool kIsLogFact<LogFact<Value>> = true;

template <class Fact>
  requires kIsLogFact<std::remove_const_t<Fact>>
static void each_field(auto& visit, Fact& fact) {
  visit("value", fact.value);
  visit("line", fact.line);
}

static void each_field(auto& visit, Either<LogConnections> auto& each) {
  visit("via", each.via);
  visit("gpu_direct", each.gpu_direct);
  visit("count", each.count);
  visit("line", each.line);
}

static void each_field(auto& visit, Either<LogTuning> auto& each) {
  visit("size_bytes", each.size_bytes);
  visit("algorithm", each.algorithm);
  visit("protocol", each.protocol);
  visit("channels", each.channels);
  visit("line", each.line);
}

static void each_field(auto& visit, Either<LogSkipped> auto& each) {
  visit("what", each.what);
  visit("count", each.count);
  visit("line", each.line);
}

static void each_field(auto& visit, Either<LogFacts> auto& facts) {
  visit("file", facts.file);
  visit("format", facts.format);
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
  visit("connections", facts.connections);
  visit("tunings", facts.tunings);
  visit("left_out", facts.left_out);
  visit.older("losses", facts.losses);
  visit("notes", facts.notes);
}

bool uses_sockets(const LogFacts& log) {
  return log.network && lower(log.network->value).find("socket") != std::string::npos;
}

Json log_facts_to_json(const LogFacts& facts) { return record_to_json(facts); }

LogFacts log_facts_from_json(const JsonReader& json) {
  auto facts = record_from_json<LogFacts>(json);
  if (const auto hosts = json.find("hosts")) {
    for (const JsonReader& host : hosts->at("value").items()) (void)rank_host_from_json(host);
  }
  return facts;
}

}  // namespace collbench
