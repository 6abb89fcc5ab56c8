#pragma once
#include <optional>
#include <string>

#include "collectives/compute/core_work.hpp"

namespace collbench::collectives {

/// A library of linear algebra that is loaded while the program runs, so that a build needs none, and told to
/// use one thread: each core calls it by itself.
struct BlasLibrary {
  std::string name;     ///< "OpenBLAS 0.3.21 (SkylakeX)", or the file
  int max_threads = 0;  ///< that may call it at the same time; 0: any number
  /// cblas_dgemm and cblas_sgemm with 32-bit integers (netlib.org/blas/cblas.h); enumerations are ints.
  void (*dgemm)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double* a,
                int lda, const double* b, int ldb, double beta, double* c, int ldc) = nullptr;
  void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a,
                int lda, const float* b, int ldb, float beta, float* c, int ldc) = nullptr;

  /// COLLBENCH_BLAS, OpenBLAS, MKL, BLIS or Arm's, the first that can be loaded; netlib's own is not looked
  /// for, for it is far from what a processor can do. None: `why` says so. Before other threads begin: it
  /// sets the variables by which these libraries learn their number of threads.
  [[nodiscard]] static std::optional<BlasLibrary> find(std::string& why);
};

/// C = A · B of row-major n × n matrices.
void multiply(const BlasLibrary& blas, int n, const double* a, const double* b, double* c);
void multiply(const BlasLibrary& blas, int n, const float* a, const float* b, float* c);

/// C = A · B of n × n matrices of normal numbers in Number, double or float, as often as it takes to be worth
/// a reading of the clock; once from n = 100 on. `blas` outlives it.
template <typename Number>
[[nodiscard]] CoreWork product_work(const BlasLibrary& blas, int n);

}  // namespace collbench::collectives
