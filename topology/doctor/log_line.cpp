#include "topology/doctor/log_line.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text_input.hpp"
#include "topology/doctor/look.hpp"

namespace collbench::topology {
namespace {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }
bool is_hexadecimal(char c) { return is_decimal(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_alphanumeric(char c) { return is_decimal(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The error classes of NCCL as PyTorch and nccl-tests write them, with NCCL's own text on the next line.
bool names_an_error_class(std::string_view line) {
  static constexpr std::array<std::string_view, 10> kWords{
      "NCCL error in:",          "NCCL error:",      "NCCL failure",       "Test CUDA failure",
      "ncclUnhandledCudaError:", "ncclSystemError:", "ncclInternalError:", "ncclInvalidUsage:",
      "ncclInvalidArgument:",    "ncclRemoteError:"};
  return has_one_of(line, kWords);
}

/// "[E626 06:24:44.90 ProcessGroupNCCL.cpp:616] …", or without a time: one of these levels.
bool has_pytorch_level(std::string_view before_file, std::string_view levels) {
  const std::size_t open = before_file.rfind('[');
  return open != std::string_view::npos && open + 1 < before_file.size() &&
         levels.find(before_file[open + 1]) != std::string_view::npos;
}

/// What frameworks write before the lines of an exception that they pass on: "(Worker pid=7) " of Ray and
/// vLLM, then "ERROR 05-22 10:26:17 [executor.py:870] " of Python's logging, or "[rank3]: " of PyTorch.
std::size_t passed_on(std::string_view line) {
  std::size_t begin = 0;
  if (const std::size_t end = line.find(") ");
      line.starts_with('(') && end != std::string_view::npos && has_text(line.substr(0, end), " pid="))
    begin = end + 2;
  if (const std::size_t file = line.find(".py:", begin); file != std::string_view::npos) {
    const std::size_t end = line.find_first_not_of("0123456789", file + 4);
    if (end != std::string_view::npos && line.substr(end).starts_with("] ")) begin = end + 2;
  }
  if (line.substr(begin).starts_with("[rank"))
    if (const std::size_t end = line.find("]: ", begin); end != std::string_view::npos) begin = end + 3;
  return std::min(line.find_first_not_of(' ', begin), line.size());
}

/// Where a framework's own sentence has NCCL's last warning in it, as XLA's: "… Last NCCL warning(error) log
/// entry (may be unrelated) 'Cuda failure 2 'out of memory''.". npos where it has none.
std::size_t quoted_warning(std::string_view line) {
  constexpr std::string_view kBefore = "log entry (may be unrelated) '";
  const std::size_t at = line.find(kBefore);
  const bool quotes = at != std::string_view::npos && !line.substr(at + kBefore.size()).starts_with('\'');
  return quotes ? at + kBefore.size() : std::string_view::npos;
}

/// "[n19:1:28576 - context.c:415][…] ERROR …" of SHARP's library, also with "unique id 7" for the file.
std::size_t sharp_error(std::string_view line) {
  const std::size_t at = line.find("] ERROR ");
  const std::string_view head = line.substr(0, std::min(at, line.size()));
  const bool is_sharp = has_text(head, " unique id ") || has_text(head, ".c:");
  return is_sharp && at != std::string_view::npos ? at + 8 : std::string_view::npos;
}

/// Where the level of a program's line begins that says an error: "slurmd[7]: fatal: …", "2026-05-27 07:00:00
/// ERROR …", "Error: …". npos where other words stand before it than a head, as in prose.
std::size_t error_level(std::string_view line) {
  constexpr std::size_t kMaxHead = 80;
  for (const std::string_view level :
       {"fatal: ", "Fatal error: ", "FATAL: ", "ERROR: ", "ERROR ", "Error: ", "error: ", "ERR: "}) {
    const std::size_t at = line.find(level);
    if (at > kMaxHead) continue;  // or nowhere
    const std::string_view head = line.substr(0, at);
    const bool is_head = head.ends_with(": ") || head.ends_with("] ") ||
                         (head.size() > 1 && head.back() == ' ' && is_decimal(head[head.size() - 2]));
    if (at == 0 || is_head) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t error_of_a_daemon(std::string_view line) {
  const auto begins_as = [](std::string_view text, std::string_view form) {  // 0 is any digit
    return text.size() >= form.size() &&
           std::equal(form.begin(), form.end(), text.begin(),
                      [](char a, char b) { return a == '0' ? is_decimal(b) : a == b; });
  };
  constexpr std::size_t kMaxHead = 48;
  if (begins_as(line, "[0000-00-00T00:00:00"))
    for (const std::string_view level : {"] error: ", "] fatal: "})
      if (const std::size_t at = line.find(level); at < kMaxHead) return at + 2;
  const std::size_t tag = line.find("]: ");
  const std::size_t begin = tag == std::string_view::npos ? 0 : tag + 3;
  const std::string_view text = line.substr(begin);
  const bool is_slurm = has_text(line.substr(0, begin), " slurm");  // "… slurmctld[26180]: fatal: …"
  if (is_slurm && (text.starts_with("error: ") || text.starts_with("fatal: "))) return begin;
  if (!text.starts_with('E') && !text.starts_with('F')) return std::string_view::npos;
  const bool has_time =
      begins_as(text.substr(1), "0000 00:00:00.") || begins_as(text.substr(1), "00000000 00:00:00.");
  const std::size_t end = has_time ? text.find("] ") : std::string_view::npos;
  return end == std::string_view::npos ? end : begin + end + 2;
}

bool is_exception(std::string_view text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos) return false;
  const std::string_view name = text.substr(0, colon);
  const bool is_name =
      std::ranges::all_of(name, [](char c) { return is_alphanumeric(c) || c == '.' || c == '_'; });
  return is_name && name.size() > 5 && (name.ends_with("Error") || name.ends_with("Exception"));
}

std::size_t own_error(std::string_view line) {
  static constexpr std::array<std::string_view, 41> kAnywhere{
      // Slurm and pyxis
      "srun: error: ", "srun: fatal: ", "slurmstepd: error: ", "slurmstepd: fatal: ", "slurmd: error: ",
      "slurmd: fatal: ", "slurmctld: error: ", "slurmctld: fatal: ", "slurmdbd: error: ", "slurmdbd: fatal: ",
      "salloc: error: ", "sbatch: error: ", "pyxis: seccomp filter failed",
      // Open MPI, PRRTE, PMIx, MPICH
      "RTE was unable to", "ORTE_ERROR_LOG: ", "PMIX ERROR: ", "OPAL ERROR: ", "MPI_ERRORS_ARE_FATAL",
      "*** An error occurred in MPI_", "A requested component was not found",
      "not enough slots available in the system", "It looks like MPI_INIT failed", "Fatal error in PMPI_",
      "Fatal error in internal_",
      // UCX
      "UCX  ERROR ", "UCX  FATAL ", " Fatal: transport error: ",
      // UCC
      "UCC  ERROR ", "TL_UCP ERROR ", "TL_NCCL ERROR ", "TL_CUDA ERROR ", "cuda mc ERROR ",
      // modules, containers, the driver's library, GPUDirect Storage
      "modprobe: ERROR: ", "insmod: ERROR: ", "nvidia-container-cli: ", "Error response from daemon: ",
      "OCI runtime create failed", "could not load NVML library",
      "level=error msg=", "level=fatal msg=", " ERROR  cufio"};
  // A line that begins so; "[ERROR] " is enroot's.
  static constexpr std::array<std::string_view, 5> kAtStart{
      "[ERROR] ", "ssh: ", "Host key verification failed", "enroot-switchroot: ", "mpirun was unable to "};
  for (const std::string_view words : kAnywhere)
    if (const std::size_t at = line.find(words); at != std::string_view::npos) return at;
  if (const std::size_t at = error_of_a_daemon(line); at != std::string_view::npos) return at;
  const std::size_t begin = passed_on(line);
  const bool starts = std::ranges::any_of(
      kAtStart, [text = line.substr(begin)](std::string_view words) { return text.starts_with(words); });
  return starts || is_exception(line.substr(begin)) ? begin : std::string_view::npos;
}

namespace {

/// Where the words of another program that failed begin; npos for any other line.
std::size_t other_error(std::string_view line) {
  // What all of these have, so that most lines are looked at a few times only.
  static constexpr std::array<std::string_view, 9> kSigns{
      "rror", "ERR", "atal", "FATAL", "xception", "nable to ", "not found", "ould not", "ailed"};
  const bool may_be =
      has_one_of(line, kSigns) || has_text(line, "ssh: ") || has_text(line, "not enough slots");
  if (!may_be) return error_of_a_daemon(line);
  const std::size_t at = own_error(line);
  return at != std::string_view::npos ? at : error_level(line);
}

void add_without_numbers(std::string& kind, std::string_view word) {
  for (const char each : word)
    if (!is_decimal(each)) {
      kind += each;
    } else if (!kind.ends_with('#')) {
      kind += '#';
    }
}

}  // namespace

/// An error or a warning of PyTorch's process groups, or an error of its sockets and store, which warn of
/// each attempt: "[E428 10:12:33.5 socket.cpp:601] [c10d] …".
static std::optional<LogLine> pytorch_error(std::string_view line) {
  for (const auto& [word, levels] : {std::pair{std::string_view("ProcessGroupNCCL"), std::string_view("EFW")},
                                     std::pair{std::string_view("] [c10d"), std::string_view("EF")}}) {
    const std::size_t at = line.find(word);
    const std::size_t end = at == std::string_view::npos ? at : line.find("] ", at + 2);
    if (end != std::string_view::npos && has_pytorch_level(line.substr(0, at), levels))
      return LogLine{LogLevel::warning, line.substr(0, end + 1), line.substr(end + 2)};
  }
  return std::nullopt;
}

LogLine log_line(std::string_view line, std::string_view before) {
  // Of NCCL_RUN_DIAGNOSTICS (2.31) [INFO] is what is wrong, and what could not be looked at.
  for (const auto& [word, level] : {std::pair{std::string_view("NCCL INFO "), LogLevel::info},
                                    std::pair{std::string_view("NCCL WARN "), LogLevel::warning},
                                    std::pair{std::string_view("NCCL DIAG [INFO] "), LogLevel::warning},
                                    std::pair{std::string_view("NCCL DIAG "), LogLevel::info}}) {
    if (const std::size_t at = line.find(word); at != std::string_view::npos)
      return {level, line.substr(0, at), line.substr(at + word.size())};
  }
  // Before NCCL 2.4, and of plugins: "include/socket.h:311 WARN …", "NET/OFI WARN …".
  if (const std::size_t at = line.find(" WARN "); at != std::string_view::npos) {
    const std::string_view head = line.substr(0, at);
    if (has_text(head, ".cc:") || has_text(head, ".h:") || has_text(head, "NET/"))
      return {LogLevel::warning, head, line.substr(at + 6)};
  }
  // NCCL 1: "WARN src/core.cu:225 Cuda failure …".
  if (line.starts_with("WARN src/")) {
    const std::size_t end = line.find(' ', 5);
    if (end != std::string_view::npos && has_text(line.substr(0, end), ".cu:"))
      return {LogLevel::warning, line.substr(0, end + 1), line.substr(end + 1)};
  }
  if (const auto said = pytorch_error(line)) return *said;
  for (const std::size_t at : {quoted_warning(line), sharp_error(line)})
    if (at != std::string_view::npos) return {LogLevel::warning, line.substr(0, at), line.substr(at)};
  const bool quoted = names_an_error_class(line) || trim(before).ends_with("Last error:");
  if (const std::size_t at = quoted ? std::string_view::npos : other_error(line);
      at != std::string_view::npos)
    return {LogLevel::other_program, line.substr(0, at), line.substr(at)};
  if (!quoted || trim(line).empty()) return {LogLevel::none, {}, line};
  const std::size_t begin = passed_on(line);
  // A traceback also shows the source that raised it.
  const bool says = begin < line.size() && !line.substr(begin).starts_with("raise ");
  return {says ? LogLevel::warning : LogLevel::none, line.substr(0, begin), line.substr(begin)};
}

std::string_view LogLine::time() const {
  if (level == LogLevel::other_program) return {};  // its head has another form
  constexpr std::size_t kLength = 8;                // 14:09:34
  for (std::size_t at = 0; at + kLength <= head.size(); ++at) {
    const auto digits = [this, at](std::size_t i) {
      return is_decimal(head[at + i]) && is_decimal(head[at + i + 1]);
    };
    const bool begins = at == 0 || head[at - 1] == ' ' || head[at - 1] == 'T';
    if (begins && digits(0) && head[at + 2] == ':' && digits(3) && head[at + 5] == ':' && digits(6) &&
        (at + kLength == head.size() || !is_alphanumeric(head[at + kLength])))
      return head.substr(at, kLength);
  }
  return {};
}

std::string_view LogLine::process() const {
  if (level == LogLevel::other_program) return {};
  // "HOST:PID:TID [DEVICE]": the word before the device.
  std::size_t end = head.find(" [");
  for (; end != std::string_view::npos; end = head.find(" [", end + 2)) {
    // Not by rfind, which would look through a long line again from each bracket.
    const std::size_t thread = head.substr(0, end).find_last_not_of("0123456789");
    if (thread == std::string_view::npos || thread == 0 || thread + 1 >= end || head[thread] != ':') continue;
    const std::size_t pid = head.rfind(':', thread - 1);
    if (pid == std::string_view::npos || !is_decimal(head[pid + 1])) continue;
    const std::size_t begin = head.find_last_of(" >]", pid);
    const std::size_t from = begin == std::string_view::npos ? 0 : begin + 1;
    // "[1,2]<stdout>:HOST:…"
    std::string_view host = head.substr(from, thread - from);
    if (host.starts_with(':')) host.remove_prefix(1);
    return host;
  }
  return {};
}

std::string_view LogLine::rank() const {
  for (const std::string_view before : {std::string_view("[rank"), std::string_view("[1,")}) {
    if (const auto rest = text_behind(head, before))
      return rest->substr(0, rest->find_first_not_of("0123456789"));
  }
  return {};
}

std::string_view communicator_of(std::string_view line) {
  if (!has_text(line, " nranks ") || has_text(line, " parent ")) return {};
  const std::string_view rest = text_behind(line, " commId 0x").value_or("");
  const std::string_view hash = rest.substr(0, rest.find_first_not_of("0123456789abcdef"));
  return hash.find_first_not_of('0') == std::string_view::npos ? std::string_view() : hash;
}

bool begins_process(std::string_view line) {
  return has_text(line, "Bootstrap: Using ") || has_text(line, "Bootstrap : Using ");
}

std::string message_kind(std::string_view message) {
  message.remove_suffix(static_cast<std::size_t>(message.ends_with('.')));
  static constexpr std::array<std::string_view, 4> kKept{"error ", "failure ", "status=", "RC: -"};
  std::string kind;
  kind.reserve(message.size());
  for (std::size_t at = 0; at < message.size();) {
    const char c = message[at];
    const bool begins =
        at == 0 || message[at - 1] == ' ' || message[at - 1] == '\'' || message[at - 1] == '"';
    if (c == '/' && begins) {  // a file
      at = std::min(message.find_first_of(" ,)'\"", at), message.size());
      kind += "/…";
      continue;
    }
    if (!is_alphanumeric(c)) {
      kind += c;
      ++at;
      continue;
    }
    std::size_t end = at;
    bool digits = false;
    bool decimal = true;
    bool hexadecimal = true;
    for (; end < message.size() && is_alphanumeric(message[end]); ++end) {
      const char each = message[end];
      digits = digits || is_decimal(each);
      decimal = decimal && is_decimal(each);
      hexadecimal = hexadecimal && (is_hexadecimal(each) || each == 'x');
    }
    const std::string_view word = message.substr(at, end - at);
    const bool says_what =
        decimal && word.size() <= 3 && std::ranges::any_of(kKept, [&](std::string_view before) {
          return message.substr(0, at).ends_with(before);
        });
    at = end;
    if (!digits || says_what) {
      kind += word;
    } else if (hexadecimal) {
      if (kind.ends_with("#.") || kind.ends_with("#:")) {  // "10.0.0.1:4000" is one
        kind.pop_back();
      } else {
        kind += '#';
      }
    } else {
      add_without_numbers(kind, word);
    }
  }
  return kind;
}

}  // namespace collbench::topology
