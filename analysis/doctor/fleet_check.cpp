#include "analysis/doctor/fleet_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/host_name.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "topology/catalog/gpus.hpp"
#include "topology/doctor/gpu_query.hpp"
#include "topology/graph/merge.hpp"
#include "topology/graph/nics.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::analysis {
namespace {

using topology::Evidence;
using topology::Gpu;

constexpr std::array<FleetKey, 8> kKeys{{
    {"gpus", FleetValue::count, "nvidia-smi -q or topo -m"},
    {"gpu_model", FleetValue::text, "nvidia-smi -q"},
    {"nvlinks", FleetValue::count, "nvidia-smi nvlink -s"},
    {"nvlink_fabric", FleetValue::text, "nvidia-smi -q"},
    {"ecc", FleetValue::flag, "nvidia-smi -q"},
    {"driver", FleetValue::text, "nvidia-smi -q"},
    {"nics", FleetValue::count, "doctor save, or nvidia-smi topo -m"},
    {"nic_firmware", FleetValue::text, "doctor save, ibv_devinfo or ibstat"},
}};
const FleetKey& fleet_key(FleetFact fact) { return kKeys.at(static_cast<std::size_t>(fact)); }

/// By match, for a person; in JSON with '_'.
constexpr std::array<std::string_view, 6> kMatches{"differs",  "not known",       "no evidence",
                                                   "not read", "not in the file", "as expected"};
std::string_view match_words(FleetMatch match) { return kMatches.at(static_cast<std::size_t>(match)); }
std::string json_name(FleetMatch match) {
  std::string name(match_words(match));
  std::ranges::replace(name, ' ', '_');
  return name;
}

using FactValue = std::optional<std::string>;
using FactValues = std::vector<FactValue>;              ///< what one source says of each device
using FactOfDevice = std::map<std::string, FactValue>;  ///< by the device's name

/// None for what nvidia-smi writes of what it could not ask, or does not have. Behind a bracket it says that
/// a key is deprecated.
FactValue smi_value(std::string_view text) {
  constexpr std::array<std::string_view, 7> kErrors{"N/A",     "Unknown",  "ERR!", "GPU ",
                                                    "Request", "Function", "Insuf"};
  text = trim(text.substr(0, text.find('[')));
  const auto begins = [text](std::string_view each) { return text.starts_with(each); };
  return text.empty() || std::ranges::any_of(kErrors, begins) ? std::nullopt : FactValue(text);
}

/// A device of which two things are said is not known: two machines, perhaps.
void state_fact(FactOfDevice& values, const std::string& device, const FactValue& value) {
  const auto [at, is_new] = values.try_emplace(device, value);
  if (!is_new && at->second != value) at->second.reset();
}

template <typename Items, typename Reader>
FactValues fact_values(const Items& items, const Reader& read) {
  FactValues values;
  for (const auto& item : items) values.push_back(read(item));
  return values;
}
FactValues fact_values(const FactOfDevice& by_device) {
  return fact_values(by_device, [](const auto& each) { return each.second; });
}
FactValues count_value(std::size_t count) { return {fmt::format("{}", count)}; }

/// `devices`: 0 where their number is not known.
SeenFact seen_by(const std::vector<FactValues>& sources, std::size_t devices) {
  SeenFact seen;
  std::multiset<std::string> whole;
  for (const FactValues& source : sources) {
    std::multiset<std::string> known;
    for (const FactValue& value : source)
      if (value) known.insert(*value);
    seen.values.insert(known.begin(), known.end());
    if (known.size() != source.size() || known.size() != devices || devices == 0) continue;
    seen.is_disputed = seen.is_disputed || (seen.is_whole && known != whole);
    seen.is_whole = true;
    whole = std::move(known);
  }
  return seen;
}

/// How many devices a count says: 0 where it is not known.
std::size_t devices_of(const SeenFact& count) {
  return count.is_whole && !count.is_disputed ? std::stoul(*count.values.begin()) : 0;
}

bool is_read_by(const topology::Host& host, const topology::TopologyReader& reader) {
  return std::ranges::find(host.sources, reader.name, &topology::Source::reader) != host.sources.end();
}

/// What outputs of nvidia-smi -q say, as text or XML.
struct SmiQuery {
  std::vector<FactValues> totals{};             ///< "Attached GPUs" of each
  std::vector<std::set<std::string>> gpus{{}};  ///< that each lists; the first of what has no total
  std::vector<FactValues> drivers{};
  FactOfDevice uuids{}, models{}, fabrics{}, ecc{};  ///< by GPU
};

SmiQuery smi_query(const Evidence& evidence) {
  SmiQuery query;
  for (const topology::QueryLine& line : topology::query_lines(evidence)) {
    // The last line of what was cut may be cut itself; one of XML is closed.
    if (line.line == &evidence.of("nvidia-smi-q").back() && !line.line->text.ends_with('>')) break;
    const FactValue value = smi_value(line.value);
    const std::string& key = line.key;
    if (key == "Attached GPUs" || key == "attached_gpus") {
      query.totals.push_back({value});
      query.gpus.emplace_back();
    } else if (!line.gpu.empty()) {
      query.gpus.back().insert(line.gpu);
    }
    if (key == "Driver Version" || key == "KMD Version" || key == "driver_version" || key == "kmd_version")
      query.drivers.push_back({value});
    if ((key == "GPU UUID" || key == "uuid") && value) state_fact(query.uuids, line.gpu, value);
    if (key == "Product Name" || key == "product_name") state_fact(query.models, line.gpu, value);
    if (line.section == "fabric" && lower(key) == "state") state_fact(query.fabrics, line.gpu, value);
    if (key == "current_ecc" || (line.section == "ecc mode" && key == "Current"))
      state_fact(query.ecc, line.gpu,
                 value == "Enabled"    ? FactValue("on")
                 : value == "Disabled" ? FactValue("off")
                                       : std::nullopt);
  }
  return query;
}

SeenFact gpu_count_of(const Evidence& evidence, const SmiQuery& query) {
  std::vector<FactValues> counts = query.totals;
  for (std::size_t i = 1; i < query.gpus.size(); ++i) counts.push_back(count_value(query.gpus[i].size()));
  const bool has_total = !counts.empty() || is_read_by(evidence.host, topology::kNvidiaSmiTopoReader);
  for (const std::size_t count : evidence.gpu_counts) counts.push_back(count_value(count));
  if (!evidence.host.gpus.empty()) counts.push_back(count_value(evidence.host.gpus.size()));
  // Where it fails it sees fewer than there are.
  return has_total && !evidence.has("nvidia-smi-failure") ? seen_by(counts, 1) : SeenFact();
}

/// A GPU has two UUIDs, or one that nvidia-smi -q does not list. Some tools that save evidence write zeros.
bool is_of_two_machines(const SmiQuery& query, const std::vector<Gpu>& gpus) {
  std::set<std::string> listed;
  for (const auto& [gpu, uuid] : query.uuids) {
    if (!uuid) return true;
    if (!topology::is_masked_uuid(*uuid)) listed.insert(*uuid);
  }
  return !listed.empty() && std::ranges::any_of(gpus, [&listed](const Gpu& gpu) {
    return gpu.uuid.known() && !topology::is_masked_uuid(*gpu.uuid.value) &&
           !listed.contains(*gpu.uuid.value);
  });
}

/// A GPU's list that is shorter than another's, or than its model's, may be cut.
FactValue whole_nvlinks(const Gpu& gpu, const std::vector<Gpu>& gpus) {
  const auto listed = [](const Gpu& each) {
    return each.nvlinks_active.value_or(0) + each.nvlinks_inactive.value_or(0);
  };
  const topology::GpuModel* model = topology::find_gpu_model(gpu.model.value_or(""));
  const int most =
      std::max(listed(std::ranges::max(gpus, {}, listed)), model == nullptr ? 0 : model->nvlinks);
  const bool is_cut = listed(gpu) < most && !gpu.nvlink_state.known();
  return gpu.nvlinks_active.known() && !is_cut ? FactValue(fmt::format("{}", *gpu.nvlinks_active.value))
                                               : std::nullopt;
}

void see_nics(const Evidence& evidence, SeenFacts& seen) {
  FactValues firmware;  // behind it ibstat lists the ports
  for (const topology::Nic& nic : evidence.host.nics)
    if (topology::is_rdma(nic)) firmware.push_back(nic.ports.empty() ? std::nullopt : nic.firmware.value);
  std::vector<std::string> listed;
  FactOfDevice by_name;
  for (const topology::EvidenceLine& line : evidence.of("ibv_devinfo")) {
    const std::string value(trim(std::string_view(line.text).substr(line.text.find(':') + 1)));
    if (line.text.starts_with("hca_id:")) listed.push_back(value);
    if (line.text.starts_with("fw_ver:") && !listed.empty() && &line != &evidence.of("ibv_devinfo").back())
      state_fact(by_name, listed.back(), value);
  }
  std::vector<FactValues> counts;
  for (const std::size_t count : {firmware.size(), listed.size()})
    if (count > 0) counts.push_back(count_value(count));
  if (is_read_by(evidence.host, topology::kSysfsInfinibandReader) ||
      is_read_by(evidence.host, topology::kNvidiaSmiTopoReader))
    seen[FleetFact::nics] = seen_by(counts, 1);
  seen[FleetFact::nic_firmware] =
      seen_by({firmware, fact_values(by_name)}, devices_of(seen[FleetFact::nics]));
}

/// "gpus 7 (8 expected)"; of what is not known why.
std::string held_words(const FleetKey& key, const HeldFact& held) {
  const std::string seen = fmt::format("{}", fmt::join(held.seen.values, " and "));
  if (held.match == FleetMatch::differs)
    return fmt::format("{} {} ({} expected)", key.name, seen, fmt::join(held.expected, " or "));
  if (seen.empty()) return fmt::format("{} (no value from {})", key.name, key.needs);
  return held.seen.is_disputed ? fmt::format("{} (sources say {})", key.name, seen)
                               : fmt::format("{} ({}, not of every device)", key.name, seen);
}

std::string host_line(FleetMatch match, const HeldHost& host) {
  std::map<FleetMatch, std::vector<std::string>> words;
  for (const auto& [fact, held] : host.facts)
    if (held.match != FleetMatch::as_expected) words[held.match].push_back(held_words(fleet_key(fact), held));
  std::vector<std::string> parts;
  for (const auto& [each, of_match] : words)
    parts.push_back(fmt::format("{}: {}", match_words(each), fmt::join(of_match, ", ")));
  if (parts.empty()) parts.emplace_back(match_words(match));
  if (!host.note.empty()) parts.push_back(host.note);
  return fmt::format("{}: {}", host.host, fmt::join(parts, "; "));
}

}  // namespace

std::span<const FleetKey> fleet_keys() { return kKeys; }

SeenFacts seen_facts(const Evidence& evidence) {
  const SmiQuery query = smi_query(evidence);
  const std::vector<Gpu>& gpus = evidence.host.gpus;
  SeenFacts seen;
  if (is_of_two_machines(query, gpus)) return seen;
  seen[FleetFact::gpus] = gpu_count_of(evidence, query);
  const std::size_t devices = devices_of(seen[FleetFact::gpus]);
  const auto model = [](const Gpu& gpu) { return smi_value(gpu.model.value_or("")); };
  const auto fabric = [](const Gpu& gpu) { return smi_value(gpu.fabric_state.value_or("")); };
  const auto nvlinks = [&gpus](const Gpu& gpu) { return whole_nvlinks(gpu, gpus); };
  seen[FleetFact::gpu_model] = seen_by({fact_values(query.models), fact_values(gpus, model)}, devices);
  seen[FleetFact::nvlink_fabric] = seen_by({fact_values(query.fabrics), fact_values(gpus, fabric)}, devices);
  seen[FleetFact::nvlinks] = seen_by({fact_values(gpus, nvlinks)}, devices);
  seen[FleetFact::ecc] = seen_by({fact_values(query.ecc)}, devices);
  std::vector<FactValues> drivers = query.drivers;
  drivers.push_back({smi_value(evidence.host.driver_version.value_or(""))});
  for (const topology::Disagreement& each : evidence.host.disagreements)
    if (each.attribute == "driver_version") drivers.push_back({smi_value(each.other)});
  seen[FleetFact::driver] = seen_by(drivers, 1);
  see_nics(evidence, seen);
  return seen;
}

HeldFacts hold_against(const ExpectedFacts& expected, const SeenFacts& seen) {
  HeldFacts all;
  for (const auto& [fact, values] : expected) {
    HeldFact& held = all[fact];
    held.expected = values;
    if (const auto found = seen.find(fact); found != seen.end()) held.seen = found->second;
    if (held.seen.is_disputed) continue;
    if (!std::ranges::includes(values, held.seen.values))
      held.match = FleetMatch::differs;
    else if (held.seen.is_whole)
      held.match = FleetMatch::as_expected;
  }
  return all;
}

FleetComparison compare_with_fleet(const std::string& file, const std::vector<ExpectedHost>& fleet,
                                   const std::vector<HostEvidence>& evidence) {
  std::map<std::string, std::vector<const HostEvidence*>> by_host;
  for (const HostEvidence& each : evidence) by_host[host_key(each.host)].push_back(&each);
  FleetComparison comparison{file};
  for (const ExpectedHost& host : fleet) {
    const auto found = by_host.extract(host_key(host.name));
    HeldHost held{host.name};
    FleetMatch match = FleetMatch::no_evidence;
    if (!found.empty() && found.mapped().size() > 1) {
      match = FleetMatch::not_known;
      held.note = fmt::format("its evidence is there twice: {}, {}", found.mapped()[0]->path,
                              found.mapped()[1]->path);
    } else if (!found.empty() && !found.mapped()[0]->why_not_read.empty()) {
      match = FleetMatch::not_read;
      held.note = found.mapped()[0]->why_not_read;
    } else if (!found.empty()) {
      held.facts = hold_against(host.facts, found.mapped()[0]->facts);
      match = FleetMatch::as_expected;
      for (const auto& [fact, each] : held.facts) match = std::min(match, each.match);
    }
    comparison.hosts.emplace(match, std::move(held));
  }
  for (const auto& [key, each] : by_host)
    comparison.hosts.emplace(
        FleetMatch::not_in_file,
        HeldHost{each.front()->host,
                 each.front()->why_not_read.empty() ? each.front()->path : each.front()->why_not_read});
  return comparison;
}

std::string fleet_check_summary(const FleetComparison& comparison) {
  const auto count = [&comparison](FleetMatch match) { return comparison.hosts.count(match); };
  const std::size_t named = comparison.hosts.size() - count(FleetMatch::not_in_file);
  std::vector<std::string> others;
  for (const FleetMatch match : {FleetMatch::differs, FleetMatch::not_known, FleetMatch::no_evidence,
                                 FleetMatch::not_read, FleetMatch::not_in_file})
    if (count(match) > 0)
      others.push_back(fmt::format("{} {}", count(match),
                                   match == FleetMatch::no_evidence                   ? "without evidence"
                                   : match == FleetMatch::differs && count(match) > 1 ? "differ"
                                                                                      : match_words(match)));
  return fmt::format("{} of {} {} as {} expects{}{}", count(FleetMatch::as_expected), counted(named, "host"),
                     count(FleetMatch::as_expected) == 1 || named == 1 ? "is" : "are", comparison.file,
                     others.empty() ? "" : ": ", fmt::join(others, ", "));
}

ReportLines fleet_check_lines(const FleetComparison& comparison) {
  ReportLines lines;
  for (const auto& [match, host] : comparison.hosts) lines.push_back({host_line(match, host)});
  return lines;
}

Json fleet_check_json(const FleetComparison& comparison) {
  const auto plain = [](const std::set<std::string>& values) {
    return array_of(values, [](const std::string& each) { return one_line(each); });
  };
  Json hosts = Json::array();
  for (const auto& [match, host] : comparison.hosts) {
    Json facts = Json::object();
    for (const auto& [fact, held] : host.facts)
      facts[std::string(fleet_key(fact).name)] = {{"match", json_name(held.match)},
                                                  {"expected", plain(held.expected)},
                                                  {"seen", plain(held.seen.values)}};
    hosts.push_back({{"host", one_line(host.host)},
                     {"match", json_name(match)},
                     {"note", one_line(host.note)},
                     {"facts", std::move(facts)}});
  }
  return {{"file", one_line(comparison.file)},
          {"summary", one_line(fleet_check_summary(comparison))},
          {"hosts", std::move(hosts)}};
}

}  // namespace collbench::analysis
