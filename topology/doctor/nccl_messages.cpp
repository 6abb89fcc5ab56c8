#include "topology/doctor/nccl_messages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "topology/doctor/look.hpp"

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

bool fits(const Wording& wording, std::string_view line, const LogLine& parts) {
  if (!wording.in_all_lines && parts.level != LogLevel::warning) return false;
  if (!has_text(parts.head, wording.file)) return false;
  const std::string_view text = wording.in_all_lines ? line : parts.message;
  std::size_t from = 0;
  for (std::size_t i = 0; i < wording.parts.size(); ++i) {
    const std::size_t at = text.find(wording.parts[i], from);
    if (at == std::string_view::npos || (i == 0 && wording.from_start && at != 0)) return false;
    from = at + wording.parts[i].size();
  }
  return true;
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
};

/// "ranks 0, 3", or the processes where no rank is known of one.
std::string who_said_it(const Sayers& ranks) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> shown(
      ranks.begin(), std::next(ranks.begin(), static_cast<std::ptrdiff_t>(std::min(kShown, ranks.size()))));
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     ranks.size() > kShown ? fmt::format(" and {} more", ranks.size() - kShown) : "");
}

DoctorObservation observation_of(const Kind& kind) {
  DoctorObservation seen = quoted(*kind.first);
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

/// The plugin asks libfabric once for each of its protocols, and a container sees NICs that it does not have:
/// where a network was found all the same, that does not matter.
void leave_out_what_others_do(const std::vector<EvidenceLine>& log, LogMessages& messages) {
  bool by_libfabric = false;
  bool uses_libfabric = false;
  bool by_rdma = false;
  bool by_sockets = false;
  for (const EvidenceLine& line : log) {
    by_libfabric = by_libfabric || has_text(line.text, "NET/OFI Selected ");
    uses_libfabric = uses_libfabric || has_text(line.text, "Using network AWS Libfabric") ||
                     has_text(line.text, "Using network Libfabric") ||
                     has_text(line.text, "Assigned NET plugin Libfabric") ||
                     has_text(line.text, "Libfabric/");
    by_rdma = by_rdma || has_text(line.text, "Using network IB") || has_text(line.text, "NET/IB : Using [");
    by_sockets = by_sockets || has_text(line.text, "Using network Socket");
  }
  if (by_libfabric) messages.said.erase("log-no-provider");
  if (uses_libfabric) messages.said.erase("log-ofi-start");
  if (by_rdma && !by_sockets) messages.said.erase("log-device-denied");
}

/// What follows an error, on other ranks and in the program, is worth a word only where the error is not
/// there; a line that nobody knows is no error that explains it.
void leave_out_consequences(LogMessages& messages) {
  for (const std::string_view code : {"log-job-failed", "log-peer-ended"}) {
    const bool explained = std::any_of(messages.said.begin(), messages.said.end(), [code](const auto& said) {
      return said.first != code && said.first != "log-unknown-warning" && said.first != "log-cause-unknown";
    });
    if (explained) messages.said.erase(code);
  }
}

}  // namespace

std::span<const DoctorCheck> log_message_checks() { return table().checks; }

std::string_view message_code(std::string_view line, const LogLine& parts) {
  const auto& wordings = table().wordings;
  const auto fit = std::find_if(wordings.begin(), wordings.end(),
                                [&](const Wording& wording) { return fits(wording, line, parts); });
  return fit == wordings.end() ? std::string_view() : fit->code;
}

LogMessages read_log_messages(const Evidence& evidence) {
  const std::vector<EvidenceLine>& log = evidence.of("nccl-log");
  const auto ranks = ranks_of_processes(log);
  LogMessages messages;
  std::map<std::string_view, std::map<std::string, Kind>> kinds;
  std::vector<std::pair<std::string_view, const Kind*>> in_order;
  std::string_view before;
  for (const EvidenceLine& line : log) {
    const LogLine parts = log_line(line.text, std::exchange(before, line.text));
    std::string_view code = message_code(line.text, parts);
    if (code == "noise" || (code.empty() && parts.level != LogLevel::warning)) continue;
    if (code.empty()) {
      code = "log-unknown-warning";
      messages.unknown_lines += 1 + line.more;
    }
    Kind& kind = kinds[code][message_kind(parts.message)];
    if (kind.first == nullptr) {
      kind = {&line, 0, parts.time(), {}, {}};
      in_order.emplace_back(code, &kind);
    }
    kind.count += 1 + line.more;
    kind.last_time = parts.time();
    const auto rank = ranks.find(parts.process());
    if (rank != ranks.end()) {
      kind.ranks.insert(rank->second);
    } else if (!parts.rank().empty()) {
      kind.ranks.insert(fmt::format("rank {}", parts.rank()));
    } else if (!parts.process().empty()) {
      kind.ranks.emplace(parts.process());
    }
  }
  for (const auto& [code, kind] : in_order) messages.said[code].push_back(observation_of(*kind));
  leave_out_what_others_do(log, messages);
  leave_out_consequences(messages);
  const auto version = nccl_version(evidence);
  messages.is_understood = version && version->code >= kFirstKnownNccl && version->code <= kLastKnownNccl &&
                           messages.unknown_lines == 0 && !messages.said.contains("log-cause-unknown");
  return messages;
}

}  // namespace collbench::topology
