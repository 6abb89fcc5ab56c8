#include "tools/lab01/report/gap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/lab01/tests/report/runs.hpp"

namespace collbench::analysis::bill_test {
namespace {

using testing::HasSubstr;

SizeGap some_gap() {
  return {"1 GB", 1ULL << 30U, {"ring", {{kLineRate, 3e-3}, {kProtocol, 3.4e-3}, {kLeft, 4e-3}}}};
}

TEST(Lab01Price, AnHour) {
  Lab01Options options;
  options.price.per_gpu_hour = 2.5;
  EXPECT_THAT(markdown(lab01_price(lab01_gpu_run(), options, {})),
              HasSubstr("16 GPUs × 2.50 = 40.00 per hour; the log does not"));
  auto run = lab01_gpu_run();
  run.wall_seconds = 90;
  EXPECT_THAT(markdown(lab01_price(run, options, {})), HasSubstr("this run took 1 min 30 s: 1.00."));
}

TEST(Lab01Price, HoursCurrencyAndTheGapByItsTerms) {
  Lab01Options options;
  options.price = {3, 2, "EUR"};
  const std::string text = markdown(lab01_price(lab01_gpu_run(), options, {some_gap()}));
  EXPECT_THAT(text, HasSubstr("16 GPUs × 3.00 EUR = 48.00 EUR per hour; 2 hours: 96.00 EUR."));
  EXPECT_THAT(
      text,
      HasSubstr("AllReduce of 1 GB (measured at 1 GiB), the same work at line rate would cost 72.00 EUR"));
  EXPECT_THAT(text, HasSubstr("| protocol efficiency | 9.60 |"));
  EXPECT_THAT(text, HasSubstr("| what is left | 14.40 |"));
  EXPECT_THAT(text, HasSubstr("| **the bill** | **96.00** |"));
}

TEST(Lab01Price, FasterThanTheModelCostsLess) {
  Lab01Options options;
  options.price.per_gpu_hour = 1;
  SizeGap gap = some_gap();
  gap.gap.levels[2].seconds = 3.3e-3;
  EXPECT_THAT(markdown(lab01_price(lab01_gpu_run(), options, {gap})), HasSubstr("| what is left | −0.48 |"));
}

TEST(Lab01Price, WithoutAPriceAndWithoutGpus) {
  EXPECT_THAT(markdown(lab01_price(lab01_gpu_run(), {}, {some_gap()})), HasSubstr("Not given: --price"));
  auto run = lab01_gpu_run();
  run.backend = BackendId::mpi;
  EXPECT_THAT(markdown(lab01_price(run, {}, {})), HasSubstr("No GPU was used."));
}

}  // namespace
}  // namespace collbench::analysis::bill_test
