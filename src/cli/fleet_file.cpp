#include "src/cli/fleet_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
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

constexpr std::size_t kMaxHosts = 100'000;  // parse_hosts' own of a list
constexpr int kMaxDevices = 1'000'000;

class FleetReader {
 public:
  explicit FleetReader(const std::string& file) : file_(file) {}

  [[nodiscard]] std::vector<analysis::ExpectedHost> hosts(const toml::table& document) {
    ExpectedFacts of_all;
    std::vector<std::pair<std::string, const toml::table*>> sections;
    for (const auto& [key, value] : document) {
      if (value.is_table()) {
        sections.emplace_back(key.str(), value.as_table());
      } else if (key.str() != "hosts") {
        add_fact(key, value, of_all);
      } else if (const auto* names = value.as_string()) {
        for (const std::string& host : hosts_of(names->get(), value)) add(host, value);
      } else {
        throw refusal(value, "hosts is no text", "write hosts = \"node[01-16]\"");
      }
    }
    std::ranges::sort(sections, {}, [](const auto& each) { return each.second->source().begin.line; });
    for (const auto& [names, section] : sections) add_section(names, *section);
    if (hosts_.empty())
      throw usage_error(file_, "it names no host", "write hosts = \"node[01-16]\" as its first line");
    for (analysis::ExpectedHost& host : hosts_) {
      host.facts.insert(of_all.begin(), of_all.end());  // what is there stays
      if (host.facts.empty())
        throw usage_error(file_, fmt::format("it expects nothing of {}", host.name),
                          fmt::format("write what, such as gpus = 8; {}", known_keys()));
    }
    return std::move(hosts_);
  }

 private:
  [[nodiscard]] Error refusal(const toml::node& at, const std::string& what, const std::string& next) const {
    return usage_error(fmt::format("{}:{}", file_, at.source().begin.line), what, next);
  }

  [[nodiscard]] static std::string known_keys() {
    std::vector<std::string_view> names;
    for (const FleetKey& each : analysis::fleet_keys()) names.push_back(each.name);
    return fmt::format("keys are hosts, {}", fmt::join(names, ", "));
  }

  [[nodiscard]] std::vector<std::string> hosts_of(const std::string& names, const toml::node& at) const {
    if (names.starts_with('@'))
      throw refusal(at, "a file of hosts is not read here", "write the hosts: node[01-16]");
    return parse_hosts(names, fmt::format("{}:{}", file_, at.source().begin.line));
  }

  [[nodiscard]] std::string value_of(const FleetKey& key, const toml::node& value) const {
    const auto* number = value.as_integer();
    if (key.value == FleetValue::count && number != nullptr && number->get() > 0 &&
        number->get() <= kMaxDevices)
      return fmt::format("{}", number->get());
    if (key.value == FleetValue::flag && value.is_boolean()) return *value.value<bool>() ? "on" : "off";
    if (key.value == FleetValue::text && value.is_string() && !value.as_string()->get().empty())
      return value.as_string()->get();
    const std::string form = key.value == FleetValue::count  ? "a number such as 8"
                             : key.value == FleetValue::flag ? "true or false"
                                                             : "a text in quotes, or a list of them";
    throw refusal(value, fmt::format("the value of {} is of another kind", key.name), "write " + form);
  }

  void add_fact(const toml::key& key, const toml::node& value, ExpectedFacts& facts) const {
    const auto keys = analysis::fleet_keys();
    const auto known = std::ranges::find(keys, key.str(), &FleetKey::name);
    if (known == keys.end())
      throw refusal(value, fmt::format("unknown key '{}'", excerpt(key.str())), known_keys());
    std::set<std::string>& values = facts[known->fact];
    const toml::array* list = value.as_array();
    if (list == nullptr) values.insert(value_of(*known, value));
    if (list != nullptr && list->empty())
      throw refusal(value, fmt::format("{} has no value", key.str()), "leave it out");
    if (list != nullptr)
      for (const toml::node& each : *list) values.insert(value_of(*known, each));
  }

  analysis::ExpectedHost& add(const std::string& name, const toml::node& at) {
    if (!slot_of_.emplace(host_key(name), hosts_.size()).second)
      throw refusal(at, fmt::format("{} is there twice", name),
                    "name it once (names count up to the first dot, in any case)");
    if (hosts_.size() == kMaxHosts)
      throw refusal(at, fmt::format("more than {} hosts", kMaxHosts), "name fewer");
    return hosts_.emplace_back(analysis::ExpectedHost{name, {}});
  }

  /// A host that only a section names is one of the fleet, too.
  void add_section(const std::string& names, const toml::table& section) {
    ExpectedFacts own;
    for (const auto& [key, value] : section) add_fact(key, value, own);
    if (own.empty()) throw refusal(section, "the section expects nothing", known_keys());
    for (const std::string& host : hosts_of(names, section)) {
      const auto slot = slot_of_.find(host_key(host));
      ExpectedFacts& facts = slot == slot_of_.end() ? add(host, section).facts : hosts_[slot->second].facts;
      if (!facts.empty())
        throw refusal(section, fmt::format("{} is in two sections", host), "name it in one");
      facts = own;
    }
  }

  const std::string& file_;
  std::vector<analysis::ExpectedHost> hosts_{};
  std::map<std::string, std::size_t> slot_of_{};
};

}  // namespace

std::vector<analysis::ExpectedHost> parse_fleet_file(std::string_view text, const std::string& file) {
  require_text(text, file, "a fleet file (TOML)", kMaxTomlBytes);
  return FleetReader(file).hosts(
      parse_toml(text, file, "write gpus = 8, with text in quotes, and [\"node[03-04]\"] for some hosts"));
}

}  // namespace collbench::program
