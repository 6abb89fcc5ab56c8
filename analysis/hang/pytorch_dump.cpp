#include "analysis/hang/pytorch_dump.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include "base/json_reader.hpp"
#include "base/text_input.hpp"
#include "base/word_list.hpp"

// Source of the format: PyTorch 2.5 to 2.9, torch/csrc/distributed/c10d/FlightRecorder.hpp (names of the
// members) and FlightRecorder.cpp (dump_json). The pickled form has the same members, with numbers where JSON
// has texts.
namespace collbench::analysis {
namespace {

struct RankInGroup {
  std::string description;
  std::vector<int> ranks;  ///< of the group; empty: not told
  CommunicatorMember member;
  std::uint64_t last_begun = 0;
};

using GroupsByName = std::map<std::string, RankInGroup>;

/// A number, or a text that is one; below 0 (nothing yet) is 0.
std::uint64_t count_in(const JsonReader& json) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  std::optional<std::int64_t> count;
  try {
    count = json.integer<std::int64_t>(std::numeric_limits<std::int64_t>::min());
  } catch (const Error&) {
    count = parse_integer(json.text(), std::numeric_limits<std::int64_t>::min(), kMax);
  }
  if (!count) throw json.expected("a whole number");
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, *count));
}

std::uint64_t count_of(const JsonReader& json, std::string_view key) {
  const auto found = json.find(key);
  return found ? count_in(*found) : 0;
}

std::string text_of(const JsonReader& json, std::string_view key) {
  const auto found = json.find(key);
  return found ? found->text() : "";
}

/// "…_rank_12", "rank12.json": 12.
int rank_in_name(const std::string& file) {
  const std::filesystem::path path(file);
  const std::string stem = path.extension() == ".json" ? path.stem().string() : path.filename().string();
  const std::size_t digits = stem.find_last_not_of("0123456789") + 1;
  const auto rank =
      parse_integer(std::string_view(stem).substr(digits), 0, std::numeric_limits<int>::max() - 1);
  if (!rank) {
    throw usage_error(file, "its name does not end with the number of the rank, as PyTorch's do",
                      "name it as PyTorch did, such as nccl_trace_rank_3.json");
  }
  return static_cast<int>(*rank);
}

/// "[0, 1, 2]", as a text or as an array.
std::vector<int> ranks_in(const JsonReader& config) {
  const auto ranks = config.find("ranks");
  if (!ranks) return {};
  std::vector<int> found;
  std::string text = ranks->compact();
  std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == '"' || c == ' '; });
  if (text.empty()) return {};
  for (const std::string& cell : split_cells(text, ',')) {
    const auto rank = parse_integer(cell, 0, std::numeric_limits<int>::max() - 1);
    if (!rank) throw ranks->expected("a list of ranks");
    found.push_back(static_cast<int>(*rank));
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

/// "1024x4 Float, 7 Long": sizes and types of the inputs.
std::string sizes_text(const JsonReader& entry) {
  std::vector<std::string> tensors;
  if (const auto sizes = entry.find("input_sizes")) {
    for (const JsonReader& tensor : sizes->items()) {
      std::vector<std::string> lengths;
      for (const JsonReader& length : tensor.items())
        lengths.push_back(std::to_string(length.integer<std::uint64_t>()));
      tensors.push_back(fmt::format("{}", fmt::join(lengths, "x")));
    }
  }
  std::size_t i = 0;
  if (const auto types = entry.find("input_dtypes")) {
    for (const JsonReader& type : types->items())
      if (i < tensors.size()) tensors[i++] += " " + type.text();
  }
  return join_first(tensors, 3);
}

/// "nccl:all_reduce" as all_reduce.
std::string operation_name(const JsonReader& entry) {
  std::string name = text_of(entry, "profiling_name");
  name.erase(0, name.find(':') + 1);
  return name;
}

void add_entry(GroupsByName& groups, const JsonReader& entry) {
  if (const auto p2p = entry.find("is_p2p"); p2p && p2p->boolean()) return;  // these are of two ranks
  const std::vector<JsonReader> group = entry.at("process_group").items();
  if (group.empty()) throw entry.at("process_group").expected("a group's name and description");
  RankInGroup& own = groups[group[0].text()];
  if (group.size() > 1) own.description = group[1].text();
  const std::uint64_t call = count_of(entry, "collective_seq_id");
  own.last_begun = std::max(own.last_begun, call);
  const std::string state = text_of(entry, "state");
  if (state == "completed" || (own.member.call != 0 && own.member.call <= call)) return;
  own.member.call = call;
  own.member.operation = operation_name(entry);
  own.member.sizes = sizes_text(entry);
  own.member.progress = state;
}

GroupsByName read_rank(const JsonReader& dump, int rank) {
  GroupsByName groups;
  if (const auto config = dump.find("pg_config")) {
    for (const auto& [name, group] : config->members()) {
      RankInGroup& own = groups[name];
      own.description = text_of(group, "desc");
      own.ranks = ranks_in(group);
    }
  }
  if (const auto entries = dump.find("entries"))
    for (const JsonReader& entry : entries->items()) add_entry(groups, entry);
  if (const auto status = dump.find("pg_status")) {
    for (const auto& [name, group] : status->members()) {
      const auto own = groups.find(name);
      if (own != groups.end())
        own->second.last_begun =
            std::max(own->second.last_begun, count_of(group, "last_enqueued_collective"));
    }
  }
  for (auto& [name, own] : groups) {
    own.member.rank = rank;
    own.member.begun[std::string(kAnyCalls)] = own.last_begun;
  }
  return groups;
}

std::string group_name(const std::string& name, const std::string& description) {
  if (name.empty()) return "the group";
  const bool described = !description.empty() && description != "undefined";
  return described ? fmt::format("group {} ({})", name, description) : "group " + name;
}

/// Empty where it is not known.
std::string elements_text(const std::string& elements) {
  return elements.empty() ? "" : fmt::format("{} element{}", elements, elements == "1" ? "" : "s");
}

constexpr int kMaxRanks = 1'000'000;  // that a job has

int highest_rank(const Communicator& group) {
  int highest = 0;
  for (const CommunicatorMember& each : group.members) highest = std::max(highest, each.rank);
  return highest;
}

/// Of ranks without a dump. What a rank had given to NCCL behind the call in which others wait says nothing.
template <class RanksOfLogs>
void add_ranks_of_logs(Communicator& group, const RanksOfLogs& logs, const std::set<int>& dumped) {
  const std::vector<CommunicatorMember> of_dumps = group.members;
  for (const auto& [rank, log] : logs) {
    if (dumped.contains(rank)) continue;
    CommunicatorMember member = log.member;
    for (const CommunicatorMember& other : of_dumps)
      if (other.call == member.call &&
          topology::folded_operation(other.operation) == topology::folded_operation(member.operation)) {
        member.operation = other.operation;
        member.sizes = other.sizes;  // which a log has in elements
      }
    group.members.push_back(std::move(member));
  }
  std::uint64_t latest = 0;
  for (const CommunicatorMember& member : group.members) latest = std::max(latest, member.call);
  for (CommunicatorMember& member : group.members) {
    if (member.begun.empty()) continue;  // it wrote of an error alone
    std::uint64_t& begun = member.begun[std::string(kAnyCalls)];
    begun = member.call > 0 ? member.call : std::min(begun, latest);
    if (const auto log = logs.find(member.rank);
        log != logs.end() && member.call == 0 && log->second.ended < begun)
      member.call = log->second.ended + 1;
  }
}

}  // namespace

void PytorchDumps::add_incident(const topology::WatchdogIncident& incident, std::size_t incidents) {
  const auto entry = [&](const std::string& name, int rank) -> RankOfLog& {
    if (by_name_[name].name.empty()) {
      const auto group = incident.groups.find(name);
      by_name_[name].name =
          group_name(name, group == incident.groups.end() ? "" : group->second.description) +
          (incidents > 1 ? fmt::format(", the last of {} incidents", incidents) : "");
    }
    RankOfLog& own = by_log_[name][rank];
    own.member.rank = rank;
    return own;
  };
  for (const auto& [name, group] : incident.groups) {
    for (const auto& [rank, seen] : group.ranks) {
      RankOfLog& own = entry(name, rank);
      if (own.member.call > 0) continue;
      own.member.call = static_cast<std::uint64_t>(seen.call);
      own.member.operation = seen.operation;
      own.member.sizes = elements_text(seen.elements);
      if (seen.call > 0 || seen.enqueued >= 0)  // else it wrote what others did to it, and no more
        own.member.begun[std::string(kAnyCalls)] =
            static_cast<std::uint64_t>(std::max({seen.call, seen.enqueued, std::int64_t{0}}));
      own.ended = static_cast<std::uint64_t>(seen.completed);
    }
    for (const auto& [rank, line] : incident.errors_in(name)) entry(name, rank).member.error = line.text;
    if (name != "0") by_numbers_[name] = topology::missing_ranks(name, group);
  }
}

/// Whether a watchdog wrote in it.
bool PytorchDumps::add_log(const HangDump& log) {
  std::vector<topology::EvidenceLine> lines;
  std::string storage;
  for (std::string_view rest = log.text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = clean_line(rest.substr(0, end), storage);
    if (!line.empty()) lines.push_back({std::string(line), {}});  // of nothing else a file may be
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  lines = topology::lines_of_watchdog(lines);
  log_lines_.insert(log_lines_.end(), lines.begin(), lines.end());
  return !lines.empty();
}

bool PytorchDumps::add(const HangDump& dump) {
  const std::string_view text = trim(dump.text);
  const std::string_view line = text.substr(0, text.find('\n'));
  const bool is_log = (!line.starts_with('{') || line_in_json(line)) && add_log(dump);
  if (dump.text.starts_with("\x80")) {
    throw usage_error(
        dump.file, "is a pickle, which may run any program when it is read",
        "if you trust it: python3 -c 'import json, pickle, sys; [json.dump(pickle.load(open(f, \"rb\")), "
        "open(f + \".json\", \"w\")) for f in sys.argv[1:]]' FILE..., then: collbench flight FILE.json...");
  }
  if (!is_log && !text.starts_with("{")) return false;
  if (first_file_.empty()) first_file_ = dump.file;
  if (is_log) return true;
  const int rank = rank_in_name(dump.file);
  if (!dumped_.insert(rank).second)
    throw usage_error(dump.file, fmt::format("there is another dump of rank {}", rank),
                      "give one of each rank");
  const nlohmann::json document = parse_json(dump.text, dump.file);
  for (auto& [name, own] : read_rank(JsonReader(document, dump.file), rank)) {
    Communicator& group = by_name_[name];
    group.name = group_name(name, own.description);
    expected_[name].insert(own.ranks.begin(), own.ranks.end());
    if (own.ranks.empty() || std::ranges::binary_search(own.ranks, rank))
      group.members.push_back(std::move(own.member));
  }
  return true;
}

std::vector<Communicator> PytorchDumps::groups() {
  // Over all logs: which of its incidents a log has is known by those of the others.
  if (const auto incidents = topology::watchdog_incidents(log_lines_); !incidents.empty()) {
    topology::WatchdogIncident last = incidents.back();
    // A process that failed before it had a group to speak of is of the one that all have.
    if (last.groups.empty()) last.groups["0"].description = "default_pg";
    add_incident(last, incidents.size());
    log_lines_.clear();
  }
  std::vector<Communicator> communicators;
  for (const auto& [name, known] : by_name_) {
    Communicator group = known;
    const auto logs = by_log_.find(name);
    if (logs != by_log_.end()) add_ranks_of_logs(group, logs->second, dumped_);
    if (group.members.empty()) continue;
    const auto own = expected_.find(name);
    std::set<int> expected = own == expected_.end() ? std::set<int>() : own->second;
    group.lists_all = !expected.empty();
    if (expected.empty()) expected = by_numbers_[name];
    // The default group has all ranks, at least as many as the highest number says.
    if (const int highest = highest_rank(group);
        name == "0" && logs != by_log_.end() && expected.empty() && highest < kMaxRanks)
      for (int rank = 0; rank < highest; ++rank) expected.insert(rank);
    for (const int rank : expected) {
      if (dumped_.contains(rank) || (logs != by_log_.end() && logs->second.contains(rank))) continue;
      CommunicatorMember without;
      without.rank = rank;
      without.presence = MemberPresence::no_dump;
      group.members.push_back(std::move(without));
    }
    std::ranges::sort(group.members, {}, &CommunicatorMember::rank);
    group.size = static_cast<int>(group.members.size());
    communicators.push_back(std::move(group));
  }
  if (communicators.empty()) {
    throw usage_error(first_file_, "it names no process group",
                      "give what PyTorch's flight recorder wrote as JSON, or NCCL's RAS answered");
  }
  return communicators;
}

}  // namespace collbench::analysis
