#pragma once
#include <string>

#include "base/record/run.hpp"

namespace collbench::program {

/// The next useful command after a run, with its reason: "collbench doctor on n1: …". By what the run saw,
/// the worst first: wrong data, rows that are BELOW, one rank alone, a straggler, other load, intervals that
/// are too wide; else what to do with the record. `record` is the file that holds it; empty: none was asked
/// for. Empty for a run that is not complete, whose last message says how to go on.
[[nodiscard]] std::string next_step(const Run& run, const std::string& record);

/// The same as the last line of a text report, at most `columns` wide; empty for none.
[[nodiscard]] std::string next_step_text(const std::string& step, int columns);

}  // namespace collbench::program
