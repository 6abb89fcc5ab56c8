#include "tools/lab01/report/gap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "analysis/verdict/verdict.hpp"
#include "tools/lab01/tests/report/runs.hpp"

namespace collbench::analysis::gap_test {
namespace {

using testing::HasSubstr;

std::vector<std::string> terms_of(const Gap& gap) {
  std::vector<std::string> terms;
  for (const GapLevel& level : gap.levels) terms.push_back(level.term);
  return terms;
}

Gap gap_at(const Run& run, const Lab01Machine& machine, const Row& row) {
  const auto gap = gap_of(run, row, machine, lab01_ceilings(run, machine));
  EXPECT_TRUE(gap);
  return gap.value_or(Gap{});
}

TEST(Lab01Gap, FromLineRateToTheMeasurementTermByTerm) {
  const Lab01Machine machine = lab01_machine();
  const Gap gap = gap_at(lab01_gpu_run(), machine, lab01_row(machine.cluster, 1ULL << 30U, 2));
  EXPECT_EQ(gap.algorithm, "nvls_tree");
  EXPECT_THAT(terms_of(gap), testing::ElementsAre(kLineRate, kByNccl, kProtocol, kFill, kLeft));
  const double bytes = 2.0 * 15 / 16 * (1ULL << 30U);  // over each link, as busbw counts them
  EXPECT_DOUBLE_EQ(gap.levels[0].seconds, bytes / 750e9);
  EXPECT_DOUBLE_EQ(gap.levels[1].seconds, bytes / 618e9);
  EXPECT_DOUBLE_EQ(gap.levels[4].seconds, gap.levels[3].seconds * 2);
}

// What the links lose is a share of the bytes: next to nothing of a call that waits for its steps.
TEST(Lab01Gap, HeadersAndEfficiencyAreLittleOfASmallCall) {
  const Lab01Machine machine = lab01_machine();
  const Gap gap = gap_at(lab01_gpu_run(), machine, lab01_row(machine.cluster, 1ULL << 20U, 1));
  ASSERT_THAT(terms_of(gap), testing::ElementsAre(kLineRate, kByNccl, kProtocol, kFill, kLeft));
  EXPECT_LT((gap.levels[2].seconds - gap.levels[0].seconds) / gap.levels[4].seconds, 0.02);
}

TEST(Lab01Gap, EndsAtTheExpectationWhereNothingWasMeasured) {
  const Lab01Machine machine = lab01_machine();
  const auto run = lab01_prediction(machine.cluster);
  EXPECT_EQ(terms_of(gap_at(run, machine, run.rows[0])).back(), kFill);
}

TEST(Lab01Gap, WhatTheLogDoesNotShowIsATermOfItsOwn) {
  const Lab01Machine machine = lab01_machine("dgx-a100", 2);
  auto run = lab01_gpu_run();
  const Row row = lab01_row(machine.cluster, 1ULL << 30U, 8);
  EXPECT_FALSE(with_links_of_log(machine.cluster, run));
  run.log->nics = {{"mlx5_0", "mlx5_1"}, 9};
  EXPECT_EQ(with_links_of_log(machine.cluster, run)->nics, 2);
  const Gap gap = gap_at(run, machine, row);
  EXPECT_THAT(terms_of(gap), testing::Contains(kLogLinks));
  run.log->nic_bytes_per_second = {100e9, 8};  // two fused ones are as much as all eight
  EXPECT_FALSE(with_links_of_log(machine.cluster, run));
  run.log->network = {"Socket", 7};  // then it lists interfaces
  run.log->nic_bytes_per_second.reset();
  EXPECT_FALSE(with_links_of_log(machine.cluster, run));
  run.log->nvlink_least_bytes_per_second = {20e9, 5};
  EXPECT_EQ(with_links_of_log(machine.cluster, run)->nvlinks, 1);
}

TEST(Lab01Gap, HostMemoryLosesToStepsThenToReductionAndCopies) {
  auto run = lab01_host_run();
  run.calibration->intra = Tier{1e-6, 5e9, 0, 4096};
  run.calibration->gammas = {{DataType::float32, Reduction::sum, 0.2e-9}};
  run.calibration->kappa_seconds_per_byte = 0.1e-9;
  run.calibration->points = {{CalibrationKind::forward_intra, 1'000, 0.2e-6, {}, {}},
                             {CalibrationKind::forward_intra, 1'000'000'000, 0.2, {}, {}}};
  Row& row = run.rows[1];
  row.expectation.expected_by = "ring";
  row.expectation.expected_seconds = 1;
  const auto gap = gap_of(run, row, std::nullopt, lab01_ceilings(run, std::nullopt));
  ASSERT_TRUE(gap);
  EXPECT_THAT(terms_of(*gap), testing::ElementsAre(kLineRate, kSteps, kCompute, kLeft));
  // Without reduction and copies the ring of two ranks is bound by the link alone.
  EXPECT_NEAR(gap->levels[1].seconds / gap->levels[0].seconds, 1, 0.002);
}

/// The cells of a column of the printed table, from the line rate to the last line, in units of the last
/// digit.
std::vector<std::int64_t> printed_column(const std::string& table, std::size_t column) {
  std::vector<std::int64_t> numbers;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, '|');) cells.push_back(cell);
    if (cells.size() <= column || cells[column].find_first_of("0123456789") == std::string::npos) continue;
    const bool negative = cells[column].find("−") != std::string::npos;
    std::string digits;
    for (const char letter : cells[column].substr(0, cells[column].find('('))) {
      if (letter >= '0' && letter <= '9') digits += letter;
    }
    numbers.push_back((negative ? -1 : 1) * std::stoll(digits));
  }
  return numbers;
}

// Whatever the machine, the size and the measurement: what is printed adds up, digit by digit.
TEST(Lab01Gap, ThePrintedTermsAddUpExactly) {
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> slower(-4, 8);
  std::uniform_int_distribution<int> bits(10, 34);
  int columns = 0;
  for (const topology::ReferenceMachine& reference : topology::reference_machines()) {
    for (const int nodes : {1, 2, 5}) {
      if (nodes > 1 && reference.nic_transport.empty()) continue;
      const Lab01Machine machine = lab01_machine(reference.name, nodes);
      auto run = lab01_gpu_run();
      run.ranks.clear();
      for (int rank = 0; rank < machine.cluster.ranks(); ++rank) run.ranks.push_back({rank, "n", 0, rank});
      Lab01Options options;
      options.machine = machine;
      options.ceilings = lab01_ceilings(run, machine);
      std::vector<SizeGap> gaps;
      for (int i = 0; i < 3; ++i) {
        const std::uint64_t bytes = (1ULL << static_cast<unsigned>(bits(random))) + random() % 1000;
        const Row row = lab01_row(machine.cluster, bytes, std::exp2(slower(random)));
        gaps.push_back({"1 GB", bytes, gap_at(run, machine, row)});
      }
      const std::string table = markdown(gap_section(run, options, gaps));
      for (std::size_t i = 0; i < gaps.size(); ++i, ++columns) {
        std::vector<std::int64_t> numbers = printed_column(table, i + 2);
        numbers.erase(numbers.begin());  // "1 GB" of the heading
        ASSERT_GE(numbers.size(), 4U);
        const std::int64_t last = numbers.back();
        numbers.pop_back();
        std::int64_t sum = 0;
        for (const std::int64_t number : numbers) sum += number;
        EXPECT_EQ(sum, last) << reference.name << "\n" << table;
      }
    }
  }
  EXPECT_GT(columns, 100);
}

TEST(Lab01Gap, NoExpectationNoGap) {
  const Lab01Machine machine = lab01_machine();
  Row row = lab01_row(machine.cluster, 1 << 20, 1);
  row.expectation = {};
  const auto run = lab01_gpu_run();
  EXPECT_FALSE(gap_of(run, row, machine, lab01_ceilings(run, machine)));
}

}  // namespace
}  // namespace collbench::analysis::gap_test
