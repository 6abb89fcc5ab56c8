#include "analysis/doctor/fleet_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "analysis/report/text_layout.hpp"
#include "base/host_name.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "topology/doctor/gpu_query.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::analysis {
namespace {

constexpr std::array<FleetKey, 8> kKeys{{
    {FleetFact::gpus, "gpus", FleetValue::count, "nvidia-smi -q"},
    {FleetFact::gpu_model, "gpu_model", FleetValue::text, "nvidia-smi -q"},
    {FleetFact::nvlinks, "nvlinks", FleetValue::count, "nvidia-smi nvlink -s"},
    {FleetFact::nvlink_fabric, "nvlink_fabric", FleetValue::text, "nvidia-smi -q"},
    {FleetFact::ecc, "ecc", FleetValue::flag, "nvidia-smi -q"},
    {FleetFact::driver, "driver", FleetValue::text, "nvidia-smi -q"},
    {FleetFact::nics, "nics", FleetValue::count, "ibv_devinfo -v, or /sys"},
    {FleetFact::nic_firmware, "nic_firmware", FleetValue::text, "ibv_devinfo -v, or ibstat"},
}};

const FleetKey& key_of(FleetFact fact) { return kKeys.at(static_cast<std::size_t>(fact)); }

/// What the evidence says of a fact: each value once, and whether every device has one.
struct Seen {
  std::set<std::string> values{};
  bool is_whole = false;
};

template <typename Device, typename ValueOf>
Seen of_devices(const std::vector<Device>& devices, const ValueOf& value_of) {
  Seen seen{{}, !devices.empty()};
  for (const Device& device : devices) {
    const std::optional<std::string> value = value_of(device);
    if (value)
      seen.values.insert(*value);
    else
      seen.is_whole = false;
  }
  return seen;
}

std::optional<std::string> count_text(const topology::Fact<int>& fact) {
  return fact.known() ? std::optional(fleet_value(*fact.value)) : std::nullopt;
}

Seen count_of(const topology::Host& host, topology::DeviceKind kind, std::size_t devices) {
  if (host.sources.empty() || !topology::lists_all(host, kind)) return {};
  return {{fleet_value(static_cast<int>(devices))}, true};
}

/// The mode in force of each GPU, in the text of nvidia-smi -q and in its XML.
Seen ecc_of(const topology::Evidence& evidence) {
  Seen seen;
  std::set<std::string> gpus;
  for (const topology::QueryLine& line : topology::query_lines(evidence)) {
    const bool is_mode = line.key == "current_ecc" || (line.section == "ecc mode" && line.key == "Current");
    if (!is_mode) continue;
    gpus.insert(line.gpu);
    const bool is_on = line.value == "Enabled";
    seen.values.insert(is_on || line.value == "Disabled" ? fleet_value(is_on) : line.value);
  }
  seen.is_whole = !gpus.empty() && gpus.size() >= evidence.host.gpus.size();
  return seen;
}

Seen seen_of(FleetFact fact, const topology::Evidence& evidence) {
  using topology::Gpu;
  using topology::Nic;
  const topology::Host& host = evidence.host;
  switch (fact) {
    case FleetFact::gpus:
      return count_of(host, topology::DeviceKind::gpu, host.gpus.size());
    case FleetFact::nics:
      return count_of(host, topology::DeviceKind::nic, host.nics.size());
    case FleetFact::ecc:
      return ecc_of(evidence);
    case FleetFact::driver:
      return host.driver_version.known() ? Seen{{*host.driver_version.value}, true} : Seen{};
    case FleetFact::gpu_model:
      return of_devices(host.gpus, [](const Gpu& gpu) { return gpu.model.value; });
    case FleetFact::nvlinks:
      return of_devices(host.gpus, [](const Gpu& gpu) { return count_text(gpu.nvlinks_active); });
    case FleetFact::nvlink_fabric:
      return of_devices(host.gpus, [](const Gpu& gpu) { return gpu.fabric_state.value; });
    case FleetFact::nic_firmware:
      return of_devices(host.nics, [](const Nic& nic) { return nic.firmware.value; });
  }
  return {};
}

std::string either(const std::vector<std::string>& values) {
  return fmt::format("{}", fmt::join(values, " or "));
}

/// "gpus 7 (8 expected)"; "ecc (nvidia-smi -q)" of what is not known.
std::string held_words(const HeldHost& host, const HeldFact& held) {
  const FleetKey& key = key_of(held.fact);
  return held.match == FleetMatch::differs
             ? fmt::format("{} {} ({} expected)", key.name, fmt::join(held.seen, " and "),
                           either(host.expected.at(held.fact)))
             : fmt::format("{} ({})", key.name, key.needs);
}

std::string host_line(const HeldHost& host) {
  if (!host.is_listed) return fmt::format("{}: not in the fleet file ({})", host.host, host.evidence);
  if (host.evidence.empty()) return fmt::format("{}: no evidence", host.host);
  std::vector<std::string> differs;
  std::vector<std::string> not_known;
  for (const HeldFact& held : host.facts) {
    if (held.match == FleetMatch::as_expected) continue;
    (held.match == FleetMatch::differs ? differs : not_known).push_back(held_words(host, held));
  }
  std::string line = host.host + ": ";
  if (!differs.empty()) line += fmt::format("differs: {}", fmt::join(differs, ", "));
  if (!not_known.empty())
    line += fmt::format("{}not known: {}", differs.empty() ? "" : "; ", fmt::join(not_known, ", "));
  return differs.size() + not_known.size() == 0
             ? fmt::format("{}: {} of {} as expected", host.host, host.facts.size(), host.facts.size())
             : line;
}

/// Those that differ first.
std::vector<const HeldHost*> worst_first(const FleetComparison& comparison) {
  const auto rank = [](const HeldHost& host) {
    return host.match() == FleetMatch::differs ? 0 : host.match() == FleetMatch::not_known ? 1 : 2;
  };
  std::vector<const HeldHost*> sorted;
  for (const HeldHost& host : comparison.hosts) sorted.push_back(&host);
  std::ranges::sort(sorted, {},  // equal ones as they came
                    [&rank](const HeldHost* host) { return std::pair(rank(*host), host); });
  return sorted;
}

}  // namespace

std::span<const FleetKey> fleet_keys() { return kKeys; }

std::string fleet_value(int count) { return fmt::format("{}", count); }
std::string fleet_value(bool flag) { return flag ? "on" : "off"; }

std::vector<HeldFact> hold_against(const ExpectedFacts& expected, const topology::Evidence& evidence) {
  std::vector<HeldFact> all;
  for (const auto& [fact, values] : expected) {
    const Seen seen = seen_of(fact, evidence);
    const bool differs = std::ranges::any_of(seen.values, [&of = values](const std::string& value) {
      return std::ranges::find(of, value) == of.end();
    });
    all.push_back({fact,
                   differs         ? FleetMatch::differs
                   : seen.is_whole ? FleetMatch::as_expected
                                   : FleetMatch::not_known,
                   {seen.values.begin(), seen.values.end()}});
  }
  return all;
}

FleetMatch HeldHost::match() const {
  const auto has = [this](FleetMatch wanted) {
    return std::ranges::any_of(facts, [wanted](const HeldFact& held) { return held.match == wanted; });
  };
  if (has(FleetMatch::differs)) return FleetMatch::differs;
  return evidence.empty() || !is_listed || has(FleetMatch::not_known) ? FleetMatch::not_known
                                                                      : FleetMatch::as_expected;
}

bool FleetComparison::is_as_expected() const {
  return std::ranges::all_of(hosts,
                             [](const HeldHost& host) { return host.match() == FleetMatch::as_expected; });
}

FleetComparison compare_with_fleet(std::string file, const std::vector<ExpectedHost>& fleet,
                                   const std::vector<MachineEvidence>& machines) {
  FleetComparison comparison{std::move(file), {}};
  std::vector<bool> is_listed(machines.size(), false);
  for (const ExpectedHost& host : fleet) {
    bool any = false;
    for (std::size_t i = 0; i < machines.size(); ++i) {
      if (!is_same_host(machines[i].host, host.name)) continue;
      any = is_listed[i] = true;
      comparison.hosts.push_back(
          {host.name, machines[i].path, true, host.facts, hold_against(host.facts, machines[i].evidence)});
    }
    if (!any) comparison.hosts.push_back({.host = host.name});
  }
  for (std::size_t i = 0; i < machines.size(); ++i)
    if (!is_listed[i])
      comparison.hosts.push_back(
          {.host = machines[i].host, .evidence = machines[i].path, .is_listed = false});
  return comparison;
}

std::string fleet_check_summary(const FleetComparison& comparison) {
  std::size_t without = 0;
  std::size_t unlisted = 0;
  std::array<std::size_t, 3> of{};
  for (const HeldHost& host : comparison.hosts) {
    if (!host.is_listed)
      ++unlisted;
    else if (host.evidence.empty())
      ++without;
    else
      ++of.at(static_cast<std::size_t>(host.match()));
  }
  return fmt::format("{}: {}: {} as expected, {} otherwise, {} not known in part, {} without evidence{}",
                     comparison.file, counted(comparison.hosts.size() - unlisted, "host"), of[0], of[1],
                     of[2], without, unlisted > 0 ? fmt::format("; {} not in the file", unlisted) : "");
}

std::string fleet_check_lines(const FleetComparison& comparison, std::string_view format,
                              const TextOptions& options) {
  const bool text = format == "text";
  const std::string summary = fleet_check_summary(comparison);
  std::string lines =
      text ? wrap(summary, options.columns, "", "  ") : fmt::format("**{}**\n\n", markdown_text(summary));
  for (const HeldHost* host : worst_first(comparison))
    lines += text ? wrap(host_line(*host), options.columns, "", "  ")
                  : fmt::format("- {}\n", markdown_text(host_line(*host)));
  return text ? page_text(lines) : lines;
}

Json fleet_check_json(const FleetComparison& comparison) {
  constexpr std::array<std::string_view, 3> kMatches{"as_expected", "differs", "not_known"};
  Json json{{"file", one_line(comparison.file)},
            {"summary", one_line(fleet_check_summary(comparison))},
            {"hosts", Json::array()}};
  for (const HeldHost& host : comparison.hosts) {
    Json each{{"host", one_line(host.host)},
              {"evidence", one_line(host.evidence)},
              {"in_file", host.is_listed},
              {"match", kMatches.at(static_cast<std::size_t>(host.match()))},
              {"facts", Json::array()}};
    for (const HeldFact& held : host.facts) {
      std::vector<std::string> seen;
      for (const std::string& value : held.seen) seen.push_back(one_line(value));
      each["facts"].push_back({{"key", key_of(held.fact).name},
                               {"match", kMatches.at(static_cast<std::size_t>(held.match))},
                               {"expected", host.expected.at(held.fact)},
                               {"seen", seen}});
    }
    json["hosts"].push_back(std::move(each));
  }
  return json;
}

}  // namespace collbench::analysis
