#include "src/cli/standard_streams.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <memory>

#include "base/error.hpp"
#include "base/files.hpp"
#include "launch/real_machine.hpp"

namespace collbench::program {

std::string input_text(const std::string& path) {
  if (path != "-") return read_file(path);
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

std::string input_name(const std::string& path) { return path == "-" ? "stdin" : path; }

void print_all(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw usage_error("stdout", std::strerror(errno), "free space or redirect elsewhere");
}

int report_failure(const std::exception& failure, bool reports) {
  if (!reports) return 0;
  fmt::print(stderr, "{}\n", describe(failure));
  return static_cast<int>(exit_status(failure));
}

bool is_shown(When when, bool automatic) {
  return when == When::always || (when == When::automatic && automatic);
}

analysis::TextOptions text_options(When color, bool launched) {
  const launch::Terminal terminal = launch::view_terminal(1, launched);
  analysis::TextOptions text;
  if (terminal.columns > 0) text.columns = terminal.columns;
  text.colour = is_shown(color, terminal.is_terminal && std::getenv("NO_COLOR") == nullptr);
  return text;
}

void start_log(bool verbose) {
  auto logger =
      std::make_shared<spdlog::logger>("collbench", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%H:%M:%S.%e %v");
  logger->set_level(verbose ? spdlog::level::debug : spdlog::level::off);
  spdlog::set_default_logger(std::move(logger));
}

void ProgressLine::show(std::string_view text, double now_seconds) {
  constexpr double kSecondsBetween = 0.25;
  if (!shown_ || (dirty_ && now_seconds - last_seconds_ < kSecondsBetween)) return;
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
  dirty_ = true;
  last_seconds_ = now_seconds;
}

void ProgressLine::clear() {
  if (!dirty_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  dirty_ = false;
}

}  // namespace collbench::program
