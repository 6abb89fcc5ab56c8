#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace collbench::analysis {

/// A line of a log in two parts, for NCCL writes its own lines into the middle of others'.
struct LogLine {
  int number = 1;    ///< in the file, from 1
  std::string text;  ///< without ANSI codes, launchers' tags and line end, and without what follows
  std::string nccl;  ///< behind "NCCL INFO" (or WARN, TRACE): NCCL's own words; empty when there are none
  std::string nccl_host;  ///< the host before ":pid:thread [device]"; empty when not known
};

/// Refuses what is no text: empty, UTF-16, or with a byte 0 in it. Other broken bytes are left alone: a log
/// is many programs' output. `file` stands in the Error (usage).
void require_log_text(std::string_view text, std::string_view file);

/// The lines of a log.
[[nodiscard]] std::vector<LogLine> log_lines(std::string_view text);

/// The number at the start of `word`, and how much of the word it is; none when there is none.
struct LeadingNumber {
  double value = 0;
  std::size_t length = 0;
  int decimals = 0;  ///< digits behind the point
};
[[nodiscard]] std::optional<LeadingNumber> leading_log_number(std::string_view word);

}  // namespace collbench::analysis
