#include "collectives/compute/matrix_product.hpp"

#include <algorithm>
#include <random>

namespace collbench::collectives {
namespace {

/// Normal numbers, the same in every run: what matrices hold changes what a processor or GPU draws, and so
/// its clock.
template <typename Number>
void fill_normal(std::span<Number> numbers, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<Number> normal;
  std::generate(numbers.begin(), numbers.end(), [&] { return normal(generator); });
}

}  // namespace

template <typename Number>
CoreWork product_work(const BlasLibrary& blas, int n) {
  struct Matrices {
    AlignedArray<Number> a, b, c;
  };
  const auto count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const auto matrices = std::make_shared<Matrices>(Matrices{{count, 0}, {count, 0}, {count, 0}});
  fill_normal(matrices->a.span(), 1);
  fill_normal(matrices->b.span(), 2);
  const double flop = 2.0 * n * n * n;
  // Many small products are a piece of work: reading the clock would be felt.
  constexpr double kPiece = 2e6;
  const int times = std::max(1, static_cast<int>(kPiece / flop));
  return [&blas, n, matrices, flop, times] {
    for (int i = 0; i < times; ++i)
      multiply(blas, n, matrices->a.data(), matrices->b.data(), matrices->c.data());
    return flop * times;
  };
}

template CoreWork product_work<double>(const BlasLibrary& blas, int n);
template CoreWork product_work<float>(const BlasLibrary& blas, int n);

}  // namespace collbench::collectives
