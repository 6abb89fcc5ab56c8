#include "analysis/report/html/markup.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/topology/diff/mutations.hpp"

namespace collbench::analysis::machine_drawing_test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

topology::Host hgx() { return topology::healthy_machine(*topology::find_reference_machine("hgx-h100")); }

TEST(MachineDrawing, MarksEachFindingOnTheWorseMachine) {
  PricedFinding found;
  found.finding.code = "nic-port-slower";
  found.finding.device = "NIC7";
  found.finding.what = "200 Gb/s instead of 400";
  found.price.kind = PriceKind::not_modeled;
  const std::vector<topology::DrawingMark> marks = drawing_marks({found});
  ASSERT_THAT(marks, SizeIs(1));
  EXPECT_EQ(marks[0].severity, topology::Severity::degraded);
  EXPECT_EQ(marks[0].text, "nic-port-slower  NIC7: 200 Gb/s instead of 400; cost not modeled");
}

TEST(MachineDrawing, WithoutGraphvizThePageSaysSo) {
  const char* const path = std::getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  ::setenv("PATH", "/nowhere", 1);
  const std::string markup = html_body({"", {machine_drawing(hgx(), "<b>", {})}});
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_THAT(markup, HasSubstr("<p>&lt;b&gt;: 8 × NVIDIA H100"));
  EXPECT_THAT(markup, HasSubstr("not drawn: Graphviz&#39; dot was not found"));
}

}  // namespace
}  // namespace collbench::analysis::machine_drawing_test
