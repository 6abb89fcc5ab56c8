#include "analysis/doctor/fleet_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/report/text_layout.hpp"
#include "base/host_name.hpp"
#include "base/text_sinks.hpp"
#include "base/units.hpp"
#include "topology/catalog/gpus.hpp"
#include "topology/doctor/gpu_query.hpp"
#include "topology/graph/nics.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::analysis {
namespace {

using topology::Evidence;
using topology::Gpu;

constexpr std::array<FleetKey, 8> kKeys{{
    {FleetFact::gpus, "gpus", FleetValue::count, "nvidia-smi -q or topo -m"},
    {FleetFact::gpu_model, "gpu_model", FleetValue::text, "nvidia-smi -q"},
    {FleetFact::nvlinks, "nvlinks", FleetValue::count, "nvidia-smi nvlink -s"},
    {FleetFact::nvlink_fabric, "nvlink_fabric", FleetValue::text, "nvidia-smi -q"},
    {FleetFact::ecc, "ecc", FleetValue::flag, "nvidia-smi -q"},
    {FleetFact::driver, "driver", FleetValue::text, "nvidia-smi -q"},
    {FleetFact::nics, "nics", FleetValue::count, "doctor save, or nvidia-smi topo -m"},
    {FleetFact::nic_firmware, "nic_firmware", FleetValue::text, "doctor save, ibv_devinfo or ibstat"},
}};

/// By match: in JSON, and for a person.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kMatches{
    {{"differs", "differs"},
     {"not_known", "not known"},
     {"no_evidence", "without evidence"},
     {"not_read", "not read"},
     {"not_in_file", "not in the file"},
     {"as_expected", "as expected"}}};
std::string_view json_name(FleetMatch match) { return kMatches.at(static_cast<std::size_t>(match)).first; }

using Value = std::optional<std::string>;
using Values = std::vector<Value>;             ///< what one source says of each device
using ValueOf = std::map<std::string, Value>;  ///< by the device's name

/// None for what nvidia-smi writes of what it could not ask, or does not have. Behind a bracket it says that
/// a key is deprecated.
Value stated(std::string_view text) {
  constexpr std::array<std::string_view, 7> kErrors{"N/A",     "Unknown",  "ERR!", "GPU ",
                                                    "Request", "Function", "Insuf"};
  text = trim(text.substr(0, text.find('[')));
  const auto begins = [text](std::string_view each) { return text.starts_with(each); };
  return text.empty() || std::ranges::any_of(kErrors, begins) ? std::nullopt : Value(text);
}

/// A device of which two things are said is not known: two machines, perhaps.
void state(ValueOf& values, const std::string& device, const Value& value) {
  const auto [at, is_new] = values.try_emplace(device, value);
  if (!is_new && at->second != value) at->second.reset();
}

Values values_of(const ValueOf& by_device) {
  Values values;
  for (const auto& [device, value] : by_device) values.push_back(value);
  return values;
}

Values one(std::size_t count) { return {fmt::format("{}", count)}; }

/// `devices`: 0 where their number is not known.
SeenFact seen_by(const std::vector<Values>& sources, std::size_t devices) {
  SeenFact seen;
  std::multiset<std::string> whole;
  for (const Values& source : sources) {
    std::multiset<std::string> known;
    for (const Value& value : source)
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
struct Query {
  std::vector<Values> totals{};                 ///< "Attached GPUs" of each
  std::vector<std::set<std::string>> gpus{{}};  ///< that each lists; the first of what has no total
  std::vector<Values> drivers{};
  ValueOf uuids{}, models{}, fabrics{}, ecc{};  ///< by GPU
};

Query query_of(const Evidence& evidence) {
  Query query;
  for (const topology::QueryLine& line : topology::query_lines(evidence)) {
    // The last line of what was cut may be cut itself; one of XML is closed.
    if (line.line == &evidence.of("nvidia-smi-q").back() && !line.line->text.ends_with('>')) break;
    const Value value = stated(line.value);
    const std::string& key = line.key;
    if (key == "Driver Version" || key == "KMD Version" || key == "driver_version" || key == "kmd_version")
      query.drivers.push_back({value});
    if (key == "Attached GPUs" || key == "attached_gpus") {
      query.totals.push_back({value});
      query.gpus.emplace_back();
    } else if (!line.gpu.empty()) {
      query.gpus.back().insert(line.gpu);
    }
    if ((key == "GPU UUID" || key == "uuid") && value) state(query.uuids, line.gpu, value);
    if (key == "Product Name" || key == "product_name") state(query.models, line.gpu, value);
    if (line.section == "fabric" && lower(key) == "state") state(query.fabrics, line.gpu, value);
    if (key == "current_ecc" || (line.section == "ecc mode" && key == "Current"))
      state(query.ecc, line.gpu,
            value == "Enabled"    ? Value("on")
            : value == "Disabled" ? Value("off")
                                  : std::nullopt);
  }
  return query;
}

SeenFact gpus_of(const Evidence& evidence, const Query& query) {
  std::vector<Values> counts = query.totals;
  for (std::size_t i = 1; i < query.gpus.size(); ++i) counts.push_back(one(query.gpus[i].size()));
  const bool has_total = !counts.empty() || is_read_by(evidence.host, topology::kNvidiaSmiTopoReader);
  for (const std::size_t count : evidence.gpu_counts) counts.push_back(one(count));
  if (!evidence.host.gpus.empty()) counts.push_back(one(evidence.host.gpus.size()));
  // Where it fails it sees fewer than there are.
  return has_total && !evidence.has("nvidia-smi-failure") ? seen_by(counts, 1) : SeenFact();
}

/// A GPU's list that is shorter than another's, or than its model's, may be cut.
Value nvlinks_of(const Gpu& gpu, const std::vector<Gpu>& gpus) {
  const auto listed = [](const Gpu& each) {
    return each.nvlinks_active.value_or(0) + each.nvlinks_inactive.value_or(0);
  };
  const topology::GpuModel* model = topology::find_gpu_model(gpu.model.value_or(""));
  const int most =
      std::max(listed(std::ranges::max(gpus, {}, listed)), model == nullptr ? 0 : model->nvlinks);
  const bool is_cut = listed(gpu) < most && !gpu.nvlink_state.known();
  return gpu.nvlinks_active.known() && !is_cut ? Value(fmt::format("{}", *gpu.nvlinks_active.value))
                                               : std::nullopt;
}

SeenFact driver_of(const Evidence& evidence, const Query& query) {
  std::vector<Values> drivers = query.drivers;
  drivers.push_back({stated(evidence.host.driver_version.value_or(""))});
  for (const topology::Disagreement& each : evidence.host.disagreements)
    if (each.attribute == "driver_version") drivers.push_back({stated(each.other)});
  return seen_by(drivers, 1);
}

void see_nics(const Evidence& evidence, SeenFacts& seen) {
  Values firmware;  // behind it ibstat lists the ports
  for (const topology::Nic& nic : evidence.host.nics)
    if (topology::is_rdma(nic)) firmware.push_back(nic.ports.empty() ? std::nullopt : nic.firmware.value);
  std::vector<std::string> listed;
  ValueOf by_name;
  for (const topology::EvidenceLine& line : evidence.of("ibv_devinfo")) {
    const std::string value(trim(std::string_view(line.text).substr(line.text.find(':') + 1)));
    if (line.text.starts_with("hca_id:")) listed.push_back(value);
    const bool may_be_cut = &line == &evidence.of("ibv_devinfo").back();
    if (line.text.starts_with("fw_ver:") && !listed.empty() && !may_be_cut)
      state(by_name, listed.back(), value);
  }
  std::vector<Values> counts;
  for (const std::size_t count : {firmware.size(), listed.size()})
    if (count > 0) counts.push_back(one(count));
  const bool has_total = is_read_by(evidence.host, topology::kSysfsInfinibandReader) ||
                         is_read_by(evidence.host, topology::kNvidiaSmiTopoReader);
  seen[FleetFact::nics] = has_total ? seen_by(counts, 1) : SeenFact();
  seen[FleetFact::nic_firmware] = seen_by({firmware, values_of(by_name)}, devices_of(seen[FleetFact::nics]));
}

std::string held_words(const HeldFact& held) {
  const FleetKey& key = kKeys.at(static_cast<std::size_t>(held.fact));
  const std::string seen = fmt::format("{}", fmt::join(held.seen.values, " and "));
  if (held.match == FleetMatch::differs)
    return fmt::format("{} {} ({} expected)", key.name, seen, fmt::join(held.expected, " or "));
  if (held.seen.values.empty()) return fmt::format("{} (needs {})", key.name, key.needs);
  return fmt::format("{} ({})", key.name,
                     held.seen.is_disputed ? fmt::format("sources say {}", seen)
                                           : fmt::format("{}, not of every device", seen));
}

/// "n2: differs: gpus 7 (8 expected); not known: ecc (needs nvidia-smi -q)".
std::string host_line(const HeldHost& host) {
  std::vector<std::string> parts;
  for (const auto& [match, name] : {kMatches.front(), kMatches.at(1)}) {
    std::vector<std::string> words;
    for (const HeldFact& held : host.facts)
      if (json_name(held.match) == match) words.push_back(held_words(held));
    if (!words.empty()) parts.push_back(fmt::format("{}: {}", name, fmt::join(words, ", ")));
  }
  if (parts.empty()) parts.emplace_back(kMatches.at(static_cast<std::size_t>(host.match)).second);
  if (!host.note.empty()) parts.push_back(host.note);
  return fmt::format("{}: {}", host.host, fmt::join(parts, "; "));
}

}  // namespace

std::span<const FleetKey> fleet_keys() { return kKeys; }

SeenFacts seen_facts(const Evidence& evidence) {
  const Query query = query_of(evidence);
  const std::vector<Gpu>& gpus = evidence.host.gpus;
  SeenFacts seen;
  // A GPU with two UUIDs is one of two machines.
  if (std::ranges::any_of(query.uuids, [](const auto& each) { return !each.second; })) return seen;
  seen[FleetFact::gpus] = gpus_of(evidence, query);
  const std::size_t devices = devices_of(seen[FleetFact::gpus]);
  const auto of_gpus = [&gpus](const auto& value_of) {
    Values values;
    for (const Gpu& gpu : gpus) values.push_back(value_of(gpu));
    return values;
  };
  seen[FleetFact::gpu_model] = seen_by(
      {values_of(query.models), of_gpus([](const Gpu& gpu) { return stated(gpu.model.value_or("")); })},
      devices);
  seen[FleetFact::nvlink_fabric] =
      seen_by({values_of(query.fabrics),
               of_gpus([](const Gpu& gpu) { return stated(gpu.fabric_state.value_or("")); })},
              devices);
  seen[FleetFact::nvlinks] =
      seen_by({of_gpus([&gpus](const Gpu& gpu) { return nvlinks_of(gpu, gpus); })}, devices);
  seen[FleetFact::ecc] = seen_by({values_of(query.ecc)}, devices);
  seen[FleetFact::driver] = driver_of(evidence, query);
  see_nics(evidence, seen);
  return seen;
}

std::vector<HeldFact> hold_against(const ExpectedFacts& expected, const SeenFacts& seen) {
  std::vector<HeldFact> all;
  for (const auto& [fact, values] : expected) {
    const auto found = seen.find(fact);
    HeldFact held{fact, FleetMatch::not_known, found == seen.end() ? SeenFact() : found->second, values};
    if (!held.seen.is_disputed && !std::ranges::includes(values, held.seen.values))
      held.match = FleetMatch::differs;
    else if (!held.seen.is_disputed && held.seen.is_whole)
      held.match = FleetMatch::as_expected;
    all.push_back(std::move(held));
  }
  return all;
}

bool FleetComparison::is_as_expected() const {
  return std::ranges::all_of(hosts, [](const auto& each) { return each.match == FleetMatch::as_expected; });
}

FleetComparison compare_with_fleet(const std::string& file, const std::vector<ExpectedHost>& fleet,
                                   const std::vector<HostEvidence>& evidence) {
  std::map<std::string, std::vector<const HostEvidence*>> by_host;
  for (const HostEvidence& each : evidence) by_host[host_key(each.host)].push_back(&each);
  std::multimap<FleetMatch, HeldHost> by_match;  // equal ones as they came
  const auto held_host = [&by_host](const ExpectedHost& host) {
    const auto of_host = by_host.extract(host_key(host.name));
    HeldHost held{host.name};
    if (of_host.empty()) return held;
    const HostEvidence& first = *of_host.mapped().front();
    held.match = first.why_not_read.empty() ? FleetMatch::not_known : FleetMatch::not_read;
    held.note = first.why_not_read;
    if (of_host.mapped().size() > 1) {
      held.note = fmt::format("its evidence is there twice: {}, {}", first.path, of_host.mapped()[1]->path);
    } else if (held.note.empty()) {
      held.facts = hold_against(host.facts, first.facts);
      held.match = std::ranges::min(held.facts, {}, &HeldFact::match).match;
    }
    return held;
  };
  const auto add = [&by_match](HeldHost host) { by_match.emplace(host.match, std::move(host)); };
  for (const ExpectedHost& host : fleet) add(held_host(host));
  for (const auto& [key, each] : by_host)
    add({each.front()->host, FleetMatch::not_in_file, each.front()->path});
  FleetComparison comparison{file};
  for (auto& [match, host] : by_match) comparison.hosts.push_back(std::move(host));
  return comparison;
}

std::string fleet_check_summary(const FleetComparison& comparison) {
  std::array<std::size_t, kMatches.size()> of{};
  for (const HeldHost& host : comparison.hosts) ++of.at(static_cast<std::size_t>(host.match));
  const std::size_t named =
      comparison.hosts.size() - of.at(static_cast<std::size_t>(FleetMatch::not_in_file));
  std::string summary =
      of.back() == named
          ? fmt::format("{} of {} as {} expects", named, counted(named, "host"), comparison.file)
          : fmt::format("{} of {} differ from {}", of.front(), counted(named, "host"), comparison.file);
  for (std::size_t i = 1; i + 1 < of.size(); ++i)
    if (of.at(i) > 0) summary += fmt::format(", {} {}", of.at(i), kMatches.at(i).second);
  return summary;
}

std::string fleet_check_lines(const FleetComparison& comparison, std::string_view format,
                              const TextOptions& options) {
  const bool text = format == "text";
  const std::string summary = fleet_check_summary(comparison);
  std::string lines =
      text ? wrap(summary, options.columns, "", "  ") : fmt::format("**{}**\n\n", markdown_text(summary));
  for (const HeldHost& host : comparison.hosts)
    lines += text ? wrap(host_line(host), options.columns, "", "  ")
                  : fmt::format("- {}\n", markdown_text(host_line(host)));
  return lines + "\n";
}

Json fleet_check_json(const FleetComparison& comparison) {
  const auto plain = [](const std::set<std::string>& values) {
    return array_of(values, [](const std::string& each) { return one_line(each); });
  };
  const auto fact_json = [&plain](const HeldFact& held) -> Json {
    return {{"key", kKeys.at(static_cast<std::size_t>(held.fact)).name},
            {"match", json_name(held.match)},
            {"expected", plain(held.expected)},
            {"seen", plain(held.seen.values)}};
  };
  const auto host_json = [&fact_json](const HeldHost& host) -> Json {
    return {{"host", one_line(host.host)},
            {"match", json_name(host.match)},
            {"note", one_line(host.note)},
            {"facts", array_of(host.facts, fact_json)}};
  };
  return {{"file", one_line(comparison.file)},
          {"summary", one_line(fleet_check_summary(comparison))},
          {"hosts", array_of(comparison.hosts, host_json)}};
}

}  // namespace collbench::analysis
