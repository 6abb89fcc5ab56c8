#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/import_log.hpp"
#include "analysis/import/log_readers.hpp"

namespace collbench::analysis {

/// A text at once, where the program reads a file in parts.
inline TextParts in_one_part(std::string_view text) {
  return [text, given = false]() mutable { return std::exchange(given, true) ? std::string_view() : text; };
}

inline Run import_log(const TextParts& parts, std::string_view file, const ImportOptions& options) {
  return std::move(import_runs(parts, file, options, false).front());
}

inline Run import_log(std::string_view text, std::string_view file, const ImportOptions& options) {
  return import_log(in_one_part(text), file, options);
}

/// All of its lines.
inline std::vector<LogLine> log_lines(std::string_view text) {
  LogLineReader reader(in_one_part(text), true);
  std::vector<LogLine> lines;
  while (const LogLine* const line = reader.next()) lines.push_back(*line);
  return lines;
}

inline std::vector<LogTable> read_nccl_tests_text(const std::vector<LogLine>& lines) {
  auto line = lines.begin();
  return read_nccl_tests_text([&]() -> const LogLine* { return line == lines.end() ? nullptr : &*line++; });
}

}  // namespace collbench::analysis
