#pragma once
#include <exception>
#include <functional>
#include <string>
#include <string_view>

#include "analysis/report/report.hpp"
#include "src/cli/options.hpp"

// Standard input, output and error of the program.

namespace collbench::program {

/// Opens what of stdin, stdout and stderr the caller closed, so that no file of a run gets its number, and
/// with it what is printed: reading finds the end, and writing fails. So does writing to a reader that has
/// gone (`| head`) or beyond the largest size of a file (ulimit -f), which end no process. To be called
/// first.
void reserve_standard_streams();

/// The whole of a file, or of stdin for "-". Throws Error (usage) naming the file and the system's reason.
[[nodiscard]] std::string input_text(const std::string& path);

/// The same part by part, for what may be too large to be kept. Throws the same Error, at once where the file
/// cannot be opened.
[[nodiscard]] std::function<std::string_view()> input_parts(const std::string& path);

/// Back to the start of stdin, for whoever reads it next; what is no file becomes one, in memory. Throws
/// Error (usage) where it cannot be read.
void rewind_stdin();

/// What messages call it: the file's name, or "stdin".
[[nodiscard]] std::string input_name(const std::string& path);

/// Writes all of `text` to stdout. Throws Error (usage) when it cannot: a full disk behind a redirection.
void print_all(std::string_view text);

/// The same of text for a person: in ASCII where the locale's characters are.
void print_text(std::string_view text);

/// One line to stderr, in ASCII where the locale's characters are.
void print_message(std::string_view line);

/// Whether the environment asks for ASCII: the first that is set of LC_ALL, LC_CTYPE and LANG is C or POSIX.
/// Where none is set, UTF-8 is what everybody's terminal has.
[[nodiscard]] bool locale_is_ascii();

/// The text in ASCII, for a locale without more: µ as u, × as x. A column keeps its width where a longer word
/// has blanks before it.
[[nodiscard]] std::string in_ascii(std::string_view text);

/// The exit status of a process that `failure` ends. Only rank 0 `reports`: the others write nothing to
/// stderr and leave with 0, so that mpirun does not report every rank.
[[nodiscard]] int report_failure(const std::exception& failure, bool reports);

/// Whether something for a person's eyes is shown, given what `automatic` would be.
[[nodiscard]] bool is_shown(When when, bool automatic);

/// As wide as COLUMNS says, else as the terminal that stdout ends in; colored when it is one, TERM is not
/// "dumb" and NO_COLOR is not set. `launched`: under mpirun it is mpirun's stdout that counts.
[[nodiscard]] analysis::TextOptions text_options(When color, bool launched);

/// Lets spdlog write to stderr, step by step, what this process does (--verbose). Without it spdlog stays
/// silent: what a user must know is in the output or an Error.
void start_log(bool verbose);

/// Whether TERM says that the terminal shows no colors and moves no cursor.
[[nodiscard]] bool terminal_is_dumb();

/// One line on stderr that replaces itself, for a person who waits; nothing when switched off. On a dumb
/// terminal every text is a line.
class ProgressLine {
 public:
  explicit ProgressLine(bool shown) : shown_(shown) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  /// Shows `text` unless the last one is younger than a quarter of a second by `now_seconds`.
  void show(std::string_view text, double now_seconds);
  /// Leaves an empty line behind.
  void clear();

 private:
  bool shown_;
  bool dirty_ = false;
  double last_seconds_ = -1;
};

}  // namespace collbench::program
