#include "src/cli/host_list.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "base/error.hpp"
#include "base/text_input.hpp"
#include "tests/base/temporary_folder.hpp"

namespace collbench::program::host_list_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string refusal_of(const std::string& text) {
  try {
    static_cast<void>(parse_hosts(text, "--hosts"));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return describe(error);
  }
  return "taken";
}

TEST(HostList, AreNamesAndSlurmsBrackets) {
  EXPECT_THAT(parse_hosts("a, b,c.local", "--hosts"), ElementsAre("a", "b", "c.local"));
  EXPECT_THAT(parse_hosts("node[08-10,3],login", "--hosts"),
              ElementsAre("node08", "node09", "node10", "node3", "login"));
  EXPECT_THAT(parse_hosts("r[1-2]n[01-02]-ib", "--hosts"),
              ElementsAre("r1n01-ib", "r1n02-ib", "r2n01-ib", "r2n02-ib"));
  EXPECT_THAT(parse_hosts("node[01-300]", "--hosts"), SizeIs(300));
}

TEST(HostList, AFileHasOneALine) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "hosts.txt").string();
  std::ofstream(path) << "# the rack\nn1 slots=8\n\n  n[2-3]  # two\nn4\n";
  EXPECT_THAT(parse_hosts("@" + path, "--hosts"), ElementsAre("n1", "n2", "n3", "n4"));
  EXPECT_THAT(refusal_of(path), HasSubstr("is a file; write @" + path));
  const std::string name = "n1 ";
  std::ofstream(path) << name << std::string(kMaxInputBytes - name.size(), '\n');
  EXPECT_THAT(parse_hosts("@" + path, "--hosts"), ElementsAre("n1"));
  std::ofstream(path, std::ios::app) << "\n";
  EXPECT_THAT(refusal_of("@" + path), HasSubstr("is larger than 16 MiB"));
}

TEST(HostList, SaysWhatIsWrong) {
  EXPECT_THAT(refusal_of("a,b,a"), HasSubstr("--hosts: a is there twice"));
  EXPECT_THAT(refusal_of("n1.left,n1.right"),
              HasSubstr("n1 is there twice (names count up to the first dot)"));
  EXPECT_THAT(refusal_of("10.0.0.1,10.0.0.2"), HasSubstr("10.0.0.1 is an address; give the names"));
  EXPECT_THAT(refusal_of("n1,fe80::1"), HasSubstr("fe80::1 is an address"));
  for (const std::string damaged :
       {"n[", "n]", "n[]", "n[1-", "n[3-1]", "n[a-b]", "n]1[", "n[1-2][", "n[-1]"})
    EXPECT_THAT(refusal_of(damaged), HasSubstr("the brackets of")) << damaged;
  EXPECT_THAT(refusal_of("n[1-1000][1-1000]"), HasSubstr("more than 100000 hosts"));
}

TEST(HostList, NoTextTakesLong) {
  EXPECT_THAT(refusal_of("n[1][1][1][1][1]"), HasSubstr("has more than 4 brackets"));
  std::string brackets = "n";
  std::string names;
  for (int i = 0; i < 100'001; ++i) {
    brackets += "[1]";
    names += "n" + std::to_string(i) + ",";
  }
  EXPECT_THAT(refusal_of(brackets), HasSubstr("has more than 4 brackets"));
  EXPECT_THAT(refusal_of(names), HasSubstr("more than 100000 hosts"));
  EXPECT_THAT(refusal_of(std::string(254, 'n')), HasSubstr("longer than 253 letters"));
  EXPECT_THAT(refusal_of("n[" + std::string(254, '0') + "-9]"), HasSubstr("the brackets of"));
}

}  // namespace
}  // namespace collbench::program::host_list_test
