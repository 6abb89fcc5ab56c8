#include "src/cli/fleet_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/text_input.hpp"
#include "src/cli/config_file.hpp"
#include "src/cli/host_list.hpp"

namespace collbench::program {
namespace {

using analysis::ExpectedFacts;
using analysis::FleetKey;
using analysis::FleetValue;

/// As a configuration file's, for the same reason (config_file.cpp): toml++ takes a stack frame for each part
/// of a key.
constexpr std::size_t kMaxFleetBytes = std::size_t{16} << 10U;
constexpr int kMaxDevices = 1'000'000;

class FleetReader {
 public:
  explicit FleetReader(const std::string& file) : file_(file) {}

  [[nodiscard]] std::vector<analysis::ExpectedHost> hosts(std::string_view text) {
    const toml::table document = parse(text);
    std::vector<std::pair<std::string, const toml::table*>> sections;
    ExpectedFacts of_all;
    for (const auto& [key, value] : document) {
      if (const toml::table* section = value.as_table())
        sections.emplace_back(std::string(key.str()), section);
      else if (key.str() == "hosts")
        for (const std::string& host : hosts_of(text_of(value), value)) add(host, of_all);
      else
        add_fact(key, value, of_all);
    }
    for (analysis::ExpectedHost& host : hosts_) host.facts = of_all;
    std::ranges::sort(sections, {}, [](const auto& each) { return each.second->source().begin.line; });
    for (const auto& [names, section] : sections) add_section(names, *section, of_all);
    if (hosts_.empty())
      throw usage_error(file_, "it names no host", "write hosts = \"node[01-16]\" as its first line");
    return std::move(hosts_);
  }

 private:
  [[nodiscard]] Error refusal(unsigned line, const std::string& what, const std::string& next) const {
    return usage_error(fmt::format("{}:{}", file_, line), what, next);
  }
  [[nodiscard]] Error refusal(const toml::node& at, const std::string& what, const std::string& next) const {
    return refusal(at.source().begin.line, what, next);
  }

  [[nodiscard]] toml::table parse(std::string_view text) const {
    constexpr const char* kForm = "write gpus = 8, with text in quotes, and [\"node[03-04]\"] for some hosts";
    if (const auto line = line_of_stray_character(text))
      throw refusal(static_cast<unsigned>(*line), "a character beyond ASCII stands outside of quotes", kForm);
    try {
      return toml::parse(text, file_);
    } catch (const toml::parse_error& error) {
      throw refusal(error.source().begin.line, std::string(error.description()), kForm);
    }
  }

  [[nodiscard]] std::string text_of(const toml::node& value) const {
    const auto* text = value.as_string();
    if (text == nullptr) throw refusal(value, "a text was expected", "write it in quotes");
    return text->get();
  }

  [[nodiscard]] std::vector<std::string> hosts_of(const std::string& names, const toml::node& at) const {
    if (names.starts_with('@'))
      throw refusal(at, "a file of hosts is not read here", "write the hosts: node[01-16]");
    return parse_hosts(names, fmt::format("{}:{}", file_, at.source().begin.line));
  }

  [[nodiscard]] std::string value_of(const FleetKey& key, const toml::node& value) const {
    if (const auto* number = value.as_integer(); key.value == FleetValue::count && number != nullptr &&
                                                 number->get() >= 0 && number->get() <= kMaxDevices)
      return analysis::fleet_value(static_cast<int>(number->get()));
    if (const auto* flag = value.as_boolean(); key.value == FleetValue::flag && flag != nullptr)
      return analysis::fleet_value(flag->get());
    if (const auto* text = value.as_string(); key.value == FleetValue::text && text != nullptr)
      return text->get();
    const std::string form = key.value == FleetValue::count  ? "a number such as 8"
                             : key.value == FleetValue::flag ? "true or false"
                                                             : "a text in quotes, or a list of them";
    throw refusal(value, fmt::format("{} is of another kind", key.name), "write " + form);
  }

  void add_fact(const toml::key& key, const toml::node& value, ExpectedFacts& facts) const {
    const auto keys = analysis::fleet_keys();
    const auto known = std::ranges::find(keys, key.str(), &FleetKey::name);
    if (known == keys.end()) {
      std::vector<std::string_view> names{"hosts"};
      for (const FleetKey& each : keys) names.push_back(each.name);
      throw refusal(key.source().begin.line, fmt::format("unknown key '{}'", excerpt(key.str())),
                    fmt::format("keys are {}", fmt::join(names, ", ")));
    }
    std::vector<std::string> values;
    if (const toml::array* list = value.as_array()) {
      for (const toml::node& each : *list) values.push_back(value_of(*known, each));
      if (values.empty()) throw refusal(value, fmt::format("{} has no value", key.str()), "leave it out");
    } else {
      values.push_back(value_of(*known, value));
    }
    facts[known->fact] = std::move(values);
  }

  void add(const std::string& name, const ExpectedFacts& facts) {
    slot_of_[name.substr(0, name.find('.'))] = hosts_.size();
    hosts_.push_back({name, facts});
  }

  /// A host that only a section names is one of the fleet, too.
  void add_section(const std::string& names, const toml::table& section, const ExpectedFacts& of_all) {
    ExpectedFacts own;
    for (const auto& [key, value] : section) add_fact(key, value, own);
    for (const std::string& host : hosts_of(names, section)) {
      const std::string name = host.substr(0, host.find('.'));
      if (!in_sections_.insert(name).second)
        throw refusal(section, fmt::format("{} is in two sections", excerpt(name)), "name it in one");
      if (!slot_of_.contains(name)) add(host, of_all);
      for (const auto& [fact, values] : own) hosts_[slot_of_.at(name)].facts[fact] = values;
    }
  }

  const std::string& file_;
  std::vector<analysis::ExpectedHost> hosts_{};
  std::map<std::string, std::size_t> slot_of_{};
  std::set<std::string> in_sections_{};
};

}  // namespace

std::vector<analysis::ExpectedHost> parse_fleet_file(std::string_view text, const std::string& file) {
  if (text.size() > kMaxFleetBytes)
    throw usage_error(file, fmt::format("is longer than {} bytes", kMaxFleetBytes),
                      "write hosts with brackets: node[01-16]");
  require_text(text, file, "a fleet file (TOML)");
  return FleetReader(file).hosts(text);
}

}  // namespace collbench::program
