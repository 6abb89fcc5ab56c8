#include "base/text_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/locale/utf.hpp>
#include <cctype>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/number_range.hpp"

namespace collbench {
namespace {

/// Bytes of the UTF-8 character at the start of `text`, 0 when it is none (cut, overlong or a surrogate).
std::size_t utf8_length(std::string_view text) {
  const char* next = text.data();
  const auto character = boost::locale::utf::utf_traits<char>::decode(next, text.data() + text.size());
  const bool whole = boost::locale::utf::is_valid_codepoint(character);
  return whole ? static_cast<std::size_t>(next - text.data()) : 0;
}

bool is_text_control(char c) { return c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == '\x1b'; }

/// Without ESC [ … and its final byte (ECMA-48, 5.4: @ to ~), and without the same thing as JSON writes it
/// (\u001b[4m). What is cut short ends before the next character, which may have several bytes.
std::string without_ansi(std::string_view line) {
  std::string clean;
  while (!line.empty()) {
    std::size_t skip = 0;
    if (line.front() == '\x1b') skip = 1;
    if (line.substr(0, 6) == "\\u001b") skip = 6;
    if (skip > 0 && skip < line.size() && line[skip] == '[') {
      skip = std::min(line.find_first_not_of("0123456789;?", skip + 1), line.size());
      if (skip < line.size() && line[skip] >= '@' && line[skip] <= '~') ++skip;
    }
    if (skip == 0) clean += line[skip++];
    line.remove_prefix(skip);
  }
  return clean;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

std::optional<Error> foreign_file(std::string_view text, std::string_view file, std::string_view reader) {
  // The first bytes of each: RFC 1952, RFC 8878, xz-file-format 1.2.1, bzip2 and ZIP's own documents.
  constexpr std::array<std::tuple<std::string_view, const char*, const char*>, 5> kCompressed{
      {{"\x1f\x8b", "gzip", "zcat"},
       {"\x28\xb5\x2f\xfd", "zstd", "zstdcat"},
       {{"\xfd"
         "7zXZ\0",
         6},
        "xz",
        "xzcat"},
       {"BZh", "bzip2", "bzcat"},
       {"PK\x03\x04", "ZIP", "unzip -p"}}};
  const std::string name = file == "stdin" ? "FILE" : std::string(file);
  for (const auto& [magic, kind, tool] : kCompressed) {
    if (!text.starts_with(magic)) continue;
    return usage_error(std::string(file), fmt::format("the file is compressed ({})", kind),
                       reader.empty() ? fmt::format("decompress it: {} {}", tool, name)
                                      : fmt::format("{} {} | {}", tool, name, reader));
  }
  const std::string start = lower(trim(text.substr(0, 1024)));
  if (start.starts_with("<!doctype html") || start.starts_with("<html")) {
    return usage_error(std::string(file), "the file is an HTML page",
                       "save the text itself (\"raw\" where a web page shows a file)");
  }
  if (start.starts_with("%pdf-")) {
    return usage_error(std::string(file), "the file is a PDF", "save the text itself");
  }
  return std::nullopt;
}

bool looks_like_csv(std::string_view text) {
  text = trim(text);
  const std::string_view line = text.substr(0, text.find('\n'));
  // Before it is split: a run record of thousands of ranks is one line of a hundred megabytes.
  if (line.find_first_of(":{}[]") != std::string_view::npos) return false;
  const auto cells = split_cells(line, ',');
  constexpr std::size_t kMinCells = 4;
  return cells.size() >= kMinCells &&
         std::ranges::none_of(cells, [](const std::string& cell) { return cell.empty(); });
}

void require_text(std::string_view text, std::string_view file, std::string_view expected,
                  std::size_t max_bytes) {
  const auto refuse = [&](std::string_view where, std::string_view what, std::string_view next_step) {
    return usage_error(std::string(where), fmt::format("{}; expected {}", what, expected),
                       std::string(next_step));
  };
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw refuse(file, "the file is empty", "save the output again");
  }
  if (const auto foreign = foreign_file(text, file, "")) throw Error(*foreign);
  if (text.size() > max_bytes) {
    throw refuse(file, fmt::format("the file has {} bytes, more than {}", text.size(), max_bytes),
                 "check that it is the right file");
  }
  if (text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF") {
    throw refuse(file, "the file is UTF-16", "convert it: iconv -f UTF-16 -t UTF-8");
  }
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c >= ' ' && c <= '~') {  // most of every file
      ++at;
      continue;
    }
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) {
      throw refuse(location(file, line_of(text, at)), fmt::format("byte 0x{:02x} is not UTF-8", c & 0xFF),
                   "check that it is a text file, or convert it with iconv");
    }
    if (static_cast<unsigned char>(c) < 0x20 && !is_text_control(c)) {
      throw refuse(location(file, line_of(text, at)),
                   fmt::format("byte 0x{:02x} does not occur in text files", c & 0xFF),
                   "check that it is the right file");
    }
    at += length;
  }
}

std::size_t drop_nuls(std::string& text) {
  std::ptrdiff_t runs = 0;
  for (std::size_t at = text.find('\0'); at != std::string::npos; at = text.find('\0', at)) {
    ++runs;
    at = std::min(text.find_first_not_of('\0', at), text.size());
  }
  if (runs == 0 || runs > 1 + std::ranges::count(text, '\n') || foreign_file(text, "", "")) return 0;
  return std::erase(text, '\0');
}

std::optional<std::string> line_in_json(std::string_view line) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 16U;  // Docker cuts a line at 16 KiB
  line = trim(line);
  if (line.size() > kMaxBytes || !line.starts_with('{') || !line.ends_with('}')) return std::nullopt;
  const auto object = nlohmann::json::parse(line, nullptr, false);
  for (const char* key : {"log", "message", "textPayload", "line"}) {
    const auto text = object.find(key);
    if (text != object.end() && text->is_string()) return text->get<std::string>();
  }
  return std::nullopt;
}

std::string_view clean_line(std::string_view line, std::string& storage) {
  constexpr std::string_view kNoBreakSpace = "\xC2\xA0";
  const auto has = [&line](std::string_view what) { return line.find(what) != std::string_view::npos; };
  if (line.starts_with('{')) {
    if (auto inner = line_in_json(line)) line = storage = *std::move(inner);
  }
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (has("\x1b") || has("\\u001b")) line = storage = without_ansi(line);
  if (!has(kNoBreakSpace)) return line;
  std::string clean;  // in one pass: a line may be a whole file
  for (std::size_t at = 0; (at = line.find(kNoBreakSpace)) != std::string_view::npos;
       line.remove_prefix(at + kNoBreakSpace.size()))
    clean.append(line, 0, at) += ' ';
  return storage = clean.append(line);
}

std::vector<Line> clean_lines(std::string_view text) {
  std::vector<Line> lines;
  std::string storage;
  int number = 1;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back({std::string(clean_line(text.substr(0, end), storage)), number++});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string location(std::string_view file, int line) { return fmt::format("{}:{}", file, line); }

int line_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  return 1 + static_cast<int>(std::ranges::count(before, '\n'));
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  text = trim(text);
  for (const auto* at = text.begin(); at != text.end(); at = std::find_if_not(at, text.end(), is_blank)) {
    const auto* const end = std::find_if(at, text.end(), [](char c) { return c == ' ' || c == '\t'; });
    words.emplace_back(at, end);
    at = end;
  }
  return words;
}

std::vector<std::string> split_cells(std::string_view text, char separator) {
  std::vector<std::string> cells;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    cells.emplace_back(trim(text.substr(start, end - start)));
    start = end + 1;
  }
  return cells;
}

std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t least, std::int64_t most) {
  const auto value = whole_number<std::int64_t>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> leading_number(std::string_view text) {
  text = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !kQuantity.contains(value)) return std::nullopt;
  return value;
}

std::string excerpt(std::string_view text, std::size_t most) {
  std::string shown;
  for (const char c : trim(text)) {
    if (shown.size() >= most) return shown + "…";
    // A multi-byte character may be cut by the limit, so what is not ASCII is left out.
    if (c == '\t') shown += ' ';
    if (c >= 0x20 && c < 0x7F) shown += c;
  }
  return shown;
}

}  // namespace collbench
