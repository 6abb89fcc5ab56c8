// What the settings of Open MPI make of --algo. Each test runs alone, in the environment that its name says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include "base/error.hpp"
#include "collectives/mpi/open_mpi/algorithm_control.hpp"
#include "collectives/mpi/open_mpi/algorithm_rules.hpp"
#include "launch/mpi/mpi_session.hpp"

namespace collbench::collectives::algorithm_settings_mpi_test {
namespace {

using ::testing::HasSubstr;

/// Before main calls MPI_Init.
const bool kAllowed = (allow_forced_algorithms(), true);

const CollectiveCall kCall{OperationId::all_reduce, 1000, 4, 2, true, false};

void expect_nothing_but_the_librarys_choice(const std::string& reason, const std::string& choice) {
  AlgorithmControl control;
  EXPECT_EQ(control.ran(kLibraryChoice, kCall), choice);
  EXPECT_TRUE(kAllowed);
  EXPECT_TRUE(control.available(OperationId::all_reduce).empty());
  EXPECT_THAT(control.unsupported_reason(OperationId::all_reduce, "ring", 2).value_or("it can"),
              HasSubstr(reason));
  EXPECT_FALSE(control.unsupported_reason(OperationId::all_reduce, kLibraryChoice, 2));
  EXPECT_NO_THROW(control.select(OperationId::all_reduce, kLibraryChoice));
  EXPECT_THROW(control.select(OperationId::all_reduce, "ring"), Error);
}

TEST(AlgorithmSettings, RulesAreOff) {
  expect_nothing_but_the_librarys_choice(
      "coll_tuned_use_dynamic_rules is 0",
      has_open_mpi_rules(launch::MpiSession::library_version()) ? "recursive_doubling" : kLibraryChoice);
}

TEST(AlgorithmSettings, TunedIsOff) { expect_nothing_but_the_librarys_choice("coll/tuned", kLibraryChoice); }

TEST(AlgorithmSettings, AnotherComponentIsFirst) {
  expect_nothing_but_the_librarys_choice("coll/basic", kLibraryChoice);
}

TEST(AlgorithmSettings, RulesFileIsFirst) {
  expect_nothing_but_the_librarys_choice("rules file /nonexistent", kLibraryChoice);
}

TEST(AlgorithmSettings, AutoIsWhatTheEnvironmentNames) {
  AlgorithmControl control;
  EXPECT_EQ(control.ran(kLibraryChoice, kCall), "ring");
  control.select(OperationId::all_reduce, "basic_linear");
  control.select(OperationId::all_reduce, kLibraryChoice);
  const AlgorithmControl reads_anew;
  EXPECT_EQ(reads_anew.ran(kLibraryChoice, kCall), "ring") << "selecting auto gives the setting back";
}

TEST(AlgorithmSettings, SharedMemoryIsOff) {
  const AlgorithmControl control;
  EXPECT_EQ(control.eager_limits().within_host_bytes, control.eager_limits().across_hosts_bytes);
}

}  // namespace
}  // namespace collbench::collectives::algorithm_settings_mpi_test
