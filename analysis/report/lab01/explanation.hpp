#pragma once
#include <string>

#include "base/record/run.hpp"

namespace collbench::analysis {

/// Why a row of the run (an element of run.rows) is as it is, made of what the record holds: its own
/// explanation where it was judged; else how much of the run's own peak it reaches (below half: its steps
/// cost more than its bytes), what it is of the expectation, and what the log says that bears on it.
[[nodiscard]] std::string lab01_explanation(const Run& run, const Row& row);

/// "FAULT: 3.2 GB/s at 8 GiB is ...": on the sweep that `row` is part of; empty where it was not judged.
[[nodiscard]] std::string lab01_verdict(const Run& run, const Row& row);

}  // namespace collbench::analysis
