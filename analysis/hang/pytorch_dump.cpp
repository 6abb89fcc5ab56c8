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

// Source of the format: PyTorch 2.5 to 2.9, torch/csrc/distributed/c10d/FlightRecorder.hpp (names of the
// members) and FlightRecorder.cpp (dump_json). The pickled form has the same members, with numbers where JSON
// has texts.
namespace collbench::analysis {
namespace {

/// What one rank knows of one of its process groups.
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
  std::sort(found.begin(), found.end());
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
  constexpr std::size_t kShown = 3;
  const std::size_t more = tensors.size() > kShown ? tensors.size() - kShown : 0;
  tensors.resize(tensors.size() - more);
  return fmt::format("{}{}", fmt::join(tensors, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
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

void require_json_dump(const HangDump& dump) {
  if (dump.text.starts_with("\x80")) {
    throw usage_error(
        dump.file, "is a pickle, which may run any program when it is read",
        "if you trust it: python3 -c 'import json, pickle, sys; json.dump(pickle.load(open(sys.argv[1], "
        "\"rb\")), open(sys.argv[1] + \".json\", \"w\"))' FILE");
  }
  if (trim(dump.text).starts_with("{")) return;
  throw usage_error(
      dump.file,
      "is neither a recorder of collbench, an answer of NCCL's RAS, nor a dump of PyTorch's flight "
      "recorder as JSON",
      "for a job's log: collbench doctor FILE reads its watchdog's lines; see collbench flight --help");
}

}  // namespace

void PytorchDumps::add(const HangDump& dump) {
  require_json_dump(dump);
  const int rank = rank_in_name(dump.file);
  if (!dumped_.insert(rank).second)
    throw usage_error(dump.file, fmt::format("there is another dump of rank {}", rank),
                      "give one of each rank");
  if (first_file_.empty()) first_file_ = dump.file;
  const nlohmann::json document = parse_json(dump.text, dump.file);
  for (auto& [name, own] : read_rank(JsonReader(document, dump.file), rank)) {
    Communicator& group = by_name_[name];
    const bool has_description = !own.description.empty() && own.description != "undefined";
    group.name = has_description ? fmt::format("group {} ({})", name, own.description) : "group " + name;
    expected_[name].insert(own.ranks.begin(), own.ranks.end());
    if (own.ranks.empty() || std::binary_search(own.ranks.begin(), own.ranks.end(), rank))
      group.members.push_back(std::move(own.member));
  }
}

std::vector<Communicator> PytorchDumps::groups() const {
  std::vector<Communicator> communicators;
  for (const auto& [name, known] : by_name_) {
    if (known.members.empty()) continue;
    Communicator group = known;
    for (const int rank : expected_.at(name)) {
      if (dumped_.contains(rank)) continue;
      CommunicatorMember without;
      without.rank = rank;
      without.presence = MemberPresence::no_dump;
      group.members.push_back(std::move(without));
    }
    std::sort(group.members.begin(), group.members.end(),
              [](const auto& a, const auto& b) { return a.rank < b.rank; });
    group.size = static_cast<int>(group.members.size());
    group.lists_all = !expected_.at(name).empty();
    communicators.push_back(std::move(group));
  }
  if (communicators.empty()) {
    throw usage_error(first_file_, "it names no process group",
                      "give what PyTorch's flight recorder wrote as JSON, or NCCL's RAS answered");
  }
  return communicators;
}

}  // namespace collbench::analysis
