#include "collectives/compute/blas_library.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

namespace collbench::collectives::blas_library_test {
namespace {

/// COLLBENCH_BLAS is `name` while one lives.
class Named {
 public:
  explicit Named(const char* name) { ::setenv("COLLBENCH_BLAS", name, 1); }
  Named(const Named&) = delete;
  Named& operator=(const Named&) = delete;
  Named(Named&&) = delete;
  Named& operator=(Named&&) = delete;
  ~Named() { ::unsetenv("COLLBENCH_BLAS"); }
};

TEST(BlasLibrary, WhatIsNoneIsSaid) {
  std::string why;
  {
    const Named named("/nowhere/libblas.so");
    EXPECT_FALSE(BlasLibrary::find(why));
    EXPECT_NE(why.find("/nowhere/libblas.so"), std::string::npos) << why;
  }
  const Named named("libc.so.6");
  EXPECT_FALSE(BlasLibrary::find(why));
  EXPECT_NE(why.find("has no cblas_dgemm"), std::string::npos) << why;
}

template <typename Number>
void expect_product(const BlasLibrary& blas) {
  const std::array<Number, 4> a{1, 2, 3, 4};
  const std::array<Number, 4> b{5, 6, 7, 8};
  std::array<Number, 4> c{-1, -1, -1, -1};
  multiply(blas, 2, a.data(), b.data(), c.data());
  EXPECT_EQ(c, (std::array<Number, 4>{19, 22, 43, 50}));  // by rows
}

TEST(BlasLibrary, TheProductIsByRows) {
  std::string why;
  std::optional<BlasLibrary> blas = BlasLibrary::find(why);
  if (!blas) {
    // Netlib's own, which the build's dependencies bring, has the same interface.
    const Named named("libblas.so.3");
    blas = BlasLibrary::find(why);
  }
  if (!blas) GTEST_SKIP() << "no BLAS here: " << why;
  expect_product<double>(*blas);
  expect_product<float>(*blas);
  EXPECT_FALSE(blas->name.empty());
}

}  // namespace
}  // namespace collbench::collectives::blas_library_test
