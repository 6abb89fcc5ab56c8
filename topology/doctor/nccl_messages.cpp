#include "topology/doctor/nccl_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "base/word_list.hpp"
#include "topology/doctor/look.hpp"
#include "topology/doctor/text_index.hpp"

namespace collbench::topology {
namespace {

/// What nccl_messages.txt says at its top of a wording.
struct Wording {
  std::string_view code;
  bool in_all_lines = false;
  std::string_view file;
  bool from_start = false;
  std::vector<std::string_view> parts;
};

Wording wording_of(std::string_view code, std::string_view text) {
  Wording wording{code, text.starts_with('~'), {}, false, {}};
  if (wording.in_all_lines) text.remove_prefix(1);
  if (text.starts_with('@')) {
    const std::size_t blank = text.find(' ');
    wording.file = text.substr(1, blank - 1);
    text.remove_prefix(blank + 1);
  }
  wording.from_start = text.starts_with('^');
  if (wording.from_start) text.remove_prefix(1);
  for (std::size_t end = 0; end != std::string_view::npos;
       text.remove_prefix(std::min(end + 1, text.size()))) {
    end = text.find('*');
    wording.parts.push_back(text.substr(0, end));
  }
  return wording;
}

struct MessageTable {
  std::vector<DoctorCheck> checks;
  std::vector<Wording> wordings;
};

/// What must stand in a line that fits.
std::string_view longest_part(const Wording& wording) {
  return *std::ranges::max_element(wording.parts, {}, &std::string_view::size);
}

/// A line "reason: …" of a block.
void set_text(DoctorCheck& check, std::string_view line) {
  const std::size_t colon = line.find(": ");
  const std::string_view text = line.substr(colon + 2);
  for (const auto& [name, member] :
       {std::pair{"reason", &DoctorCheck::reason}, std::pair{"needs", &DoctorCheck::needs},
        std::pair{"confirm", &DoctorCheck::confirm}, std::pair{"fix", &DoctorCheck::fix},
        std::pair{"source", &DoctorCheck::source}})
    if (line.substr(0, colon) == name) check.*member = text;
}

MessageTable read_table(std::string_view text) {
  MessageTable table;
  std::string_view code;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("  ")) {
      table.wordings.push_back(wording_of(code, line.substr(2)));
    } else if (line.find(": ") != std::string_view::npos) {
      if (code != "noise") set_text(table.checks.back(), line);
    } else {
      const std::size_t blank = line.find(' ');
      code = line.substr(0, blank);
      if (code == "noise") continue;
      DoctorCheck check{code, DoctorSeverity::risk, {}, "a log with NCCL_DEBUG=WARN", {}, {}, {}, nullptr,
                        true};
      for (const DoctorSeverity severity : {DoctorSeverity::broken, DoctorSeverity::slow})
        if (line.substr(blank + 1) == doctor_severity_name(severity)) check.severity = severity;
      table.checks.push_back(check);
    }
  }
  return table;
}

const MessageTable& table() {
  static const MessageTable read = read_table(nccl_messages_text());
  return read;
}

const TextIndex& wordings_index() {
  static const TextIndex index = [] {
    std::vector<std::string_view> texts;
    for (const Wording& wording : table().wordings) texts.push_back(longest_part(wording));
    return TextIndex(texts);
  }();
  return index;
}

bool fits(const Wording& wording, std::string_view line, const LogLine& parts) {
  if (!wording.in_all_lines && parts.level != LogLevel::warning) return false;
  if (!has_text(parts.head, wording.file)) return false;
  const std::string_view text = wording.in_all_lines ? line : parts.message;
  std::size_t from = 0;
  for (std::size_t i = 0; i < wording.parts.size(); ++i) {
    const std::size_t at = text.find(wording.parts[i], from);
    if (at == std::string_view::npos || (i == 0 && wording.from_start && at != 0)) return false;
    from = at + wording.parts[i].size();
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (!wording.parts[i].empty() && is_digit(wording.parts[i].back()) && from < text.size() &&
        is_digit(text[from]))
      return false;  // the beginning of another number
  }
  return true;
}

/// A line that names an error and had none: a test that passed, a request that was answered, a definition, a
/// question of configure.
bool only_names_errors(std::string_view line) {
  return line.ends_with(" PASSED") || line.starts_with("[       OK ] ") || line.starts_with("#define ") ||
         line.starts_with("checking for ") || has_text(line, " HTTP/1.1\" 2") ||
         has_text(line, " HTTP/1.0\" 2");
}

/// "rank 3" before "rank 10".
struct ShortFirst {
  bool operator()(const std::string& a, const std::string& b) const {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  }
};
using Sayers = std::set<std::string, ShortFirst>;

/// Lines of one kind.
struct Kind {
  const EvidenceLine* first = nullptr;
  std::size_t count = 0;
  std::string_view first_time;
  std::string_view last_time;
  Sayers ranks;
  Sayers ended;  ///< of the end of a process: the process, where another line names it
};

/// "ranks 0, 3", or the processes where no rank is known of one.
std::string who_said_it(const Sayers& ranks) { return join_first({ranks.begin(), ranks.end()}, 4); }

DoctorObservation observation_of(const Kind& kind) {
  DoctorObservation seen = quoted(*kind.first);
  if (!kind.ended.empty()) seen.what = who_said_it(kind.ended) + ": " + seen.what;
  if (kind.count == 1) return seen;
  seen.what += fmt::format(", {} times", kind.count);
  if (!kind.first_time.empty())
    seen.what += kind.first_time == kind.last_time
                     ? fmt::format(" at {}", kind.first_time)
                     : fmt::format(" from {} to {}", kind.first_time, kind.last_time);
  if (!kind.ranks.empty()) seen.what += ", by " + who_said_it(kind.ranks);
  return seen;
}

/// "HOST:PID" to "rank 3", by NCCL's own lines of that process; of a process with several ranks none.
std::map<std::string, std::string, std::less<>> ranks_of_processes(const std::vector<EvidenceLine>& log) {
  std::map<std::string, std::string, std::less<>> ranks;
  for (const EvidenceLine& line : log) {
    if (!has_text(line.text, "nranks ") && !has_text(line.text, "nRanks ")) continue;
    const auto rank = number_behind(line.text, " rank ");
    const std::string_view process = log_line(line.text).process();
    if (!rank || process.empty()) continue;
    const auto [known, added] = ranks.try_emplace(std::string(process), fmt::format("rank {}", *rank));
    if (!added && known->second != fmt::format("rank {}", *rank)) known->second = std::string(process);
  }
  return ranks;
}

/// "rank 3" by its process or by the line itself, else the process; empty where neither is known.
std::string who_says(const LogLine& parts, const std::map<std::string, std::string, std::less<>>& ranks) {
  if (const auto rank = ranks.find(parts.process()); rank != ranks.end()) return rank->second;
  return parts.rank().empty() ? std::string(parts.process()) : fmt::format("rank {}", parts.rank());
}

/// Launchers say in one line which process they speak of and in the next how it ended: torchrun ("host :
/// n17", "rank : 3 (local_rank: 3)"), Open MPI 5 ("process rank 11 with PID 5714 on node n18 exited on"),
/// hydra
/// ("=   RANK 3 PID 123 RUNNING AT n18").
class NamedProcess {
 public:
  void read(std::string_view line) {
    ++age_;
    if (const auto host = text_behind(line, "host      : ")) set("", std::string(*host));
    if (const auto rank = number_behind(line, "rank      : ")) set(fmt::format("rank {}", *rank), host_);
    for (const auto& [of_rank, of_host] :
         {std::pair{"process rank ", " on node "}, std::pair{"=   RANK ", " RUNNING AT "},
          std::pair{"=   PID ", " RUNNING AT "}}) {
      const auto host = text_behind(line, of_host, " ");
      const auto number = number_behind(line, of_rank);
      if (!number || !host) continue;
      set(fmt::format("{} {}", has_text(of_rank, "PID") ? "process" : "rank", *number), std::string(*host));
    }
  }
  /// Empty where no line just before names it.
  [[nodiscard]] std::string name() const {
    constexpr int kMaxLinesBetween = 2;
    if (age_ > kMaxLinesBetween || name_.empty()) return {};
    return host_.empty() ? name_ : fmt::format("{} on {}", name_, host_);
  }

 private:
  void set(std::string name, std::string host) {
    name_ = std::move(name);
    host_ = std::move(host);
    age_ = 0;
  }
  std::string name_;
  std::string host_;
  int age_ = 0;
};

/// "1048576 262144 float sum -1 101.7 10.3 19.3 0 102.1 10.3 19.3 12": a row whose #wrong, out of place or in
/// place, is not 0; N/A is no number, and older tables have a fraction there, the error of rounding.
bool has_wrong_values(std::string_view line) {
  constexpr std::size_t kCells = 13;
  if (line.empty() || std::isdigit(static_cast<unsigned char>(line.front())) == 0) return false;
  const std::vector<std::string> cells = split_words(line);
  if (cells.size() != kCells || !parse_integer(cells[1], 0, INT64_MAX) ||
      !parse_integer(cells[4], -1, INT32_MAX))
    return false;
  return std::ranges::any_of(cells, [&cells](const std::string& cell) {
    const bool wrong = &cell == &cells[8] || &cell == &cells[12];
    return wrong && (lower(cell) == "nan" || leading_number(cell).value_or(0) >= 1);
  });
}

/// The devices of "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB …", of all processes.
std::set<std::string> devices_in_use(const std::vector<EvidenceLine>& log) {
  std::set<std::string> devices;
  for (const EvidenceLine& line : log)
    for (const std::string& device : listed_nics(line.text)) devices.insert(device);
  return devices;
}

/// Whether a device that a process could not open is one that another one uses.
bool denies_what_others_use(const std::vector<EvidenceLine>& log) {
  const std::set<std::string> used = devices_in_use(log);
  return std::ranges::any_of(log, [&used](const EvidenceLine& line) {
    if (message_code(line.text, log_line(line.text)) != "log-device-denied") return false;
    const std::vector<std::string> words = split_words(line.text);
    return std::ranges::any_of(words, [&used](const std::string& word) { return used.contains(word); });
  });
}

/// The plugin asks libfabric once for each of its protocols, and a container sees NICs that it does not have:
/// where a network was found all the same, that does not matter. A process that its watchdog ends aborts.
void leave_out_what_others_do(const std::vector<EvidenceLine>& log, LogMessages& messages) {
  const auto says = [&log](std::string_view part) { return any_line_has(log, part); };
  const bool over_tcp = std::ranges::any_of(log, is_libfabric_over_tcp, &EvidenceLine::text);
  const bool uses_libfabric = says("Using network AWS Libfabric") || says("Using network Libfabric") ||
                              says("Assigned NET plugin Libfabric") || says("Libfabric/");
  const bool rdma_alone =
      (says("Using network IB") || says("NET/IB : Using [")) && !says("Using network Socket");
  const bool by_watchdog = says("Watchdog caught collective");
  if ((says("NET/OFI Selected ") || rdma_alone) && !over_tcp) messages.said.erase("log-no-provider");
  if (uses_libfabric || rdma_alone) messages.said.erase("log-ofi-start");
  if (rdma_alone && messages.said.contains("log-device-denied") && !denies_what_others_use(log))
    messages.said.erase("log-device-denied");
  if (rdma_alone) messages.said.erase("log-verbs-driver");
  if (!by_watchdog)
    for (const std::string_view code : {"log-data-preparation", "log-zero3-modules"})
      messages.said.erase(code);
  if (by_watchdog)
    for (const std::string_view code : {"log-process-aborted", "log-error-trace", "log-watchdog-ended"})
      messages.said.erase(code);
}

/// What tells of an end, and what is said when others lose who ended, or when its launcher ends them.
constexpr std::array<std::string_view, 9> kEnds{
    "log-daemon-lost",    "log-oom-killed",  "log-node-failed",  "log-bus-error",    "log-process-crashed",
    "log-process-killed", "log-task-killed", "log-job-canceled", "log-step-canceled"};
constexpr std::array<std::string_view, 11> kFollows{
    "log-completion-error", "log-connection",     "log-ofi-completion", "log-peer-ended",
    "log-job-failed",       "log-process-killed", "log-task-killed",    "log-process-aborted",
    "log-job-canceled",     "log-step-canceled",  "log-error-trace"};

constexpr std::string_view kUnknownWarning = "log-unknown-warning";
constexpr std::string_view kUnknownError = "log-unknown-error";

/// By code, which of all kinds of messages is its first.
using FirstSaid = std::map<std::string_view, std::size_t>;

bool is_broken(std::string_view code) {
  const auto& checks = table().checks;
  const auto own = std::ranges::find_if(checks, [&](const auto& each) { return each.code == code; });
  return own != checks.end() && own->severity == DoctorSeverity::broken;
}

/// What the network says after a process ended is what was seen of that.
void join_what_follows_an_end(const FirstSaid& first, LogMessages& messages) {
  const auto has = [&messages](std::string_view code) { return messages.said.contains(code); };
  for (const std::string_view end : kEnds) {
    for (const std::string_view later : kFollows) {
      if (later == end || !has(end) || !has(later) || first.at(later) < first.at(end)) continue;
      // What is no defect explains none, but that ranks lost those who were ended.
      const bool is_loss = later == "log-peer-ended" || later == "log-error-trace";
      if (is_broken(later) && !is_broken(end) && !is_loss) continue;
      const DoctorObservation& seen = messages.said.at(later).front();
      if (later == "log-completion-error" || later == "log-connection" || later == "log-ofi-completion")
        messages.said.at(end).push_back({"after that, of who lost it: " + seen.what, seen.location});
      messages.said.erase(later);
    }
  }
}

/// Of two findings about one end the one that says less goes.
void keep_who_says_more(const FirstSaid& first, LogMessages& messages) {
  const auto has = [&messages](std::string_view code) { return messages.said.contains(code); };
  if (has("log-oom-killed"))
    for (const std::string_view code : {"log-process-killed", "log-task-killed"}) messages.said.erase(code);
  if (has("log-crash-in-nccl")) messages.said.erase("log-process-crashed");
  if (has("log-no-gpu")) messages.said.erase("log-cuda-earlier");  // CUDA cannot start then
  for (const std::string_view code : {"log-nvml", "log-nvml-mismatch"})
    if (has(code) && has("log-cuda-earlier") && first.at(code) < first.at("log-cuda-earlier"))
      messages.said.erase("log-cuda-earlier");
  if (has("log-node-failed") || has("log-oom-killed")) messages.said.erase("log-daemon-lost");
}

/// What tells that a job failed and names no cause.
constexpr std::array<std::string_view, 20> kNamesNoCause{
    "log-watchdog-ended",  "log-error-trace", "log-job-failed",       "log-peer-ended",
    "log-process-aborted", "log-task-failed", "log-watchdog-stuck",   "log-process-killed",
    "log-task-killed",     "log-connection",  "log-completion-error", "log-ofi-completion",
    "log-peer-gone",       "log-store-wait",  "log-rendezvous",       "log-task-lost",
    "log-store-timeout",   "log-mpi-init",    "log-gloo-timeout",     "log-engine-stuck"};

bool names_no_cause(std::string_view code) {
  return std::ranges::find(kNamesNoCause, code) != kNamesNoCause.end();
}

/// Whether its line is the next one of the same file.
bool stands_below(const DoctorObservation& seen, const DoctorObservation& above) {
  const auto line = [](std::string_view location) {
    return parse_integer(location.substr(location.rfind(':') + 1), 0, INT64_MAX);
  };
  const std::size_t file = above.location.rfind(':');
  return line(seen.location) && line(above.location) && *line(seen.location) == *line(above.location) + 1 &&
         seen.location.substr(0, seen.location.rfind(':')) == above.location.substr(0, file);
}

/// Whether what was `said` explains the consequence `code`.
bool explains(const auto& said, std::string_view code, const FirstSaid& first, const LogMessages& messages) {
  if (said.first == code || !is_broken(said.first) || said.first == "log-process-aborted") return false;
  if (code == "log-error-trace" && said.first == "log-job-failed") return false;  // which says less
  if (first.at(said.first) < first.at(code)) return true;
  if (code == "log-job-canceled" || code == "log-step-canceled") return false;
  // Later than an abort: only what its exception says.
  return code != "log-process-aborted" ||
         (!names_no_cause(said.first) && stands_below(said.second.front(), messages.said.at(code).front()));
}

/// What follows an error, on other ranks and in the program, is worth a word only where the error is not
/// there. A risk, as a line that nobody knows, explains no failure, and a launcher ends jobs that have
/// failed.
void leave_out_consequences(const FirstSaid& first, LogMessages& messages) {
  join_what_follows_an_end(first, messages);
  keep_who_says_more(first, messages);
  for (const std::string_view code :
       {kUnknownError, std::string_view("log-task-failed"), std::string_view("log-invalid-usage")}) {
    if (!messages.said.contains(code)) continue;
    const bool explained = std::ranges::any_of(messages.said, [&](const auto& said) {
      return said.first != code && is_broken(said.first) && first.at(said.first) < first.at(code) &&
             !names_no_cause(said.first);
    });
    if (explained) messages.said.erase(code);
  }
  for (const std::string_view code :
       {"log-watchdog-ended", "log-error-trace", "log-job-failed", "log-peer-ended", "log-task-lost",
        "log-mpi-init", "log-process-aborted", "log-job-canceled", "log-step-canceled"}) {
    if (!messages.said.contains(code)) continue;
    const bool explained = std::ranges::any_of(
        messages.said, [&](const auto& said) { return explains(said, code, first, messages); });
    if (explained) messages.said.erase(code);
  }
}

/// Where a call failed while ranks first connected: the address of each host for that, "n17 ib0:10.0.0.1".
void add_first_addresses(const std::vector<EvidenceLine>& log, std::vector<DoctorObservation>& trace) {
  if (std::ranges::none_of(
          trace, [](const DoctorObservation& seen) { return has_text(seen.what, "bootstrap.cc:"); }))
    return;
  std::map<std::string, std::string, std::less<>> addresses;
  for (const EvidenceLine& line : log)
    for (const std::string_view before : {"Bootstrap : Using ", "Bootstrap: Using ", "; OOB "}) {
      const auto address = text_behind(line.text, before, "< ");
      const std::string_view process = log_line(line.text).process();
      if (address && !process.empty())
        addresses.try_emplace(std::string(process.substr(0, process.rfind(':'))), *address);
    }
  std::vector<std::string> words;
  for (const auto& [host, address] : addresses) words.push_back(fmt::format("{} {}", host, address));
  if (!words.empty())
    trace.insert(trace.begin(), {fmt::format("hosts first connect by: {}", join_first(words, 4)), ""});
}

}  // namespace

std::span<const DoctorCheck> log_message_checks() { return table().checks; }

std::string_view message_code(std::string_view line, const LogLine& parts) {
  if (parts.level == LogLevel::none && has_wrong_values(line)) return "log-data-wrong";
  if (only_names_errors(line)) return "noise";
  for (const std::size_t number : wordings_index().found_in(line))
    if (const Wording& wording = table().wordings[number]; fits(wording, line, parts)) return wording.code;
  return {};
}

std::vector<std::string_view> texts_of_all_lines() {
  std::vector<std::string_view> texts;
  for (const Wording& wording : table().wordings)
    if (wording.in_all_lines) texts.push_back(longest_part(wording));
  return texts;
}

LogMessages read_log_messages(const Evidence& evidence) {
  const std::vector<EvidenceLine>& log = evidence.of("nccl-log");
  const auto ranks = ranks_of_processes(log);
  LogMessages messages;
  std::map<std::string_view, std::map<std::string, Kind>> kinds;
  std::vector<std::pair<std::string_view, const Kind*>> in_order;
  std::map<std::string_view, std::size_t> unknown;
  std::string_view before;
  NamedProcess named;
  for (const EvidenceLine& line : log) {
    named.read(line.text);
    const LogLine parts = log_line(line.text, std::exchange(before, line.text));
    std::string_view code = message_code(line.text, parts);
    const bool is_error = parts.level == LogLevel::warning || parts.level == LogLevel::other_program;
    if (code == "noise" || (code.empty() && !is_error)) continue;
    if (code.empty()) {
      code = parts.level == LogLevel::warning ? kUnknownWarning : kUnknownError;
      unknown[code] += 1 + line.more;
    }
    Kind& kind = kinds[code][message_kind(parts.message)];
    if (kind.first == nullptr) {
      kind = {&line, 0, parts.time(), {}, {}, {}};
      in_order.emplace_back(code, &kind);
    }
    kind.count += 1 + line.more;
    kind.last_time = parts.time();
    if (const bool ends = std::ranges::find(kEnds, code) != kEnds.end() || code == "log-process-aborted";
        ends && !named.name().empty())
      kind.ended.insert(named.name());
    if (std::string sayer = who_says(parts, ranks); !sayer.empty()) kind.ranks.insert(std::move(sayer));
  }
  FirstSaid first;
  for (const auto& [code, kind] : in_order) {
    first.try_emplace(code, first.size());
    messages.said[code].push_back(observation_of(*kind));
  }
  leave_out_what_others_do(log, messages);
  leave_out_consequences(first, messages);
  for (const auto& [code, count] : unknown)
    if (messages.said.contains(code)) messages.unknown_lines += count;
  const auto trace = messages.said.find("log-error-trace");
  if (trace != messages.said.end()) add_first_addresses(log, trace->second);
  const auto version = nccl_version(evidence);
  messages.is_understood = version && version->code >= kFirstKnownNccl && version->code <= kLastKnownNccl &&
                           messages.unknown_lines == 0 && trace == messages.said.end() &&
                           !messages.said.contains("log-cause-unknown") &&
                           !messages.said.contains("log-plugin-state");
  return messages;
}

}  // namespace collbench::topology
