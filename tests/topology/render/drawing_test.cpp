#include "topology/render/render.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <regex>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::topology::drawing_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Host machine(const char* name) { return reference_host(*find_reference_machine(name)); }

std::string drawn(const Host& host, const std::vector<DrawingMark>& marks = {}) {
  return draw_dot(host, "a machine", marks);
}

std::size_t times(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator()));
}

TEST(Drawing, EveryDeviceIsInTheBoxOfItsSwitch) {
  const std::string dot = drawn(machine("hgx-h100"));
  EXPECT_EQ(times(dot, "<b>GPU\\d</b>"), 8U);
  EXPECT_EQ(times(dot, "<b>NIC\\d</b>"), 8U);
  EXPECT_EQ(times(dot, "PCIe switch"), 8U);
  EXPECT_EQ(times(dot, "label=\"NUMA \\d"), 2U);
  EXPECT_THAT(dot, AllOf(HasSubstr("H100 SXM · Gen5 x16"), HasSubstr("400 Gb/s")));
}

TEST(Drawing, NvLinksGoToSwitchesOrFromGpuToGpu) {
  EXPECT_EQ(times(drawn(machine("hgx-h100")), "box\\d:g\\d:s -> nvswitch\\d;"), 32U);
  const std::string mesh = drawn(machine("dgx-1v"));
  EXPECT_EQ(times(mesh, "link\\d_\\d \\["), 16U);
  EXPECT_EQ(times(mesh, "box\\d:g\\d:s -> link"), 32U);
  EXPECT_THAT(drawn(machine("gb200-nvl72")), HasSubstr("18 NVSwitches"));
  EXPECT_THAT(drawn(machine("a100-pcie")), Not(HasSubstr(":s ->")));
}

TEST(Drawing, TwoDirectionsThatDisagreeAreBothShown) {
  Host host = machine("h100-nvl");
  host.nvlinks.front().count.value = 1;
  EXPECT_THAT(drawn(host), HasSubstr("label=\"1 / 12\""));
}

TEST(Drawing, MarksAreNumbersInTheDevicesAndAListBelow) {
  const std::string dot =
      drawn(machine("hgx-h100"), {{Severity::broken, {{DeviceKind::nic, 2}}, "the port <is> down"},
                                  {Severity::degraded, {{DeviceKind::gpu, 3}, {DeviceKind::nic, 2}}, "x"},
                                  {Severity::differs, {}, "a version"}});
  EXPECT_THAT(dot, AllOf(HasSubstr("<b>NIC2</b> <b>[1]</b> <b>[2]</b>"), HasSubstr("<b>GPU3</b> <b>[2]</b>"),
                         HasSubstr("broken the port &lt;is&gt; down"),
                         HasSubstr("<b>[3]</b>&#160; differs a version")));
}

TEST(Drawing, NamesCannotBreakTheGraph) {
  Host host = machine("hgx-h100");
  host.nics[0].name.value = "a\"<b>&\n";
  const std::string dot = draw_dot(host, "t\"\\\n", {});
  EXPECT_THAT(dot, AllOf(HasSubstr("a&quot;&lt;b&gt;&amp; "), HasSubstr(R"(label="t\"\\ ")")));
}

TEST(Drawing, OnlyColorsThatHaveADarkCounterpartAreUsed) {
  std::string dot = drawn(machine("hgx-h100"), {{Severity::broken, {}, ""}, {Severity::differs, {}, ""}});
  for (const DrawingColor& color : drawing_colors()) {
    for (std::size_t at = 0; (at = dot.find(color.light)) != std::string::npos;) dot.erase(at, 7);
  }
  EXPECT_EQ(times(dot, "\"#[0-9a-f]"), 0U);
}

TEST(Drawing, AMachineWithoutAnythingIsDrawn) { EXPECT_THAT(drawn(Host{}), HasSubstr("digraph machine")); }

bool has_dot() { return run_child({"dot", "-V"}).succeeded(); }

TEST(Svg, GraphvizDrawsEveryReferenceMachine) {
  if (!has_dot()) GTEST_SKIP() << "Graphviz' dot is not here (apt-get install graphviz)";
  for (const ReferenceMachine& machine : reference_machines()) {
    const std::string svg = svg_of(draw_dot(reference_host(machine), std::string(machine.name), {}));
    EXPECT_THAT(svg, AllOf(HasSubstr("<svg"), HasSubstr("GPU3"), HasSubstr("prefers-color-scheme: dark")));
  }
}

TEST(Svg, WhatIsNoGraphIsAnError) {
  if (!has_dot()) GTEST_SKIP() << "Graphviz' dot is not here (apt-get install graphviz)";
  EXPECT_THROW((void)svg_of("no graph"), Error);
}

TEST(Svg, WithoutGraphvizItSaysWhatToInstall) {
  const std::string path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  ::setenv("PATH", "/nonexistent", 1);           // NOLINT(concurrency-mt-unsafe)
  try {
    (void)svg_of("digraph {}");
    ADD_FAILURE() << "it has drawn without dot";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::not_here);
    EXPECT_THAT(error.next_step(), HasSubstr("graphviz"));
  }
  ::setenv("PATH", path.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
}

TEST(Svg, EveryColorHasItsDarkCounterpart) {
  const std::string svg = with_dark_colors("<?xml?><svg width=\"1\"><g/></svg>");
  EXPECT_THAT(svg, testing::StartsWith("<?xml?><svg width=\"1\">\n<style>"));
  EXPECT_THAT(svg, testing::EndsWith("</style><g/></svg>"));
  for (const DrawingColor& color : drawing_colors())
    EXPECT_THAT(svg, AllOf(HasSubstr(color.light), HasSubstr(color.dark)));
  EXPECT_EQ(with_dark_colors("no picture"), "no picture");
}

}  // namespace
}  // namespace collbench::topology::drawing_test
