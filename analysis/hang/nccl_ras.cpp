#include "analysis/hang/nccl_ras.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/json_reader.hpp"
#include "base/text_input.hpp"
#include "base/text_search.hpp"
#include "base/text_sinks.hpp"

// Source of the format: NCCL 2.27.7 to 2.32.3, src/ras/client_support.cc (rasClientRunComms for the text,
// rasDumpCommsToJSON for JSON), and answers of these versions over simulated GPUs.
namespace collbench::analysis {
namespace {

constexpr std::int64_t kMaxNumber = std::numeric_limits<int>::max() - 1;  // that is taken for one

/// ncclResult_t of nccl.h, by value.
std::string nccl_error(int result) {
  constexpr std::array<std::string_view, 9> kNames{"",
                                                   "unhandled CUDA error",
                                                   "system error",
                                                   "internal error",
                                                   "invalid argument",
                                                   "invalid usage",
                                                   "remote process error",
                                                   "",          // 7: in progress
                                                   "timeout"};  // 2.30.3
  if (result < 0) return fmt::format("NCCL error {}", result);
  const auto index = static_cast<std::size_t>(result);
  return index < kNames.size() ? std::string(kNames.at(index)) : fmt::format("NCCL error {}", result);
}

/// As NCCL has it: a name, or an address, of IPv6 perhaps with its interface. Anything else names no host.
std::string host_in(const std::string& text) {
  const std::string_view address = std::string_view(text).substr(0, text.find('%'));
  const bool is_ipv6 = address.find(':') != std::string_view::npos &&
                       address.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
  const std::string_view interface = std::string_view(text).substr(address.size());
  const bool is_address = is_ipv6 && (interface.empty() || is_host_name(interface.substr(1)));
  return is_address || is_host_name(text) ? text : "host not known";
}

CommunicatorMember member_of(const JsonReader& json) {
  CommunicatorMember member;
  constexpr int kAny = std::numeric_limits<int>::min();
  member.rank = json.at("rank").integer<int>(kAny);
  member.host = host_in(json.at("host").text());
  member.pid = std::max(0, json.at("pid").integer<int>(kAny));
  const JsonReader status = json.at("status");
  if (const auto counts = json.find("collective_counts")) {
    for (const auto& [operation, count] : counts->members())
      member.begun[operation] = count.integer<std::uint64_t>();
    for (const std::string_view key : {"init_state", "async_error"})
      if (const int result = status.at(key).integer<int>(kAny); member.error.empty())
        member.error = nccl_error(result);
    if (status.at("abort_flag").boolean() && member.error.empty()) member.error = "it was aborted";
  } else {
    member.presence = status.at("considered_dead").boolean() ? MemberPresence::dead
                      : status.at("unresponsive").boolean()  ? MemberPresence::silent
                                                             : MemberPresence::outside;
  }
  return member;
}

/// 2.28.7 to 2.29.1 write no comma behind the last number of a missing rank (client_support.cc of v2.28.9).
std::string with_commas(std::string_view text) {
  constexpr std::string_view kNumber = "\"nvml_dev\":";
  std::string mended;
  for (std::size_t at = 0; (at = text.find(kNumber)) != std::string_view::npos;) {
    const std::size_t end = text.find_first_not_of(" -0123456789", at + kNumber.size());
    if (end == std::string_view::npos) break;
    mended += text.substr(0, end);
    const std::size_t next = text.find_first_not_of(" \t\r\n", end);
    if (next != std::string_view::npos && text[next] == '"') mended += ',';
    text.remove_prefix(end);
  }
  return mended.append(text);
}

std::vector<Communicator> read_json(const HangDump& dump) {
  const nlohmann::json document = parse_json(with_commas(dump.text), dump.file);
  std::vector<Communicator> communicators;
  for (const JsonReader& json : JsonReader(document, dump.file).at("communicators").items()) {
    const int size = json.at("size").integer<int>();
    Communicator communicator{.name = "communicator " + json.at("hash").text(),
                              .size = size,
                              .status = size == 0 ? "NOCOMM" : "RUNNING"};  // which only the text has
    for (const char* key : {"ranks", "missing_ranks"})
      for (const JsonReader& member : json.at(key).items()) communicator.members.push_back(member_of(member));
    std::ranges::sort(communicator.members, {}, &CommunicatorMember::rank);
    communicators.push_back(std::move(communicator));
  }
  return communicators;
}

std::optional<int> number_between(std::string_view line, std::string_view before, std::string_view after) {
  const auto text = text_between(line, before, after);
  const auto number = text ? parse_integer(*text, 0, kMaxNumber) : std::nullopt;
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

/// "Rank 2 has launched up to operation 7 -- GPU 2 managed by process 22747 on node 192.0.2.2".
std::optional<CommunicatorMember> member_of_line(std::string_view line) {
  const auto rank = number_between(line, "Rank ", " ");
  if (!rank) return std::nullopt;
  CommunicatorMember member;
  member.rank = *rank;
  if (const auto host = text_behind(line, " on node ")) member.host = host_in(std::string(*host));
  member.pid = number_between(line, "managed by process ", " ").value_or(0);
  return member;
}

/// NCCL's text lists the ranks that differ from most others, with how many others there are.
class RasText {
 public:
  void read(std::string_view line) {
    if (line.starts_with("#")) {
      begin(line);
    } else if (communicators_.empty()) {
      note_group(line);
    } else if (line.starts_with("Rank ")) {
      add(line);
    } else if (const auto operation =
                   text_between(line, "Communicator ranks have different ", " operation")) {
      operation_ = *operation;
    } else if (const auto status = text_behind(line, " ranks have status ")) {
      if (most_have_.empty()) most_have_ = *status;  // the most frequent one comes first
      status_ = *status;
    } else if (line.find(" ranks have ") != std::string_view::npos) {
      count_ = count_in_line(line);
      std::uint64_t& most = communicators_.back().begun_by_others[operation_];
      most = std::max(most, count_);
    }
  }

  /// A group of which nothing is listed stands for its communicators: where none is listed at all, and where
  /// NCCL says that something is wrong in it.
  [[nodiscard]] std::vector<Communicator> take() {
    const bool is_all = communicators_.empty();
    for (const auto& [number, group] : groups_) {
      if (group.is_listed || (!is_all && group.verdict.empty())) continue;
      communicators_.push_back({.name = fmt::format("communicators of group {}", number),
                                .size = group.size,
                                .verdict = group.verdict,
                                .status = group.status});
    }
    return std::move(communicators_);
  }

 private:
  struct Group {
    int size = 0;  ///< of each of its communicators
    std::string status;
    std::string verdict;  ///< empty: "OK"
    bool is_listed = false;
  };

  /// "0  1  1  3  4  3  RUNNING  INCOMPLETE": the group, and the ranks of each of its communicators.
  void note_group(std::string_view line) {
    const std::vector<std::string> words = split_words(line);
    if (words.size() != 8) return;
    const auto group = parse_integer(words[0], 0, kMaxNumber);
    const auto size = parse_integer(words[4], 0, kMaxNumber);
    if (group && size)
      groups_[static_cast<int>(*group)] = {
          .size = static_cast<int>(*size), .status = words[6], .verdict = words[7] == "OK" ? "" : words[7]};
  }

  /// "#0-0 (50d873d91b3011da) INCOMPLETE".
  void begin(std::string_view line) {
    const auto group = number_between(line, "#", "-");
    const auto hash = text_between(line, "(", ")");
    const auto kind = text_behind(line, ") ");
    if (!group || !hash || !kind) return;
    kind_ = *kind;
    operation_.clear();
    most_have_.clear();
    status_.clear();
    Group& own_group = groups_[*group];
    own_group.is_listed = true;
    const std::string name = "communicator 0x" + std::string(*hash);
    const bool is_known =
        std::ranges::any_of(communicators_, [&](const auto& each) { return each.name == name; });
    if (!is_known)
      communicators_.push_back({.name = name,
                                .size = own_group.size,
                                .verdict = own_group.verdict.empty() ? kind_ : own_group.verdict,
                                .status = own_group.status});
    const auto own =
        std::ranges::find_if(communicators_, [&](const auto& each) { return each.name == name; });
    std::rotate(own, own + 1, communicators_.end());  // the one in hand is the last
  }

  /// A rank may be listed once for each thing that differs.
  void add(std::string_view line) {
    const auto found = member_of_line(line);
    if (!found) return;
    std::vector<CommunicatorMember>& members = communicators_.back().members;
    const auto known =
        std::ranges::find_if(members, [&](const auto& each) { return each.rank == found->rank; });
    CommunicatorMember& member = known == members.end() ? members.emplace_back(*found) : *known;
    if (kind_ == "INCOMPLETE") {
      member.presence = MemberPresence::silent;
    } else if (kind_ == "ERROR") {
      member.error = text_between(line, " reported ", " -- ").value_or("an error");
    } else if (operation_.empty()) {
      set_status(member, text_between(line, " has status ", " -- ").value_or(status_));
    } else {
      member.begun[operation_] =
          line.find(" operation") == std::string_view::npos ? count_ : count_in_line(line);
    }
  }

  /// Of a rank of a communicator whose ranks have different statuses, of which most have the first.
  void set_status(CommunicatorMember& member, std::string_view status) const {
    if (status == "NOCOMM") {
      member.presence = MemberPresence::outside;
    } else if (!status.empty() && status != most_have_) {
      member.error = fmt::format("status {}{}", status, most_have_.empty() ? "" : ", others " + most_have_);
    }
  }

  /// "… has launched up to operation 7 -- …", "… has not launched any operations …".
  static std::uint64_t count_in_line(std::string_view line) {
    const auto count = parse_integer(text_behind(line, " up to operation ", " ").value_or(""), 0, kMaxNumber);
    return static_cast<std::uint64_t>(count.value_or(0));
  }

  std::map<int, Group> groups_;
  std::vector<Communicator> communicators_;
  std::string kind_;
  std::string operation_;
  std::string most_have_;    // what most ranks have, where ranks have different ones
  std::string status_;       // of the ranks that follow
  std::uint64_t count_ = 0;  // of the ranks that follow
};

}  // namespace

bool is_nccl_ras(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return false;
  if (text[start] == '{') return text.find("\"communicators\"") != std::string_view::npos;
  return text.find("Job summary") != std::string_view::npos &&
         text.find("NCCL version") != std::string_view::npos;
}

std::vector<Communicator> read_nccl_ras(const HangDump& dump) {
  if (trim(dump.text).starts_with("{")) return read_json(dump);
  RasText text;
  for (const Line& line : clean_lines(dump.text)) text.read(trim(line.text));
  std::vector<Communicator> communicators = text.take();
  for (Communicator& each : communicators) std::ranges::sort(each.members, {}, &CommunicatorMember::rank);
  if (communicators.empty())
    throw usage_error(dump.file, "NCCL's RAS lists no communicator there", "give an answer to: ncclras -v");
  return communicators;
}

}  // namespace collbench::analysis
