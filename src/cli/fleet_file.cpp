#include "src/cli/fleet_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/host_name.hpp"
#include "base/text_input.hpp"
#include "src/cli/host_list.hpp"
#include "src/cli/toml_text.hpp"

namespace collbench::program {
namespace {

using analysis::ExpectedFacts;
using analysis::FleetKey;
using analysis::FleetValue;

constexpr std::size_t kMaxFleetHosts = 100'000;  // as parse_hosts takes in one list
constexpr int kMaxDevices = 1'000'000;
constexpr std::string_view kHostsKey = "hosts";

Error fleet_refusal(const toml::node& at, const std::string& what, const std::string& next) {
  return usage_error(fmt::format("{}:{}", *at.source().path, at.source().begin.line), what, next);
}

std::optional<std::string> fleet_value_of(FleetValue kind, const toml::node& value) {
  const auto* number = value.as_integer();
  if (kind == FleetValue::count && number != nullptr && **number >= 0 && **number <= kMaxDevices)
    return fmt::format("{}", **number);
  if (kind == FleetValue::flag && value.is_boolean()) return **value.as_boolean() ? "on" : "off";
  if (kind == FleetValue::text && value.is_string() && !(*value.as_string())->empty())
    return **value.as_string();
  return std::nullopt;
}

/// The keys of a table but hosts and sections.
ExpectedFacts fleet_facts_of(const toml::table& table) {
  constexpr std::array<std::string_view, 3> kForms{"a number such as 8, up to 1,000,000", "a text in quotes",
                                                   "true or false"};
  const auto keys = analysis::fleet_keys();
  std::vector<std::string_view> names{kHostsKey};
  for (const FleetKey& each : keys) names.push_back(each.name);
  ExpectedFacts facts;
  for (const auto& [key, value] : table) {
    if (key.str() == kHostsKey || value.is_table()) continue;
    const auto known = std::ranges::find(keys, key.str(), &FleetKey::name);
    if (known == keys.end())
      throw fleet_refusal(value, fmt::format("unknown key '{}'", excerpt(key.str())),
                          fmt::format("keys are {}", fmt::join(names, ", ")));
    auto& values = facts[static_cast<analysis::FleetFact>(known - keys.begin())];
    const toml::array* list = value.as_array();
    for (std::size_t i = 0; i < (list == nullptr ? 1 : list->size()); ++i)
      values.insert(fleet_value_of(known->value, list == nullptr ? value : (*list)[i]).value_or(""));
    if (values.empty() || values.contains(""))
      throw fleet_refusal(
          value, fmt::format("{} cannot be that", key.str()),
          fmt::format("write {}, or a list", kForms.at(static_cast<std::size_t>(known->value))));
  }
  return facts;
}

/// A key is on one line: no more than kMaxTomlBytes with that of its section.
void require_short_lines(std::string_view text, const std::string& file) {
  std::size_t line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end - begin > kMaxTomlBytes / 2)
      throw usage_error(fmt::format("{}:{}", file, line),
                        fmt::format("the line has more than {} characters", kMaxTomlBytes / 2),
                        "name fewer hosts in it; node[01-16] is sixteen, and there may be many sections");
    begin = end + 1;
  }
}

std::vector<std::string> fleet_hosts_of(const std::string& names, const toml::node& at) {
  if (names.starts_with('@'))
    throw fleet_refusal(at, "a file of hosts is not read here", "write the hosts: node[01-16]");
  return parse_hosts(names, fmt::format("{}:{}", *at.source().path, at.source().begin.line));
}

}  // namespace

std::vector<analysis::ExpectedHost> parse_fleet_file(std::string_view text, const std::string& file) {
  if (!text.empty()) require_text(text, file, "a fleet file (TOML)", kMaxFleetBytes);
  require_short_lines(text, file);
  const toml::table document =
      parse_toml(text, file, "write gpus = 8, with text in quotes, and [\"node[03-04]\"] for some hosts");
  std::vector<analysis::ExpectedHost> fleet;
  std::map<std::string, std::size_t> by_key;  // indices into `fleet`
  // A host that only a section names is one of the fleet, too.
  const auto add = [&fleet, &by_key](const std::string& names, const toml::node& at,
                                     const ExpectedFacts& facts) {
    for (const std::string& name : fleet_hosts_of(names, at)) {
      const auto [slot, is_new] = by_key.try_emplace(host_key(name), fleet.size());
      if (is_new) fleet.push_back({name, {}});
      analysis::ExpectedHost& host = fleet[slot->second];
      if (!is_new && (facts.empty() || !host.facts.empty()))
        throw fleet_refusal(
            at, fmt::format("{} is named twice", name),
            "name it once (names count up to the first dot, in any case), and in one section");
      if (by_key.size() > kMaxFleetHosts)
        throw fleet_refusal(at, fmt::format("more than {} hosts", kMaxFleetHosts), "name fewer");
      host.facts = facts;
    }
  };
  if (const toml::node* hosts = document.get(kHostsKey)) {
    if (!hosts->is_string()) throw fleet_refusal(*hosts, "hosts is no text", "write hosts = \"node[01-16]\"");
    add(**hosts->as_string(), *hosts, {});
  }
  std::map<std::size_t, std::pair<std::string, const toml::node*>> sections;  // by line: in their order
  for (const auto& [names, node] : document)
    if (node.is_table()) sections[node.source().begin.line] = {std::string(names.str()), &node};
  for (const auto& [line, section] : sections) {
    const auto& [names, node] = section;
    const ExpectedFacts facts = fleet_facts_of(*node->as_table());
    if (facts.empty() || facts.size() != node->as_table()->size())
      throw fleet_refusal(*node, "a section has what is expected of its hosts, and nothing else",
                          "write gpus = 8 in it, and a name with dots in quotes: [\"a1.lab\"]");
    add(names, *node, facts);
  }
  if (by_key.empty())
    throw usage_error(file, "it names no host", "write hosts = \"node[01-16]\" as its first line");
  const ExpectedFacts of_all = fleet_facts_of(document);
  for (analysis::ExpectedHost& host : fleet) {
    host.facts.insert(of_all.begin(), of_all.end());  // what its section has stays
    if (host.facts.empty())
      throw usage_error(file, fmt::format("it expects nothing of {}", host.name),
                        "write what, such as gpus = 8");
  }
  return fleet;
}

}  // namespace collbench::program
