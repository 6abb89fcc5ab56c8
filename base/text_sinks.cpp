#include "base/text_sinks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/locale/utf.hpp>
#include <cstddef>
#include <utility>

#include "base/text_input.hpp"

namespace collbench {
namespace {

constexpr char32_t kNoCharacter = 0xFFFFFFFF;
constexpr std::string_view kReplacement = "\uFFFD";

/// In order. Default_Ignorable_Code_Point but for the first three, 2028, 2029, FDD0 and FFF9.
constexpr std::array<std::pair<char32_t, char32_t>, 22> kHidden{{
    {0x00, 0x1F},       {0x7F, 0x9F},
    {0xAD, 0xAD},       {0x034F, 0x034F},
    {0x061C, 0x061C},   {0x115F, 0x1160},
    {0x17B4, 0x17B5},   {0x180B, 0x180F},
    {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F},   {0x3164, 0x3164},
    {0xD800, 0xDFFF},   {0xFDD0, 0xFDEF},
    {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
    {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
    {0xE0000, 0xE0FFF}, {0x110000, kNoCharacter},
}};

/// A code point with its bytes; kNoCharacter with one byte where that is not UTF-8.
struct Letter {
  char32_t code_point = kNoCharacter;
  std::string_view bytes;
};

Letter first_letter(std::string_view text) {
  const char* next = text.data();
  const auto found = boost::locale::utf::utf_traits<char>::decode(next, text.data() + text.size());
  if (!boost::locale::utf::is_valid_codepoint(found)) return {kNoCharacter, text.substr(0, 1)};
  return {found, text.substr(0, static_cast<std::size_t>(next - text.data()))};
}

/// Bytes of printable ASCII at the start: most of every text.
std::size_t plain_bytes(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if(text, [](char c) { return c < ' ' || c > '~'; }) -
                                  text.begin());
}

std::string in_place_of_control(const Letter& letter) {
  if (letter.code_point < 0x20 || letter.code_point == 0x7F) return " ";
  return std::string(is_hidden(letter.code_point) ? kReplacement : letter.bytes);
}

/// `kept` says how much of the start of a text stays as it is, `written` what stands for any other letter.
template <class Kept>
std::string shown(std::string_view text, const Kept& kept,
                  std::string (*written)(const Letter& letter) = in_place_of_control) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    if (const std::size_t stays = std::max(plain_bytes(text), kept(text)); stays > 0) {
      out += text.substr(0, stays);
      text.remove_prefix(stays);
      continue;
    }
    const Letter letter = first_letter(text);
    out += written(letter);
    text.remove_prefix(letter.bytes.size());
  }
  return out;
}

std::size_t kept_of_page(std::string_view text) {
  return text.front() == '\n' || text.front() == '\t' ? 1 : 0;
}

std::size_t kept_of_terminal(std::string_view text) {
  for (const std::string_view color : {"\x1b[0m", "\x1b[2m", "\x1b[31m", "\x1b[33m"}) {
    if (text.starts_with(color)) return color.size();
  }
  return kept_of_page(text);
}

/// As Excel, LibreOffice and others see it: also by the wide forms of the signs, and behind blanks.
bool begins_formula(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  constexpr std::array<std::string_view, 8> kSigns{"=", "+", "-", "@", "＝", "＋", "－", "＠"};
  return std::ranges::any_of(kSigns, [text](std::string_view sign) { return text.starts_with(sign); }) &&
         !whole_number<double>(text);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Where a line that begins like this would be a heading or an item of a list: the byte to escape; npos where
/// it is none.
std::size_t begins_block(std::string_view line) {
  const auto ends_at = [line](std::size_t at) { return at >= line.size() || line[at] == ' '; };
  if (line.starts_with('#'))
    return ends_at(std::min(line.find_first_not_of('#'), line.size())) ? 0 : std::string_view::npos;
  if (line.starts_with('-') || line.starts_with('+'))
    return ends_at(1) || line[1] == line[0] ? 0 : std::string_view::npos;
  const auto digits = static_cast<std::size_t>(std::ranges::find_if_not(line, is_digit) - line.begin());
  const bool is_item = digits > 0 && digits < line.size() && (line[digits] == '.' || line[digits] == ')');
  return is_item && ends_at(digits + 1) ? digits : std::string_view::npos;
}

/// Markup, an entity, or what GitHub makes a link or a formula of.
bool is_markup(std::string_view line, std::size_t at) {
  const char c = line[at];
  const std::string_view rest = line.substr(at + 1);
  if (std::string_view("\\`*<>|[]~_$@").find(c) != std::string_view::npos) return true;
  if (c == '&') return !rest.empty() && (rest.front() == '#' || is_letter(rest.front()));
  if (c == ':') return rest.starts_with("//");
  return c == '.' && at >= 3 && (line.substr(at - 3, 3) == "www" || line.substr(at - 3, 3) == "WWW");
}

std::string letter_of_json(const Letter& letter) {
  if (letter.code_point == kNoCharacter) return std::string(kReplacement);
  if (!is_hidden(letter.code_point)) return std::string(letter.bytes);
  if (letter.code_point < 0x10000) return fmt::format("\\u{:04x}", static_cast<unsigned>(letter.code_point));
  const auto above = static_cast<unsigned>(letter.code_point) - 0x10000U;  // as the two halves of UTF-16
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800U + (above >> 10U), 0xDC00U + (above & 0x3FFU));
}

}  // namespace

bool is_hidden(char32_t code_point) {
  const bool is_in_table = std::ranges::any_of(kHidden, [code_point](const auto& range) {
    return range.first <= code_point && code_point <= range.second;
  });
  return is_in_table || (code_point & 0xFFFEU) == 0xFFFE;  // the last two of each plane are no characters
}

std::string one_line(std::string_view text) {
  return shown(text, [](std::string_view) { return std::size_t{0}; });
}

std::string page_text(std::string_view text) { return shown(text, kept_of_page); }

std::string terminal_text(std::string_view text) { return shown(text, kept_of_terminal); }

std::string csv_cell(std::string_view text) {
  std::string cell = one_line(text);
  if (begins_formula(cell)) cell.insert(0, "'");
  if (cell.find_first_of(",\"") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char letter : cell) quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return quoted + "\"";
}

std::string markdown_text(std::string_view text) {
  const std::string line = one_line(text);
  const std::size_t block = begins_block(line);
  std::string result;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (at == block || is_markup(line, at)) result += '\\';
    result += line[at];
  }
  return result;
}

std::string xml_text(std::string_view text) {
  constexpr std::array<std::pair<char, const char*>, 5> kEntities{
      {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}}};
  std::string safe;
  for (const char letter : one_line(text)) {
    const auto* const found =
        std::ranges::find_if(kEntities, [letter](const auto& each) { return each.first == letter; });
    safe += found == kEntities.end() ? std::string(1, letter) : std::string(found->second);
  }
  return safe;
}

std::string dot_text(std::string_view text) {
  std::string safe;
  for (const char letter : one_line(text)) {
    if (letter == '"' || letter == '\\') safe += '\\';
    safe += letter;
  }
  return safe;
}

std::string roff_text(std::string_view text) {
  constexpr std::array<std::pair<char32_t, const char*>, 7> kEscapes{{{U'\\', "\\(rs"},
                                                                      {U'-', "\\-"},
                                                                      {U'\'', "\\(aq"},
                                                                      {U'"', "\\(dq"},
                                                                      {U'^', "\\(ha"},
                                                                      {U'~', "\\(ti"},
                                                                      {U'`', "\\(ga"}}};
  const std::string line = one_line(text);
  std::string safe = line.starts_with('.') ? "\\&" : "";
  for (std::string_view rest = line; !rest.empty();) {
    const Letter letter = first_letter(rest);
    const auto* const found = std::ranges::find_if(
        kEscapes, [&letter](const auto& each) { return each.first == letter.code_point; });
    if (found != kEscapes.end()) {
      safe += found->second;
    } else {
      safe += letter.code_point < 0x80 ? std::string(letter.bytes)
                                       : fmt::format("\\[u{:04X}]", static_cast<unsigned>(letter.code_point));
    }
    rest.remove_prefix(letter.bytes.size());
  }
  return safe;
}

std::string json_text(std::string_view json) { return shown(json, kept_of_page, letter_of_json); }

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return std::string(word);
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

bool is_host_name(std::string_view name) {
  constexpr std::size_t kMaxBytes = 255;
  const bool is_all =
      name.size() == 3 && (name[0] | ' ') == 'a' && (name[1] | ' ') == 'l' && (name[2] | ' ') == 'l';
  return !name.empty() && !is_all && name.size() <= kMaxBytes && name.front() != '-' && name.front() != '.' &&
         std::ranges::all_of(
             name, [](char c) { return is_digit(c) || is_letter(c) || c == '-' || c == '.' || c == '_'; });
}

}  // namespace collbench
