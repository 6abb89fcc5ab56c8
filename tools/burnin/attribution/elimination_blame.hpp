#pragma once
#include "tools/burnin/attribution/blame.hpp"
#include "tools/burnin/attribution/pairs/pair_design.hpp"

namespace collbench::analysis {

/// What elimination (pair_elimination.hpp) says of a design in which most nodes met one or two others.
/// `expected_seconds`: of every pair; 0: not known, and then nothing is said of a star's reference.
[[nodiscard]] Attribution attribute_by_elimination(const PairTable& table, const PairDesign& design,
                                                   double expected_seconds);

}  // namespace collbench::analysis
