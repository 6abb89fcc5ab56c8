// A BLAS for COLLBENCH_BLAS whose products are plain loops. Rank BURDENED_RANK does each of them twice.
#include <cstdlib>

namespace {

template <typename Number>
void product(int m, int n, int k, const Number* a, const Number* b, Number* c) {
  const char* burdened = std::getenv("BURDENED_RANK");
  const char* own = std::getenv("OMPI_COMM_WORLD_RANK");
  const bool twice = burdened != nullptr && own != nullptr && std::atoi(burdened) == std::atoi(own);
  for (int time = 0; time < (twice ? 2 : 1); ++time) {
    for (int i = 0; i < m * n; ++i) c[i] = 0;
    for (int i = 0; i < m; ++i) {
      for (int l = 0; l < k; ++l) {
        for (int j = 0; j < n; ++j) c[i * n + j] += a[i * k + l] * b[l * n + j];
      }
    }
  }
}

}  // namespace

extern "C" {

void cblas_dgemm(int, int, int, int m, int n, int k, double, const double* a, int, const double* b, int,
                 double, double* c, int) {
  product(m, n, k, a, b, c);
}

void cblas_sgemm(int, int, int, int m, int n, int k, float, const float* a, int, const float* b, int, float,
                 float* c, int) {
  product(m, n, k, a, b, c);
}

}  // extern "C"
