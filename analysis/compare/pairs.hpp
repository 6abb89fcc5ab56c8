#pragma once
#include <string>
#include <vector>

#include "analysis/compare/comparison.hpp"
#include "base/record/run.hpp"

namespace collbench::analysis {

/// After how many rounds a comparison of at most `rounds` may end: 6, then a third more each time, and
/// `rounds`. Fixed beforehand, so that what ending early costs is known. Precondition: at least 1.
[[nodiscard]] std::vector<int> looks_of(int rounds);

/// Launches of two commands in turn: `a[i]` and `b[i]` are one round. Rows are matched as `compare`
/// does, and also where they differ in the algorithm alone that each side asked for. Of
/// each row and round the logarithm of B's time over A's is one value, of the passes in the state of the
/// machine that both were in; a round without such a state is left out of the row. These values are compared
/// with 0 by Student's t, at significance over the number of looks (Bonferroni: `looks_of(max_rounds)`), p
/// adjusted by Holm over rows: that any row is called changed at any look when none is has at most the chance
/// of `options.significance`. The interval is that of all looks together. Throws as `compare`.
[[nodiscard]] Comparison compare_pairs(std::vector<Run> a, std::vector<Run> b, int max_rounds,
                                       const CompareOptions& options);

/// Whether each row that both have is SLOWER, FASTER or SAME.
[[nodiscard]] bool is_decided(const Comparison& comparison);

/// "AllReduce 8 B float sum: B is 3.1 % faster (2.4 to 3.9 %), 20 pairs": a sentence for each row that is
/// decided, in its order.
[[nodiscard]] std::vector<std::string> pair_sentences(const Comparison& comparison);

}  // namespace collbench::analysis
