#include "collectives/compute/blas_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "base/shared_library.hpp"
#include "base/text_search.hpp"

namespace collbench::collectives {

namespace {

// CBLAS_ORDER and CBLAS_TRANSPOSE.
constexpr int kRowMajor = 101;
constexpr int kNotTransposed = 111;

/// The words of openblas_get_config: "OpenBLAS 0.3.21 NO_AFFINITY SkylakeX MAX_THREADS=64".
void read_config(BlasLibrary& blas, const SharedLibrary& library) {
  char* (*config)() = nullptr;
  char* (*core)() = nullptr;
  void (*set_threads)(int) = nullptr;
  library.find(config, "openblas_get_config");
  library.find(core, "openblas_get_corename");
  library.find(set_threads, "openblas_set_num_threads");
  if (set_threads != nullptr) set_threads(1);
  if (config == nullptr) return;
  const std::string_view words = config();
  const std::size_t version_end = words.find(' ', words.find(' ') + 1);
  blas.name = std::string(words.substr(0, version_end));
  if (core != nullptr) blas.name += fmt::format(" ({})", core());
  constexpr int kMaxThreads = 1'000'000;
  blas.max_threads = integer_behind(words, "MAX_THREADS=", 0, kMaxThreads).value_or(0);
}

/// Normal numbers, the same in every run: what matrices hold changes what a processor or GPU draws, and so
/// its clock.
template <typename Number>
void fill_normal(std::span<Number> numbers, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<Number> normal;
  std::generate(numbers.begin(), numbers.end(), [&] { return normal(generator); });
}

}  // namespace

std::optional<BlasLibrary> BlasLibrary::find(std::string& why) {
  for (const char* const name :
       {"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS"})
    ::setenv(name, "1", 1);
  std::vector<std::string> names{variable_value("COLLBENCH_BLAS")};
  if (names.front().empty())
    names = {"libopenblas.so.0", "libmkl_rt.so.2", "libblis.so.4", "libarmpl_lp64.so"};
  const std::optional<SharedLibrary> library = first_library(names, why);
  if (!library) return std::nullopt;
  BlasLibrary blas;
  blas.name = library->path();
  library->find(blas.dgemm, "cblas_dgemm");
  library->find(blas.sgemm, "cblas_sgemm");
  if (blas.dgemm == nullptr || blas.sgemm == nullptr) {
    why = library->path() + " has no cblas_dgemm and cblas_sgemm";
    return std::nullopt;
  }
  read_config(blas, *library);
  return blas;
}

void multiply(const BlasLibrary& blas, int n, const double* a, const double* b, double* c) {
  blas.dgemm(kRowMajor, kNotTransposed, kNotTransposed, n, n, n, 1, a, n, b, n, 0, c, n);
}

void multiply(const BlasLibrary& blas, int n, const float* a, const float* b, float* c) {
  blas.sgemm(kRowMajor, kNotTransposed, kNotTransposed, n, n, n, 1, a, n, b, n, 0, c, n);
}

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
