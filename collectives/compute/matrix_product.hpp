#pragma once
#include "collectives/compute/blas_library.hpp"
#include "collectives/compute/core_work.hpp"

namespace collbench::collectives {

/// C = A · B of n × n matrices of normal numbers in Number, double or float, as often as it takes to be worth
/// a reading of the clock; once from n = 100 on. `blas` outlives it.
template <typename Number>
[[nodiscard]] CoreWork product_work(const BlasLibrary& blas, int n);

}  // namespace collbench::collectives
