#include "analysis/import/log_readers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/text_input.hpp"
#include "base/units.hpp"

namespace collbench::analysis {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::size_t kMaxCommandBytes = std::size_t{1} << 16U;

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

/// Without mpirun's "[1,0]<stdout>:" (--tag-output), also in the middle of a line written in two parts.
std::string without_tags(std::string line) {
  for (const std::string_view tag : {"<stdout>:", "<stderr>:"}) {
    for (std::size_t at = line.find(tag); at != std::string::npos; at = line.find(tag, at)) {
      const std::size_t open = line.rfind('[', at);
      const bool is_tag = open != std::string::npos && at > open + 2 && line[at - 1] == ']' &&
                          line.find_first_not_of("0123456789,", open + 1) == at - 1;
      if (is_tag) {
        line.erase(open, at + tag.size() - open);
        at = open;
      } else {
        ++at;
      }
    }
  }
  return line;
}

/// LogLine::label of a line as it stands there.
std::string_view label_of(std::string_view line) {
  constexpr std::string_view kOfWord = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_";
  const std::string_view text = trim(line);
  const std::size_t close = text.find("]<std");
  if (text.starts_with('[') && close != std::string_view::npos && text.find_first_of(" \t") > close)
    return text.substr(0, close + 1);
  const std::size_t colon = text.find_first_not_of(kOfWord);
  const bool is_word = colon != std::string_view::npos && colon > 0 && text.substr(colon, 2) == ": ";
  return is_word ? text.substr(0, colon) : std::string_view();
}

/// Where "host:pid:thread [device]" begins that ends before `end`, and the host; NCCL's own prefix.
struct Origin {
  std::size_t start = 0;
  std::string host;
};

std::optional<Origin> origin_before(std::string_view line, std::size_t end) {
  for (std::size_t open = line.find(" ["); open < end; open = line.find(" [", open + 1)) {
    const std::size_t close = line.find_first_not_of(kDigits, open + 2);
    if (close == std::string_view::npos || close == open + 2 || line[close] != ']') continue;
    const std::size_t last_blank = line.find_last_of(" \t", open - (open > 0 ? 1 : 0));
    const std::size_t start = last_blank == std::string_view::npos ? 0 : last_blank + 1;
    if (start >= open) continue;
    const std::string_view word = line.substr(start, open - start);
    const std::size_t thread = word.rfind(':');
    if (thread == std::string_view::npos || thread == 0 || !is_digits(word.substr(thread + 1))) continue;
    const std::size_t pid = word.rfind(':', thread - 1);
    if (pid == std::string_view::npos || !is_digits(word.substr(pid + 1, thread - pid - 1))) continue;
    // A row that was cut here ends in a number with the host stuck to it: "-1node7:12:12 [0] NCCL INFO".
    std::size_t host = 0;
    if (split_words(line.substr(0, start)).size() >= 2) {
      const auto number = leading_log_number(word);
      if (number && number->length < pid) host = number->length;
    }
    return Origin{start + host, std::string(word.substr(host, pid - host))};
  }
  return std::nullopt;
}

void split(std::string_view text, int number, LogLine& line) {
  line.number = number;
  line.nccl.clear();
  line.nccl_host.clear();
  const bool has_nccl = text.find("NCCL ") != std::string_view::npos;
  for (const std::string_view level : {"NCCL INFO ", "NCCL WARN ", "NCCL TRACE "}) {
    const std::size_t at = has_nccl ? text.find(level) : std::string_view::npos;
    if (at == std::string_view::npos) continue;
    line.nccl = trim(text.substr(at + level.size()));
    const auto origin = origin_before(text, at);
    line.text = text.substr(0, origin ? origin->start : at);
    if (origin) line.nccl_host = origin->host;
    return;
  }
  line.text = text;
}

bool holds_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [text](std::string_view word) {
    return ::memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
  });
}

/// Whether a line may be one of those that are read: it has a word of NCCL, of nccl-tests or of how it ended,
/// a row's number before its type, numbers only, or dots for what somebody left out. Whatever is not, no
/// reader of lines takes.
bool may_say_something(std::string_view line) {
  constexpr std::array<std::string_view, 16> kWords{
      "busbw",    "bus bandwidth", "nccl-tests",  "rccl-tests",          "_perf", "nThread",
      "device",   "count",         "…",           "Out of bounds",       "Test ", "error: ",
      " signal ", "process rank",  "TERMINATION", "Per-Iteration Report"};
  constexpr std::array<std::string_view, 7> kTypes{"int", "half", "float", "double", "f8", "fp", "bf"};
  if (line.find_first_not_of(" \t") == std::string_view::npos) return false;
  if (line.find("NCCL") != std::string_view::npos) return true;  // most lines of a long log
  if (line.find_first_not_of("0123456789.+-eENA/Xx*#?[] \t") == std::string_view::npos) return true;
  return (holds_any(line, kTypes) && line.find_first_of(kDigits) != std::string_view::npos) ||
         holds_any(line, kWords);
}

/// "$ mpirun …", "NCCL_DEBUG=INFO ./all_reduce_perf …": what may go on in the next line.
bool begins_a_command(std::string_view text) {
  constexpr std::array<std::string_view, 6> kLaunchers{"mpirun", "mpiexec", "srun",
                                                       "env",    "orterun", "prterun"};
  std::vector<std::string> words = split_words(text.substr(0, 200));
  while (words.size() > 1 && (words.front().ends_with('$') || words.front() == "+"))
    words.erase(words.begin());
  const std::string_view word = words.empty() ? std::string_view() : words.front();
  const std::string_view program = word.substr(word.rfind('/') + 1);
  const std::size_t equals = word.find('=');
  const bool sets = equals != std::string_view::npos && is_variable(word.substr(0, equals));
  return sets || std::ranges::find(kLaunchers, program) != kLaunchers.end() || program.ends_with("_perf");
}

/// What no command goes on with: a row, a comment, a row of Markdown.
bool is_no_command(std::string_view text) {
  return text.empty() || std::string_view("#|>0123456789").find(text.front()) != std::string_view::npos;
}

/// "nvbandwidth -t … -b 512" of each line that starts it.
std::set<std::string> nvbandwidth_commands(std::string_view text) {
  std::set<std::string> commands;
  for (const Line& line : clean_lines(text))
    if (const std::size_t at = line.text.find("nvbandwidth -"); at != std::string::npos)
      commands.insert(excerpt(std::string_view(line.text).substr(at)));
  return commands;
}

}  // namespace

void require_log_text(std::string_view start, std::string_view file) {
  const std::string where(file);
  if (start.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw usage_error(where, "the file is empty", "save the benchmark's output again");
  }
  if (start.substr(0, 2) == "\xFF\xFE" || start.substr(0, 2) == "\xFE\xFF") {
    throw usage_error(where, "the file is UTF-16", "convert it: iconv -f UTF-16 -t UTF-8");
  }
  if (const auto foreign = foreign_file(start, file, "collbench judge -")) throw Error(*foreign);
  if (start.substr(0, start.find('\n')).find('\0') != std::string_view::npos)
    throw usage_error(location(file, 1), "contains NUL bytes, so it is not a text file",
                      "check that it is the benchmark's output");
  if (start.find("nvbandwidth Version:") != std::string_view::npos ||
      start.find("\"nvbandwidth\"") != std::string_view::npos) {
    const std::set<std::string> commands = nvbandwidth_commands(start);
    if (commands.size() > 1)
      throw usage_error(where,
                        fmt::format("is the output of {} invocations of nvbandwidth that differ: {}",
                                    commands.size(), fmt::join(commands, "; ")),
                        "put each that measures pairs of GPUs (device_to_device) into a file of its own: "
                        "collbench burnin --from FILE; of the others no verdict is known");
    throw usage_error(where, "is the output of nvbandwidth, which measures no collective operation",
                      "its text, not its JSON, is read as pairs of GPUs: collbench burnin --from FILE");
  }
}

/// Adds to the line that goes on, up to the length of any line that is read: one without an end must not take
/// all memory.
void LogLineReader::carry(std::string_view part) {
  carried_ += part.substr(0, kMaxLogLineBytes - std::min(carried_.size(), kMaxLogLineBytes));
}

/// Without zeros, which a host that crashes leaves in what it was writing.
std::string_view LogLineReader::without_zeros(std::string_view line) {
  if (line.find('\0') == std::string_view::npos) return line;
  if (lines_with_zeros_++ == 0) first_with_zeros_ = number_;
  nonzero_ = line;
  std::erase(nonzero_, '\0');
  return nonzero_;
}

std::string LogLineReader::zeros_note() const {
  if (lines_with_zeros_ == 0) return {};
  return fmt::format("zero bytes in {}, the first on line {}, were left out: a host that crashes leaves such",
                     counted(lines_with_zeros_, "line"), first_with_zeros_);
}

/// The next line of the file as it stands there, without its end.
std::optional<std::string_view> LogLineReader::next_raw() {
  if (carried_was_taken_) carried_.clear();
  carried_was_taken_ = false;
  while (true) {
    const std::size_t end = part_.find('\n');
    if (end != std::string_view::npos) {
      const std::string_view head = part_.substr(0, end);
      part_.remove_prefix(end + 1);
      if (carried_.empty()) return head;
      carry(head);
      carried_was_taken_ = true;
      return carried_;
    }
    carry(part_);
    part_ = over_ ? std::string_view() : parts_();
    if (!part_.empty()) continue;
    over_ = true;
    if (carried_.empty()) return std::nullopt;
    carried_was_taken_ = true;
    return carried_;
  }
}

const LogLine* LogLineReader::next() {
  while (auto raw = next_raw()) {
    ++number_;
    std::string_view line = clean_line(without_zeros(*raw), clean_);
    const std::string_view text = trim(line);
    if (is_no_command(text) || command_.size() > kMaxCommandBytes) command_.clear();
    if (text.ends_with('\\') && (!command_.empty() || begins_a_command(text))) {
      command_.append(line.substr(0, line.rfind('\\')));
      continue;
    }
    if (!command_.empty()) {
      clean_ = std::exchange(command_, {}).append(line);
      line = clean_;
    }
    const bool says_something = all_ || may_say_something(line);
    if (!says_something) continue;
    line_.label = label_of(line);
    if (line.find("<std") != std::string_view::npos) {
      clean_ = without_tags(std::string(line));
      line = clean_;
    }
    split(line, number_, line_);
    return &line_;
  }
  return nullptr;
}

std::optional<LeadingNumber> leading_log_number(std::string_view word) {
  double value = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failure != std::errc{} || !std::isfinite(value)) return std::nullopt;
  LeadingNumber result{value, static_cast<std::size_t>(end - word.data()), 0};
  const std::string_view number = word.substr(0, result.length);
  const std::size_t point = number.find('.');
  if (point != std::string_view::npos) {
    const std::string_view behind = number.substr(point + 1);
    result.decimals = static_cast<int>(std::min(behind.find_first_not_of(kDigits), behind.size()));
  }
  return result;
}

}  // namespace collbench::analysis
