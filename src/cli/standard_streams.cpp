#include "src/cli/output.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>
#include <memory>

#include "base/error.hpp"
#include "base/files.hpp"

namespace collbench::program {

std::string input_text(const std::string& place) {
  if (place != "-") return read_file(place);
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

std::string input_name(const std::string& place) { return place == "-" ? "stdin" : place; }

void print_all(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw usage_error("stdout", std::strerror(errno), "give it somewhere to write to");
}

void start_log(bool verbose) {
  auto logger =
      std::make_shared<spdlog::logger>("collbench", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%H:%M:%S.%e %v");
  logger->set_level(verbose ? spdlog::level::debug : spdlog::level::off);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace collbench::program
