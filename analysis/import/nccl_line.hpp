#pragma once
#include <map>
#include <string>

#include "analysis/import/log_lines.hpp"
#include "base/record/log_facts.hpp"

namespace collbench::analysis {

/// Adds what a line of NCCL's own (NCCL_DEBUG=INFO, versions 2.4 to 2.30 as seen) says of the job to `facts`,
/// and a variable that it found set to `environment`. The first line that says something stands; another
/// that contradicts it becomes a note.
void note_nccl_line(const LogLine& line, LogFacts& facts, std::map<std::string, std::string>& environment);

/// `fact` as said in `line`, when none has been said before; a different one becomes a note.
template <class Value>
void say(MaybeLogFact<Value>& fact, Value value, int line) {
  if (!fact) fact = {std::move(value), line};
}

/// "2.23.4+cuda12.6" behind "NCCL version "; empty when `text` has none.
[[nodiscard]] std::string nccl_version_in(std::string_view text);

}  // namespace collbench::analysis
