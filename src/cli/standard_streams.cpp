#include "src/cli/standard_streams.hpp"

#include <fcntl.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text_input.hpp"
#include "base/text_sinks.hpp"
#include "launch/real_machine.hpp"

namespace collbench::program {
namespace {

/// What the reports and messages have beside ASCII.
constexpr std::array<std::pair<std::string_view, std::string_view>, 32> kInAscii{{
    {"µ", "u"},     {"×", "x"},    {"±", "+-"},    {"–", "-"},     {"−", "-"}, {"—", "-"},     {"…", "..."},
    {"α", "alpha"}, {"β", "beta"}, {"γ", "gamma"}, {"κ", "kappa"}, {"·", "."}, {"½", "1/2"},   {"²", "2"},
    {"→", "->"},    {"↔", "<->"},  {"≥", ">="},    {"≤", "<="},    {"≈", "~"}, {"°", " deg "}, {"“", "\""},
    {"”", "\""},    {"‘", "'"},    {"’", "'"},     {"│", "|"},     {"├", "|"}, {"└", "`"},     {"─", "-"},
    {"┬", "-"},     {"⁹", "^9"},   {"σ", "sigma"}, {"⇒", "=>"},
}};

/// Whether the last line of `text` has nothing but its indentation, which keeps its width.
bool begins_line(std::string_view text) {
  text.remove_prefix(text.rfind('\n') + 1);
  if (text.starts_with('#')) text.remove_prefix(1);
  return text.find_first_not_of(' ') == std::string_view::npos;
}

/// What stderr does not take is lost: nobody is left to be told, and nothing else shall fail for it.
void write_to_stderr(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

/// COLUMNS as a number of columns; 0 where it is none.
int columns_of_environment() {
  return static_cast<int>(parse_integer(variable_value("COLUMNS"), 1, 10'000).value_or(0));
}

/// spdlog's lines go the way of all messages.
class MessageSink : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    print_message({line.data(), line.size()});
  }
  void flush_() override { std::fflush(stderr); }
};

}  // namespace

void reserve_standard_streams() {
  // The lowest number that is free is the one that open returns.
  int fd = ::open("/dev/null", O_RDONLY);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDONLY);
  if (fd > STDERR_FILENO) ::close(fd);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

std::string input_text(const std::string& path) {
  if (path != "-") return read_file(path);
  std::string text;
  const auto parts = input_parts(path);
  for (std::string_view part = parts(); !part.empty(); part = parts()) {
    text += part;
    if (text.size() > kMaxFileBytes) throw too_large(input_name(path));
  }
  return text;
}

std::function<std::string_view()> input_parts(const std::string& path) {
  constexpr std::size_t kPartBytes = std::size_t{1} << 18U;
  const int opened = path == "-" ? ::dup(STDIN_FILENO) : open_for_reading(path);
  if (opened < 0) throw file_error(path, "read", errno);
  const auto file = std::make_shared<FileDescriptor>(opened);
  const auto part = std::make_shared<std::vector<char>>(kPartBytes);
  return [file, part, path]() -> std::string_view {
    ssize_t got = 0;
    do {
      got = ::read(file->get(), part->data(), part->size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) throw file_error(path, "read", errno);
    return {part->data(), static_cast<std::size_t>(got)};
  };
}

void rewind_stdin() {
  if (::lseek(STDIN_FILENO, 0, SEEK_SET) == 0) return;
  const MemoryFile kept("stdin", input_text("-"));
  if (::dup2(kept.descriptor(), STDIN_FILENO) != STDIN_FILENO) throw file_error("stdin", "read", errno);
}

std::string input_name(const std::string& path) { return path == "-" ? "stdin" : path; }

void print_all(std::string_view text) {
  const std::string shown = terminal_text(text);
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size() && std::fflush(stdout) == 0) return;
  throw usage_error("stdout", std::strerror(errno),
                    errno == EPIPE ? "let its reader read to the end, or write a file with -o"
                                   : "free space or redirect elsewhere");
}

void print_text(std::string_view text) {
  if (locale_is_ascii()) {
    print_all(in_ascii(text));
  } else {
    print_all(text);
  }
}

void print_message(std::string_view line) {
  write_to_stderr((locale_is_ascii() ? in_ascii(page_text(line)) : page_text(line)) + "\n");
}

bool locale_is_ascii() {
  for (const char* const variable : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const std::string value = variable_value(variable); !value.empty())
      return value == "C" || value == "POSIX";
  return false;
}

std::string in_ascii(std::string_view text) {
  std::string ascii;
  while (!text.empty()) {
    if (static_cast<unsigned char>(text.front()) < 0x80) {
      ascii += text.front();
      text.remove_prefix(1);
      continue;
    }
    std::size_t length = 1;  // of a character in UTF-8: what follows its first byte begins with the bits 10
    while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) ++length;
    const std::string_view character = text.substr(0, length);
    const auto* const found =
        std::ranges::find_if(kInAscii, [&](const auto& each) { return each.first == character; });
    const std::string_view word = found == kInAscii.end() ? "?" : found->second;
    if (!begins_line(ascii)) {
      for (std::size_t i = 1; i < word.size() && ascii.ends_with("  "); ++i) ascii.pop_back();
    }
    ascii += word;
    text.remove_prefix(length);
  }
  return ascii;
}

int report_failure(const std::exception& failure, bool reports) {
  if (!reports) return 0;
  print_message(describe(failure));
  return static_cast<int>(exit_status(failure));
}

bool is_shown(When when, bool automatic) {
  return when == When::always || (when == When::automatic && automatic);
}

analysis::TextOptions text_options(When color, bool launched) {
  const launch::Terminal terminal = launch::view_terminal(1, launched);
  analysis::TextOptions text;
  const int columns = columns_of_environment();
  if (terminal.columns > 0) text.columns = terminal.columns;
  if (columns > 0) text.columns = columns;
  text.color =
      is_shown(color, terminal.is_terminal && std::getenv("NO_COLOR") == nullptr && !terminal_is_dumb());
  return text;
}

void start_log(bool verbose) {
  auto logger = std::make_shared<spdlog::logger>("collbench", std::make_shared<MessageSink>());
  logger->set_formatter(
      std::make_unique<spdlog::pattern_formatter>("%H:%M:%S.%e %v", spdlog::pattern_time_type::local, ""));
  logger->set_level(verbose ? spdlog::level::debug : spdlog::level::off);
  spdlog::set_default_logger(std::move(logger));
}

bool terminal_is_dumb() { return variable_value("TERM") == "dumb"; }

void ProgressLine::show(std::string_view text, double now_seconds) {
  constexpr double kSecondsBetween = 0.25;
  if (!shown_ || (dirty_ && now_seconds - last_seconds_ < kSecondsBetween)) return;
  if (terminal_is_dumb()) {
    print_message(text);
  } else {
    write_to_stderr("\r\x1b[K" + (locale_is_ascii() ? in_ascii(one_line(text)) : one_line(text)));
  }
  dirty_ = true;
  last_seconds_ = now_seconds;
}

void ProgressLine::clear() {
  if (!dirty_) return;
  if (!terminal_is_dumb()) write_to_stderr("\r\x1b[K");
  dirty_ = false;
}

}  // namespace collbench::program
