#include "collectives/compute/step_kernel.hpp"

#include <gtest/gtest.h>

#include <array>

namespace collbench::collectives::step_kernel_test {
namespace {

int products = 0;
int last_n = 0;

std::unique_ptr<BlasLibrary> counting_blas() {
  auto blas = std::make_unique<BlasLibrary>();
  blas->name = "counting";
  blas->dgemm = [](int, int, int, int m, int, int, double, const double* a, int, const double* b, int, double,
                   double* c, int) {
    ++products;
    last_n = m;
    c[0] = a[0] * b[0];
  };
  return blas;
}

TEST(StepKernel, OneProductOfTheSizeThatWasAskedForInEachStep) {
  const StepKernel kernel(128, counting_blas());
  EXPECT_EQ(kernel.name(), "GEMM FP64, n = 128, by counting");
  products = 0;
  kernel.run();
  kernel.run();
  EXPECT_EQ(products, 2);
  EXPECT_EQ(last_n, 128);
}

TEST(StepKernel, WithoutABlasItIsArithmeticOnRegisters) {
  const StepKernel kernel(32, nullptr);
  kernel.run();
  EXPECT_TRUE(kernel.name().starts_with("the flop of a GEMM FP64, n = 32, on registers (")) << kernel.name();
}

}  // namespace
}  // namespace collbench::collectives::step_kernel_test
