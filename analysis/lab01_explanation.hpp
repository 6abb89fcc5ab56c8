#pragma once
#include <string>

#include "base/record/run.hpp"

namespace collbench {

/// Why a row of the run is as it is, made of what the record holds: how much of the run's own peak it reaches
/// (below half: its steps cost more than its bytes), what it is of the expectation, and what the log says
/// that bears on it.
[[nodiscard]] std::string lab01_explanation(const Run& run, const Row& row);

}  // namespace collbench
