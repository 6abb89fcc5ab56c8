#pragma once
#include <span>

namespace collbench::collectives {

/// a = b + factor · c, as STREAM's triad (McCalpin, 1995). Counted are 24 bytes an element; where a store
/// first reads its line, memory moves 32. Precondition: equal lengths.
void triad(std::span<double> a, std::span<const double> b, std::span<const double> c, double factor);

/// Whether this processor has stores that pass the caches by.
[[nodiscard]] bool has_streaming_stores();

/// The same with such stores, where there are any: no line is read to be overwritten. Precondition: `a`
/// begins at a multiple of 16 bytes and has an even length.
void triad_streaming(std::span<double> a, std::span<const double> b, std::span<const double> c,
                     double factor);

}  // namespace collbench::collectives
