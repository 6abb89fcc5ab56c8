#include "collectives/nccl/nccl_network.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace collbench::collectives::nccl_network_test {
namespace {

TEST(NetworkIn, IsThatOfTheLastLine) {
  EXPECT_EQ(
      network_in("h:1:1 [0] NCCL INFO NET/Plugin: Loaded\nh:1:1 [0] NCCL INFO Using network AWS Libfabric\n"
                 "h:1:1 [0] NCCL INFO Using network IB\nh:1:1 [0] NCCL INFO done\n"),
      "IB");
  EXPECT_EQ(network_in("Using network Socket"), "Socket");
}

TEST(NetworkIn, IsNotMadeUp) {
  EXPECT_EQ(network_in(""), std::nullopt);
  EXPECT_EQ(network_in("NCCL INFO Using non-device net plugin version 0\n"), std::nullopt);
}

TEST(NcclWarningsIn, AreTheNewestEachOnce) {
  EXPECT_THAT(nccl_warnings_in("h:1:1 [0] NCCL INFO Using network IB\n"), testing::IsEmpty());
  const std::string log =
      "h:1:1 [0] init.cc:7 NCCL WARN a\nh:1:1 [0] NCCL INFO b\n\n[now] h:1:1 [0] net.cc:9 NCCL WARN c d\n";
  EXPECT_THAT(nccl_warnings_in(log), testing::ElementsAre("a", "c d"));
  EXPECT_THAT(nccl_warnings_in(log + "NCCL WARN e\nNCCL WARN c d\nNCCL WARN f"),
              testing::ElementsAre("e", "c d", "f"));
}

/// A variable that is what a test sets it to, and unset afterwards.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (value != nullptr) ::setenv(name, value, 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  Variable(Variable&&) = delete;
  Variable& operator=(Variable&&) = delete;
  ~Variable() { ::unsetenv(name_); }

  [[nodiscard]] std::string now() const {
    const char* const value = ::getenv(name_);
    return value == nullptr ? "" : value;
  }

 private:
  const char* name_;
};

TEST(KeepNetworkPlugin, CountsAReferenceWhereNcclWouldForgetTheName) {
  for (const int version : {22707, 22803, 22907, 23003}) {
    const Variable plugin("NCCL_NET_PLUGIN", "aws");
    const Variable count("NCCL_NET_PLUGIN_REF_COUNT", nullptr);
    keep_network_plugin(version);
    EXPECT_EQ(count.now(), version / 100 == 228 || version / 100 == 229 ? "1" : "") << version;
  }
}

TEST(KeepNetworkPlugin, LeavesWhatTheUserHasSetAndWhoHasNoPlugin) {
  const Variable count("NCCL_NET_PLUGIN_REF_COUNT", nullptr);
  keep_network_plugin(22809);
  EXPECT_EQ(count.now(), "");
  const Variable plugin("NCCL_NET_PLUGIN", "aws");
  const Variable zero("NCCL_NET_PLUGIN_REF_COUNT", "0");
  keep_network_plugin(22809);
  EXPECT_EQ(count.now(), "0");
}

TEST(NcclNetworkLog, IsReadFromWhereItWasReadBefore) {
  const Variable level("NCCL_DEBUG", nullptr);
  const Variable subsystem("NCCL_DEBUG_SUBSYS", nullptr);
  const Variable file("NCCL_DEBUG_FILE", nullptr);
  NcclNetworkLog log(22809);
  ASSERT_EQ(log.unknown_reason(), "");
  EXPECT_EQ(level.now(), "INFO");
  EXPECT_EQ(log.newest(), "");
  std::FILE* const nccl = std::fopen(file.now().c_str(), "w");
  ASSERT_NE(nccl, nullptr);
  std::fputs("NCCL INFO Using network IB\n", nccl);
  std::fflush(nccl);
  EXPECT_EQ(network_in(log.newest()), "IB");
  EXPECT_EQ(log.newest(), "");
  std::fputs("NCCL INFO and more\nNCCL INFO Using network Socket\n", nccl);
  std::fflush(nccl);
  EXPECT_EQ(network_in(log.newest()), "Socket");
  EXPECT_THAT(log.warnings(), testing::IsEmpty());
  std::fputs("host [0] NCCL WARN it fails\n", nccl);
  std::fflush(nccl);
  EXPECT_THAT(log.warnings(), testing::ElementsAre("it fails"));
  EXPECT_THAT(log.warnings(), testing::ElementsAre("it fails")) << "asking takes nothing away";
  std::fclose(nccl);
}

TEST(InitTimings, AreThoseOfTheLastCommunicator) {
  const std::string first =
      "h:1:1 [0] NCCL INFO Init timings - ncclCommInitRank: rank 0 nranks 2 total 9.00 (kernels 9.00)\n";
  const std::string line =
      "h:1:1 [0] NCCL INFO Init timings - ncclCommInitRankConfig: rank 1 nranks 2 total 1.43 (kernels 0.18, "
      "alloc 1.18, bootstrap 0.01, rest 0.06)\nh:1:1 [0] NCCL INFO Using network IB (of one)\n";
  const std::vector<std::pair<std::string, double>> steps{
      {"kernels", 0.18}, {"alloc", 1.18}, {"bootstrap", 0.01}, {"rest", 0.06}};
  EXPECT_EQ(init_timings_in(first + line), steps);
  EXPECT_THAT(init_timings_in("Init timings - a: total 1.43 (kernels x, alloc 1)"), testing::IsEmpty());
  for (std::size_t cut = 0; cut < first.size(); ++cut)  // whatever of a line is there
    EXPECT_LE(init_timings_in(first.substr(0, cut)).size(), 1U);
}

TEST(InitTimings, TheSlowestRankOfEachStepIsNamed) {
  const std::vector<NcclInitStep> steps = slowest_steps(
      {{{"alloc", 0.2}, {"topo", 1}}, {{"alloc", 9}, {"topo", 2}}, {{"alloc", 0.3}, {"topo", 3}}});
  EXPECT_EQ(steps, (std::vector<NcclInitStep>{{"alloc", 9, 1, 0.3}, {"topo", 3, 2, 2}}));
  EXPECT_THAT(slowest_steps({{{"alloc", 0.2}}, {}}), testing::IsEmpty()) << "a rank says nothing";
  EXPECT_THAT(slowest_steps({}), testing::IsEmpty());
}

}  // namespace
}  // namespace collbench::collectives::nccl_network_test
