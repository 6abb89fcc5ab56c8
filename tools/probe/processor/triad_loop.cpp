#include "tools/probe/processor/processor_probe.hpp"

#include <cstddef>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace collbench::collectives {

void triad(std::span<double> a, std::span<const double> b, std::span<const double> c, double factor) {
  // Without these three the compiler would ask in each call whether the arrays overlap.
  double* __restrict const to = a.data();
  const double* __restrict const first = b.data();
  const double* __restrict const second = c.data();
  for (std::size_t i = 0; i < a.size(); ++i) to[i] = first[i] + factor * second[i];
}

#if defined(__SSE2__)

bool has_streaming_stores() { return true; }

void triad_streaming(std::span<double> a, std::span<const double> b, std::span<const double> c,
                     double factor) {
  const __m128d factors = _mm_set1_pd(factor);
  for (std::size_t i = 0; i < a.size(); i += 2) {
    _mm_stream_pd(&a[i], _mm_add_pd(_mm_loadu_pd(&b[i]), _mm_mul_pd(factors, _mm_loadu_pd(&c[i]))));
  }
  _mm_sfence();
}

#else

bool has_streaming_stores() { return false; }

void triad_streaming(std::span<double> a, std::span<const double> b, std::span<const double> c,
                     double factor) {
  triad(a, b, c, factor);
}

#endif

}  // namespace collbench::collectives
