#pragma once
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.hpp"

namespace collbench {

/// No real file of a topology comes near this; a larger one is refused before it is looked at.
inline constexpr std::size_t kMaxInputBytes = std::size_t{16} << 20U;

/// One line of an input, with its number for messages.
struct Line {
  std::string text;
  int number = 1;  ///< in the file, from 1
};

/// What a file is that holds no text of its own: compressed, a web page, a PDF. None for what may be text;
/// `file` stands in the Error (usage), and `reader` is the command that would read it from a pipe ("collbench
/// import -"; empty: none).
[[nodiscard]] std::optional<Error> foreign_file(std::string_view text, std::string_view file,
                                                std::string_view reader);

/// Whether the first line that is not empty is CSV: cells between at least three commas, and words in them.
[[nodiscard]] bool looks_like_csv(std::string_view text);

/// Refuses what is no text: empty, too large, UTF-16, binary, or broken UTF-8. `file` and the line stand in
/// the Error (usage); `expected` says what should be there, such as "the output of nvidia-smi topo -m".
void require_text(std::string_view text, std::string_view file, std::string_view expected,
                  std::size_t max_bytes = kMaxInputBytes);

/// Drops the NUL bytes that a crash leaves in a log (a file system keeps the length of what it did not get to
/// write), and returns how many. A text in which they stand more than once a line is no log (UTF-16, binary):
/// it is left as it is, 0.
std::size_t drop_nuls(std::string& text);

/// What a program wrote, out of the JSON object that a container's log driver or a collector makes of each
/// line: "log" (Docker, Fluent Bit), "message", "textPayload" (Cloud Logging), "line" (Loki). None for
/// another line.
[[nodiscard]] std::optional<std::string> line_in_json(std::string_view line);

/// The line out of such an object, without ANSI codes and line end, with blanks for no-break spaces; kept in
/// `storage` where that is not `line` itself.
[[nodiscard]] std::string_view clean_line(std::string_view line, std::string& storage);

[[nodiscard]] std::vector<Line> clean_lines(std::string_view text);

/// "FILE:LINE".
[[nodiscard]] std::string location(std::string_view file, int line);

/// Number of the line that holds the byte at `offset`, from 1.
[[nodiscard]] int line_of(std::string_view text, std::size_t offset);

[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] std::string lower(std::string_view text);

/// The words between blanks and tabs.
[[nodiscard]] std::vector<std::string> split_words(std::string_view text);

/// The cells between every `separator`, trimmed; empty ones are kept.
[[nodiscard]] std::vector<std::string> split_cells(std::string_view text, char separator);

/// The whole of `text` as a number, integers in decimal digits; none for anything else.
template <typename Number>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The whole of `text` as a decimal integer in [least, most].
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t least,
                                                        std::int64_t most);

/// The whole of `text` as a hexadecimal number, with or without 0x.
[[nodiscard]] std::optional<std::uint64_t> parse_hex(std::string_view text);

/// The number at the start of `text` ("26.562 GB/s"); finite and not negative.
[[nodiscard]] std::optional<double> leading_number(std::string_view text);

/// At most `most` characters of something foreign, fit to stand in a message.
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t most = 60);

}  // namespace collbench
